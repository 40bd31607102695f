package gate

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/rescue"
)

// ProjectQuestion asks whether a folder is a project of the person.
type ProjectQuestion struct {
	AgentID, SessionKey string
	// Folder is the real path of the folder, and File what was there.
	Folder string
	File   approval.File
	// Text is the command that waits for the answer.
	Text string
}

// ErrNoAnswer says that the time of a question about a folder went by.
var ErrNoAnswer = errors.New("nobody said whether the folder is a project")

const (
	// projectLife is how long it is asked whether a folder is a project.
	projectLife = 2 * time.Minute
	// maxSilent bounds the questions about folders that are known to have gone
	// unanswered.
	maxSilent = 1000
	// maxOpenFolders bounds the folders that are asked about at a time: they are asked
	// about before the questions of others.
	maxOpenFolders = 5
)

// projects are the questions about folders that wait, and those that nobody
// answered: a session hears each once.
type projects struct {
	mu     sync.Mutex
	open   map[[2]string]chan struct{} // by agent and folder; closed at the end
	silent map[[3]string]time.Time     // by agent, session and folder
}

// mayAsk reports whether a session may be asked about a folder, and remembers
// nothing.
func (p *projects) mayAsk(agentID, session, folder string, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, was := p.silent[[3]string{agentID, session, folder}]
	return !was || now.Sub(at) > sessionLife
}

func (p *projects) wentSilent(agentID, session, folder string, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.silent == nil || len(p.silent) >= maxSilent {
		p.silent = map[[3]string]time.Time{}
	}
	p.silent[[3]string{agentID, session, folder}] = now
}

// join returns what ends with the question of an agent about a folder, and begins
// one where none waits; nil where many others do.
func (p *projects) join(log *slog.Logger, agentID, folder string, ask func()) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	key := [2]string{agentID, folder}
	if done := p.open[key]; done != nil {
		return done
	}
	if len(p.open) >= maxOpenFolders {
		return nil
	}
	if p.open == nil {
		p.open = map[[2]string]chan struct{}{}
	}
	done := make(chan struct{})
	p.open[key] = done
	go func() {
		defer rescue.Catch(log, "the question whether a folder is a project", nil)
		defer func() {
			p.mu.Lock()
			defer p.mu.Unlock()
			delete(p.open, key)
			close(done)
		}()
		ask()
	}()
	return done
}

// askProject has the person say whether the folder that the agent works in is a
// project, where that would change what is judged, and judges again. It is asked
// apart from the request, which waits for half of its time at most: the answer is
// for all that comes after it, too. It reports whether somebody was asked.
func (f *flight) askProject(ctx context.Context) bool {
	folder := f.plan.Folder
	if f.AskProject == nil || f.askedProject || !f.Asker.CanAsk() ||
		!f.projects.mayAsk(f.req.AgentID, f.req.SessionKey, folder.Offer, f.Now()) || !f.projectMatters(ctx) {
		return false
	}
	f.askedProject = true
	at, err := f.machine.Analyzer.World.Look(folder.Offer)
	if err != nil || at.Path != folder.Offer {
		return false
	}
	q := ProjectQuestion{AgentID: f.req.AgentID, SessionKey: f.req.SessionKey, Folder: folder.Offer, File: at, Text: f.plan.Text}
	gate := f.Gate
	done := f.projects.join(f.Log, q.AgentID, q.Folder, func() {
		asked, cancel := context.WithTimeout(context.Background(), projectLife)
		defer cancel()
		switch err := gate.AskProject(asked, q); {
		case errors.Is(err, ErrNoAnswer):
			gate.projects.wentSilent(q.AgentID, q.SessionKey, q.Folder, gate.Now())
		case err != nil:
			gate.Log.Info("it was not asked whether a folder is a project", "error", err)
		}
	})
	if done == nil {
		return false
	}
	ends, _ := f.questionEnds()
	wait := time.NewTimer(ends.Sub(f.Now()) / 2)
	defer wait.Stop()
	select {
	case <-done:
	case <-wait.C:
	case <-ctx.Done():
	}
	return true
}

// orName says, where nobody can be asked, how a person names the folder, if that would
// change what is judged.
func (f *flight) orName(ctx context.Context) string {
	if !f.projectMatters(ctx) {
		return ""
	}
	return "; if its folder is a project, the person can name it: countersign projects add " + command.Quote([]string{f.plan.Folder.Offer})
}

// projectMatters reports whether a person could name the folder, and the request would
// be judged otherwise then.
func (f *flight) projectMatters(ctx context.Context) bool {
	if folder := f.plan.Folder; folder.Path != "" || folder.Offer == "" || folder.Declined {
		return false
	}
	again := flight{Gate: f.Gate, req: f.req, machine: f.machine, paid: f.paid}
	again.plan = analyze(ctx, f.machine, &f.req, approval.Folder{Path: f.plan.Folder.Offer, By: approval.FolderNamed})
	again.evaluate(false)
	same := func(a, b approval.SegmentJudgement) bool { return a.Verdict == b.Verdict && a.Finding == b.Finding }
	return again.judgement.Verdict != f.judgement.Verdict || again.judgement.Finding != f.judgement.Finding ||
		!slices.EqualFunc(again.judgement.Segments, f.judgement.Segments, same)
}
