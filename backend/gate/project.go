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
	"github.com/countersign-app/countersign/backend/pending"
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
	// projectLife is how long it is asked at most whether a folder is a project.
	projectLife = 2 * time.Minute
	// maxSilent bounds the questions about folders that are known to have gone
	// unanswered.
	maxSilent = 1000
	// projectsPerHour bounds the questions about folders of one family: an agent can
	// work in as many folders, and name as many sessions, as it likes. maxHourly is how
	// many families that is known of; no other is asked about a folder meanwhile.
	projectsPerHour = 5
	maxHourly       = 1000
)

// projects are the question about a folder that waits, of which there is one at a time,
// when each family was asked, and what nobody answered: a session hears each once.
type projects struct {
	mu     sync.Mutex
	open   *projectAsked
	hourly map[string][]time.Time
	silent map[[3]string]time.Time // by agent, session and folder
}

// projectAsked is one question about a folder.
type projectAsked struct {
	family, agentID, folder string
	callers                 int             // that wait for it
	wanted                  context.Context // ends when the last of them has gone
	leave                   context.CancelFunc
	over                    context.Context // ends with the question
}

// mayAsk reports whether a session may be asked about a folder, and remembers
// nothing.
func (p *projects) mayAsk(family, agentID, session, folder string, now time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if open := p.open; open != nil {
		return open.is(family, agentID, folder)
	}
	at, was := p.silent[[3]string{agentID, session, folder}]
	return p.room(family, now) && (!was || now.Sub(at) > sessionLife)
}

func (o *projectAsked) is(family, agentID, folder string) bool {
	return o.family == family && o.agentID == agentID && o.folder == folder
}

// room reports whether a family was asked about few enough folders within an hour.
func (p *projects) room(family string, now time.Time) bool {
	for who, list := range p.hourly {
		list = slices.DeleteFunc(list, func(at time.Time) bool { return now.Sub(at) >= time.Hour })
		if p.hourly[who] = list; len(list) == 0 {
			delete(p.hourly, who)
		}
	}
	list, known := p.hourly[family]
	return len(list) < projectsPerHour && (known || len(p.hourly) < maxHourly)
}

func (p *projects) wentSilent(agentID, session, folder string, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.silent == nil || len(p.silent) >= maxSilent {
		p.silent = map[[3]string]time.Time{}
	}
	p.silent[[3]string{agentID, session, folder}] = now
}

// join has a caller, who is there until ctx ends, wait for the question of an agent
// about a folder, and begins it where none waits. It returns what ends with it; nil
// where another one waits, or its family had enough of them.
func (p *projects) join(ctx context.Context, log *slog.Logger, family, agentID, folder string, now time.Time, ask func(context.Context)) context.Context {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.open
	switch {
	case one != nil && !one.is(family, agentID, folder), one == nil && !p.room(family, now), ctx.Err() != nil:
		return nil
	case one == nil:
		one = &projectAsked{family: family, agentID: agentID, folder: folder}
		one.wanted, one.leave = context.WithCancel(context.Background())
		over, end := context.WithCancel(context.Background())
		one.over, p.open = over, one
		if p.hourly == nil {
			p.hourly = map[string][]time.Time{}
		}
		p.hourly[family] = append(p.hourly[family], now)
		go func() {
			defer rescue.Catch(log, "the question whether a folder is a project", nil)
			defer end()
			defer func() {
				p.mu.Lock()
				defer p.mu.Unlock()
				p.open = nil
			}()
			defer one.leave()
			ask(one.wanted)
		}()
	}
	one.callers++
	context.AfterFunc(ctx, rescue.Guarded(log, "a caller that waited for an answer about its folder", func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if one.callers--; one.callers == 0 {
			one.leave()
		}
	}))
	return one.over
}

// askProject has the person say whether the folder that the agent works in is a
// project, where that would change what is judged, and judges again. It is asked
// only while nothing else is, and gives way to what comes: the request waits for half
// of its time at most, and until a question waits. It ends with the last request that
// it was asked for. It reports whether somebody was asked.
func (f *flight) askProject(ctx context.Context) bool {
	folder, family := f.judged.Plan.Folder, pending.Family(f.judged.Req.Peer, f.judged.Req.AgentID)
	if f.gate.AskProject == nil || f.askedProject || !f.gate.Asker.CanAsk() || f.gate.Pending.Waiting() > 0 ||
		!f.gate.projects.mayAsk(family, f.judged.Req.AgentID, f.judged.Req.SessionKey, folder.Offer, f.gate.Now()) || !f.judged.FolderMatters(ctx) {
		return false
	}
	f.askedProject = true
	at, err := f.judged.Machine().Analyzer.World.Look(folder.Offer)
	if err != nil || at.Path != folder.Offer {
		return false
	}
	q := ProjectQuestion{AgentID: f.judged.Req.AgentID, SessionKey: f.judged.Req.SessionKey, Folder: folder.Offer, File: at, Text: f.judged.Plan.Text}
	gate := f.gate
	over := f.gate.projects.join(ctx, f.gate.Log, family, q.AgentID, q.Folder, f.gate.Now(), func(wanted context.Context) {
		asked, cancel := context.WithTimeout(wanted, projectLife)
		defer cancel()
		switch err := gate.AskProject(asked, q); {
		case wanted.Err() != nil: // it ended before its time, so it may be asked again
		case errors.Is(err, ErrNoAnswer):
			gate.projects.wentSilent(q.AgentID, q.SessionKey, q.Folder, gate.Now())
		case err != nil:
			gate.Log.Info("it was not asked whether a folder is a project", "error", err)
		}
	})
	if over == nil {
		return false
	}
	ends, _ := f.questionEnds()
	wait, cancel := context.WithTimeout(ctx, ends.Sub(f.gate.Now())/2)
	defer cancel()
	defer context.AfterFunc(over, cancel)()
	for cursor := uint64(0); wait.Err() == nil && f.gate.Pending.Waiting() == 0; {
		cursor, _ = f.gate.Pending.Watch(wait, cursor)
	}
	return true
}

// orName says, where nobody can be asked, how a person names the folder, if that would
// change what is judged.
func (f *flight) orName(ctx context.Context) string {
	if !f.judged.FolderMatters(ctx) {
		return ""
	}
	return "; if its folder is a project, the person can name it: countersign projects add " + command.Quote([]string{f.judged.Plan.Folder.Offer})
}
