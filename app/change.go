package main

import (
	"context"
	"slices"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/app/stage"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/host"
)

// asking is what is on the panel beside the questions: a change of the command
// line, or a folder that may be a project.
type asking struct {
	id     string
	change *shown.Change
	folder *shown.Folder
	// answer gets what the person says, once: yes or no to a change, an answer of
	// the host to a folder, "" where they say nothing.
	answer chan string
}

const yes, no = "yes", "no"

// unsaid is what it means to be left: no to a change, and nothing to a folder, of
// which a no is kept.
func (n *asking) unsaid() string {
	if n.folder != nil {
		return ""
	}
	return no
}

// askPerson shows a change on the panel until the person answers or ctx is done,
// and returns the ID of what they accepted.
func (a *app) askPerson(ctx context.Context, c host.Change) (accepted string, err error) {
	answer, err := a.onPanel(ctx, &asking{id: shown.ChangeMark + c.ID, change: &shown.Change{
		ID: shown.ChangeMark + c.ID, Who: c.Who, Process: c.Process, Lines: a.changeLines(c), InForce: c.InForce,
		Asked: c.Asked.UnixMilli(), Expires: c.Until.UnixMilli(),
	}})
	if answer == yes {
		accepted = c.ID
	}
	return accepted, err
}

// askFolder asks on the panel whether a folder is a project, until the person
// answers or ctx is done.
func (a *app) askFolder(ctx context.Context, q host.FolderQuestion) (host.FolderAnswer, error) {
	in := a.inAgents()
	folder := shown.NewFolder(shown.FolderMark+q.ID, q.AgentID, q.SessionKey, q.Folder, q.Text, in)
	folder.Holds, folder.Git, folder.Every, folder.Strict = q.Holds, q.Git, q.Offers(host.FolderEvery), q.Strict
	folder.Files, folder.More = q.Files, q.More
	folder.Tell(q.Names, q.Said, in)
	folder.Asked, folder.Expires = q.Asked.UnixMilli(), q.Until.UnixMilli()
	answer, err := a.onPanel(ctx, &asking{id: folder.ID, folder: folder})
	return host.FolderAnswer(answer), err
}

// inAgents is how the page shows the agents, as far as the host is there.
func (a *app) inAgents() shown.Person {
	a.mu.Lock()
	ready := a.host != nil
	a.mu.Unlock()
	if ready {
		return a.names()
	}
	return a.person
}

// onPanel puts something on the panel until the person answers or ctx is done.
// There is one change at a time, and one folder.
func (a *app) onPanel(ctx context.Context, now *asking) (string, error) {
	now.answer = make(chan string, 1)
	if err := a.put(now); err != nil {
		return "", err
	}
	a.questionsChanged()
	defer func() {
		a.takeAway(now)
		a.questionsChanged()
	}()
	select {
	case said := <-now.answer:
		return said, nil
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

func (a *app) changeLines(c host.Change) (lines []shown.ChangeLine) {
	in := a.inAgents()
	for _, l := range c.Lines {
		var by *shown.Made
		if l.By.In != "" {
			by = &shown.Made{In: l.By.In, Who: display.Escape(l.By.Who), Minutes: int(c.Asked.Sub(l.By.When).Minutes())}
		}
		lines = append(lines, shown.NewChangeLine(string(l.Word), l.Line, l.Beside(), by, in))
	}
	return lines
}

func (a *app) put(now *asking) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.host == nil { // a window that only opens shows it soon
		return stage.ErrNoWindow
	}
	if err := a.stage.Ask(stage.Item{Kind: kindOf(now.id), ID: now.id}); err != nil {
		return err
	}
	a.asked[now.id] = now
	return nil
}

func (a *app) takeAway(now *asking) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.stage.Over(now.id)
	delete(a.asked, now.id)
}

// say answers it, once.
func (n *asking) say(said string) bool {
	select {
	case n.answer <- said:
		return true
	default:
		return false // it has one
	}
}

// AnswerChange accepts the change of the command line that is on the panel, or
// says no to it. It counts for that change only, and once it was in sight for a
// while.
func (a *Approvals) AnswerChange(id string, accept bool) Answered {
	if accept && !a.app.looked(id) {
		return Answered{Message: tooEarly}
	}
	a.app.mu.Lock()
	defer a.app.mu.Unlock()
	said := no
	if accept {
		said = yes
	}
	if now := a.app.asked[id]; now == nil || now.change == nil || !now.say(said) {
		return Answered{Message: "This is over: nothing was changed. The terminal must ask again."}
	}
	return Answered{OK: true}
}

// AnswerFolder says whether the folder on the panel is a project: "no", "agent" for
// its agent, or "every" for every one. It counts once it was in sight for a while.
func (a *Approvals) AnswerFolder(id, answer string) Answered {
	if !a.app.looked(id) { // a no is kept, too
		return Answered{Message: tooEarly}
	}
	a.app.mu.Lock()
	defer a.app.mu.Unlock()
	now := a.app.asked[id]
	switch {
	case now == nil || now.folder == nil || a.app.stage.OnTop(a.app.now()) != id:
		return Answered{Message: "This is over: the folder stays outside. The next session asks again."}
	case answer == string(host.FolderEvery) && !now.folder.Every, !slices.Contains([]string{string(host.FolderNo), string(host.FolderAgent), string(host.FolderEvery)}, answer):
		return Answered{Message: unknown}
	}
	return Answered{OK: now.say(answer)}
}
