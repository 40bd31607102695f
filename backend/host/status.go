package host

import (
	"context"
	"os"
	"time"

	"github.com/countersign-app/countersign/backend/family"
	"github.com/countersign-app/countersign/backend/ipc"
)

// Status is what `status` returns.
type Status struct {
	Version  string   `json:"version"`
	PID      int      `json:"pid"`
	StateDir string   `json:"stateDir"`
	Socket   string   `json:"socket"`
	Started  int64    `json:"started"` // unix milliseconds
	Hash     string   `json:"hash"`
	Broken   string   `json:"broken,omitempty"`
	Held     []string `json:"held,omitempty"` // what a waiting edit would loosen
	HeldHash string   `json:"heldHash,omitempty"`
	History  string   `json:"history,omitempty"` // why it cannot be written
	// HistoryAside are the files of histories that could not be read. Each was
	// kept, and another one begun.
	HistoryAside []string `json:"historyAside,omitempty"`
	CanAsk       bool     `json:"canAsk"`
	Waiting      int      `json:"waiting"`
	Running      int      `json:"running"`
	// Paused tells that nothing starts, PausedUntil until when in unix
	// milliseconds, 0 until somebody resumes, and HeldBack how many requests wait
	// for that beside the questions.
	Paused      bool  `json:"paused,omitempty"`
	PausedUntil int64 `json:"pausedUntil,omitempty"`
	HeldBack    int   `json:"heldBack,omitempty"`
	// Askers are the programs that ask, with all that may not operate for that.
	Askers []family.Asker `json:"askers,omitempty"`
	// Troubles are those of Host.
	Troubles []string `json:"troubles,omitempty"`
	// Confirms are the ways by which the person agrees to what loosens or says yes;
	// none where nobody can. AnswersFrom are the gateways and programs whose answers
	// to questions count, too.
	Confirms    []Way    `json:"confirms"`
	AnswersFrom []string `json:"answersFrom,omitempty"`
	// PassphraseChanged is when a start of a host found another passphrase than the
	// one before it, in unix milliseconds; 0 for not lately.
	PassphraseChanged int64 `json:"passphraseChanged,omitempty"`
	// Environment is when the login environment was read, in unix milliseconds, 0
	// as long as it was not.
	Environment int64 `json:"environment,omitempty"`
}

func status(h *Host, _ context.Context, _ ipc.Call) (any, error) { return h.status(), nil }

func (h *Host) status() Status {
	snap := h.store.Snapshot()
	s := Status{
		Version: h.opt.Version, PID: os.Getpid(), StateDir: h.opt.State.Dir, Socket: snap.SocketPath,
		Started: h.started.UnixMilli(), Hash: snap.Hash, CanAsk: h.askers.CanAsk(),
		Askers: h.server.Askers(), Troubles: h.Troubles(), Waiting: len(h.pending.List()), Running: len(h.runner.Running()), Environment: h.environment.Load(),
		Confirms: h.ways(), AnswersFrom: h.answersFrom(), PassphraseChanged: h.passphraseChanged(),
	}
	var until time.Time
	if until, s.HeldBack, s.Paused = h.gate.Paused(); s.Paused && !until.IsZero() {
		s.PausedUntil = until.UnixMilli()
	}
	if snap.Broken != nil {
		s.Broken = snap.Broken.Error()
	}
	if snap.Held != nil {
		s.Held, s.HeldHash = snap.Held.Loosens, snap.Held.Hash
	}
	if err := h.history.Err(); err != nil {
		s.History = err.Error()
	}
	s.HistoryAside, _ = h.history.Broken() // a folder that cannot be read has worse to tell
	return s
}

func metricsCall(h *Host, _ context.Context, _ ipc.Call) (any, error) {
	return string(h.gate.Metrics()), nil
}
