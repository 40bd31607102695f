package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/ipc"
)

type hostCommands struct {
	Run     hostRunCommand     `cmd:"" help:"Run the exec host, without a window."`
	Refresh hostRefreshCommand `cmd:"" help:"Have the host read the login environment again."`
}

type hostRefreshCommand struct{}

func (hostRefreshCommand) Run(p *program) error {
	if err := p.operate("environment.read", struct{}{}, nil); err != nil {
		return err
	}
	return p.done()
}

type hostRunCommand struct {
	Ask            string `help:"Who answers questions: terminal (this one), command-line (they wait for \"countersign approvals approve\"), nobody (askFallback holds). Default: terminal where there is one, else nobody." enum:"auto,terminal,command-line,nobody" default:"auto"`
	Operate        string `help:"Who may answer and loosen the policy from the command line: person (who types the passphrase), anyone (each process that no agent started)." enum:"person,anyone" default:"person"`
	OperatorKey    string `help:"File of root's with further keys that sign as the passphrase does." placeholder:"FILE"`
	NoPassphrase   bool   `help:"Do not offer to set a passphrase at the first start."`
	TrustFileEdits bool   `hidden:""`
}

func (c *hostRunCommand) Run(p *program) error {
	terminal := foreground(p.stdin)
	switch {
	case c.TrustFileEdits:
		return exit{exitUsage, "--trust-file-edits is gone: start the host with --operate=anyone, and edits that loosen the policy wait for `countersign policy accept`"}
	case c.Ask == "auto" && terminal:
		c.Ask = "terminal"
	case c.Ask == "auto":
		c.Ask = "nobody"
	case c.Ask == "terminal" && !terminal:
		return errors.New("cannot ask in the terminal: standard input is none, or this runs in the background; use --ask=command-line or --ask=nobody")
	}
	if leads() {
		return p.runBelow()
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if c.Ask == "terminal" && !c.NoPassphrase {
		offered, err := p.offerPassphrase()
		switch {
		case err != nil:
			return err
		case offered: // no client can look into this process any more, nor prove it
			return become(self, "--no-passphrase")
		}
	}
	// Commands must have no terminal that they could type into.
	if err := detach(); err != nil {
		return fmt.Errorf("cannot let go of the terminal: %w", err)
	}
	name, shell := host.Person()
	log := slog.New(slog.NewTextHandler(p.stderr, &slog.HandlerOptions{Level: logLevel(c.Ask)}))
	h, err := host.Start(host.Options{
		State: p.state, Home: p.home, User: name, Shell: shell, Environ: os.Environ(),
		OperateAnyone: c.Operate == "anyone", OperatorKeys: c.OperatorKey, WaitForAnswers: c.Ask != "nobody", Terminal: c.Ask == "terminal", Version: version, Log: log,
	})
	switch {
	case errors.Is(err, ipc.ErrLive) && c.Ask == "terminal":
		fmt.Fprintf(p.stderr, "A host is already running in %s. Its questions are shown here too.\n", p.state.Dir)
		return p.askInTerminal()
	case err != nil:
		return err
	}
	end := sync.OnceFunc(h.Close)
	defer end()
	p.greet(h, c)
	if c.Ask == "terminal" {
		return p.askInTerminal()
	}
	if !upgraded(p.ctx, self, func() bool { return c.mayRestart(h) }) {
		return nil
	}
	log.Info("another version was installed: the host starts anew")
	end()
	return become(self)
}

// mayRestart reports whether a host that starts anew takes nothing from anybody:
// nothing waits or runs, and what only lives in its memory loosens nothing when it
// is forgotten.
func (c *hostRunCommand) mayRestart(h *host.Host) bool {
	s := h.Status()
	idle := s.Waiting == 0 && s.Running == 0 && s.HeldBack == 0 && !s.Paused && len(h.Standing()) == 0
	return idle && (c.Operate != "anyone" || len(s.Askers) == 0) // families alone guard it
}

// runBelow runs this same command as a child. The leader of a terminal's
// session cannot let go of the terminal without taking Ctrl-C and the hang-up
// away from everybody in it; a child of the leader can, for itself.
func (p *program) runBelow() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	child := exec.Command(self, os.Args[1:]...)
	child.Stdin, child.Stdout, child.Stderr = p.stdin, os.Stdout, os.Stderr
	if err := child.Start(); err != nil {
		return err
	}
	// Ctrl-C reaches the child by itself; what is sent to us alone does not.
	stopped := context.AfterFunc(p.ctx, func() { _ = child.Process.Signal(syscall.SIGTERM) })
	defer stopped()
	err = child.Wait()
	var ended *exec.ExitError
	if errors.As(err, &ended) {
		return exit{max(ended.ExitCode(), exitError), ""}
	}
	return err
}

// logLevel keeps the log out of the way of questions in the same terminal.
func logLevel(ask string) slog.Level {
	if ask == "terminal" {
		return slog.LevelError
	}
	return slog.LevelInfo
}

// greet says what runs now and how to send it a request.
func (p *program) greet(h *host.Host, c *hostRunCommand) {
	fmt.Fprintf(p.stderr, "Countersign listens on %s.\n", h.SocketPath())
	switch c.Ask {
	case "terminal":
		fmt.Fprintf(p.stderr, "Questions come here. Send a request from another terminal:\n\n    %s run -- uname -a\n\n", p.self())
	case "nobody":
		fmt.Fprintln(p.stderr, "Nobody can be asked here: where asking is due, askFallback holds.")
	}
	_, err := os.Lstat(p.state.OperatorPublic())
	loosens := err == nil || c.OperatorKey != "" || c.Operate == "anyone"
	switch d := h.Defaults(); {
	case d.Broken != "":
		fmt.Fprintln(p.stderr, "The policy file is broken, so everything is denied:", display.Escape(d.Broken))
	case d.Security == approval.SecurityDeny && loosens:
		fmt.Fprintf(p.stderr, "Nothing may run yet. To be asked about commands:\n\n    %s policy start ask-me\n\n", p.self())
	case d.Security == approval.SecurityDeny:
		fmt.Fprintf(p.stderr, "Nothing may run yet. To be asked about commands, end this host, run this, and start it again:\n\n    %s policy start ask-me\n\n", p.self())
	}
	if !loosens {
		fmt.Fprintf(p.stderr, "No passphrase is set, so nothing can be loosened while this host runs. To set one, end the host and run:\n\n    %s operator passphrase\n\n", p.self())
	}
	if changed := h.Status().PassphraseChanged; changed != 0 {
		fmt.Fprintf(p.stderr, "%s\n\n", changedLine(changed))
	}
	if held := h.Held(); held != nil {
		fmt.Fprintln(p.stderr, "An edit of the policy file waits for your yes, because it would loosen the policy:")
		for _, s := range held.Loosens {
			fmt.Fprintln(p.stderr, "  -", s)
		}
		fmt.Fprintf(p.stderr, "Take it or take it back:\n\n    %[1]s policy accept %[2]s\n    %[1]s policy reject\n\n", p.self(), held.Hash)
	}
}

// self is how to call this program on this state folder, to be typed as it
// stands.
func (p *program) self() string {
	at, err := os.Executable()
	if err != nil {
		at = "countersign"
	}
	return quoted(at) + " --state-dir " + quoted(p.state.Dir)
}

func quoted(s string) string {
	if strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+") == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
