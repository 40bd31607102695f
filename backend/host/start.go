package host

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/environ"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/policy"
	"github.com/countersign-app/countersign/backend/starts"
	"github.com/countersign-app/countersign/backend/store"
)

// Start makes the entries of a start from the programs of this machine. project is the
// folder of starts.ProjectCommands.
func (h *Host) Start(ctx context.Context, s starts.Start, project string) (starts.Made, error) {
	m, err := h.ready(ctx)
	if err != nil {
		return starts.Made{}, err
	}
	return h.made(ctx, m.Analyzer, s, project)
}

// StartAlone does so where no host runs. Of the options it takes Home, User, Shell,
// Environ and Programs.
func StartAlone(ctx context.Context, opt Options, s starts.Start, project string) (starts.Made, error) {
	h := &Host{opt: opt}
	env, err := h.login(ctx)
	if err != nil {
		env = environ.FromProcess(opt.Environ)
	}
	return h.made(ctx, h.machineWith(env, nil).Analyzer, s, project)
}

func (h *Host) made(ctx context.Context, a *command.Analyzer, s starts.Start, project string) (starts.Made, error) {
	now := time.Now().UnixMilli()
	m := s.Make(project, func(name string) (approval.Entry, bool) {
		plan := a.Analyze(ctx, &approval.Request{Command: []string{name}, Who: approval.Ours}, approval.Folder{})
		if len(plan.Segments) == 0 || plan.Segments[0].Program == nil {
			return approval.Entry{}, false
		}
		e := approval.Entry{Pattern: policy.PatternFor(plan.Segments[0].Program, plan.Segments[0].Kind), AddedAt: now}
		RecordIdentity(&e, h.opt.Home)
		return e, true
	})
	for i := range m.Entries {
		m.Entries[i].AddedAt = now
	}
	return m, ctx.Err()
}

// StartFolder returns the folder in which a start counts for an agent (store.Every for
// every one): for ProjectCommands one that the policy names as a project, else none.
func StartFolder(d *store.Document, s starts.Start, at, agentID, home string) (string, error) {
	switch {
	case !slices.Contains(starts.Names, s):
		return "", fmt.Errorf("there is no start %q", s)
	case s != starts.ProjectCommands && at != "":
		return "", fmt.Errorf("the start %s is for no project", s)
	case s != starts.ProjectCommands:
		return "", nil
	case at == "":
		return "", fmt.Errorf("the start %s needs a project: one of `countersign projects list`", s)
	}
	folder, err := FolderToName(at, home)
	if err != nil {
		return "", err
	}
	if strings.ContainsAny(folder, `*?\`) {
		return "", fmt.Errorf("the name of %s would be read as a pattern", display.Escape(folder))
	}
	named := false
	for _, p := range d.Projects {
		if p.Path != folder || p.Agent != "" && p.Agent != agentID {
			continue
		}
		if p.No {
			return "", fmt.Errorf("of %s you said that it is no project: see `countersign projects list`", display.Escape(folder))
		}
		named = true
	}
	if !named {
		return "", fmt.Errorf("%s is not in the list of projects: countersign projects add %s", display.Escape(folder), display.Escape(command.Quote([]string{folder})))
	}
	return folder, nil
}

// TakeStart puts the mode and the entries of a start into a policy, for an agent or
// for store.Every. What is there already stays.
func TakeStart(d *store.Document, agentID string, s starts.Start, made starts.Made) error {
	for _, mode := range approval.Modes {
		if mode.ID != s.Mode() {
			continue
		}
		if err := d.SetFor(agentID, "security", string(mode.Security)); err != nil {
			return err
		}
		if err := d.SetFor(agentID, "ask", string(mode.Ask)); err != nil {
			return err
		}
	}
	addMissing(d, agentID, made.Entries)
	return nil
}

// addMissing adds the entries that are not there yet.
func addMissing(d *store.Document, agentID string, entries []approval.Entry) {
	for _, e := range entries {
		if !slices.ContainsFunc(d.Agent(agentID).Allowlist, func(have store.Entry) bool { return sameWords(have.Entry, e) }) {
			d.Add(agentID, e)
		}
	}
}

// sameWords reports whether two entries are for the same program, arguments and folder,
// whatever file that was.
func sameWords(a, b approval.Entry) bool {
	return a.Pattern == b.Pattern && a.ArgsExact == b.ArgsExact && a.ArgPattern == b.ArgPattern && a.Cwd == b.Cwd && !a.Leased() &&
		slices.Equal(a.Args, b.Args) && slices.Equal(a.Allows, b.Allows)
}

// StartWords says in a line what the entries of a start let pass: nobody reads them
// one by one.
func StartWords(s starts.Start, agentID, project string, made starts.Made) string {
	whose := "every agent"
	if agentID != store.Every {
		whose = "agent " + inWords(agentID)
	}
	if len(made.Entries) == 0 {
		return fmt.Sprintf("Takes the start %q for %s", s.Title(), whose)
	}
	words := fmt.Sprintf("Adds the start %q for %s: %d rules", s.Title(), whose, len(made.Entries))
	if s == starts.ProjectCommands {
		return words + ". Tests, builds, local git work and edits of files of " + inWords(project) + " run without a question: they run what its files say"
	}
	return words + " for programs and commands that only read"
}

// StartLoosens says what a start makes looser, with one line for its entries.
func StartLoosens(before, after *store.Document, agentID string, s starts.Start, project string, made starts.Made, home string) ([]string, error) {
	if len(store.Loosens(before, after)) == 0 {
		return nil, nil
	}
	mode, err := onlyMode(before, agentID, s, home)
	if err != nil {
		return nil, err
	}
	return append(store.Loosens(before, mode), StartWords(s, agentID, project, made)), nil
}

// onlyMode is a policy with the mode of a start and none of its entries.
func onlyMode(before *store.Document, agentID string, s starts.Start, home string) (*store.Document, error) {
	text, err := before.Encode()
	if err != nil {
		return nil, err
	}
	d, err := store.Parse("the policy", text, home)
	if err != nil {
		return nil, err
	}
	return d, TakeStart(d, agentID, s, starts.Made{})
}

// startParams name a start; the entries are this host's own.
type startParams struct {
	Start    starts.Start `json:"start"`
	Project  string       `json:"project"`
	AgentID  string       `json:"agentId"`
	BaseHash string       `json:"baseHash"`
}

// startOf reads them, and makes what they name.
func (h *Host) startOf(ctx context.Context, c ipc.Call) (p startParams, folder string, made starts.Made, err error) {
	if p, err = decode[startParams](c); err != nil {
		return p, "", made, err
	}
	p.AgentID = cmp.Or(store.AgentID(p.AgentID), store.Every)
	snap := h.store.Snapshot()
	if snap.Broken != nil {
		return p, "", made, snap.Broken
	}
	if folder, err = StartFolder(snap.Document, p.Start, p.Project, p.AgentID, h.opt.Home); err == nil {
		made, err = h.Start(ctx, p.Start, folder)
	}
	return p, folder, made, err
}

// startShow tells what a start would write here.
func startShow(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	_, _, made, err := h.startOf(ctx, c)
	return made, err
}

// startTake writes it. That its entries are this host's own is why one line stands for
// all of them.
func startTake(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	p, folder, made, err := h.startOf(ctx, c)
	if err != nil {
		return nil, err
	}
	edit := func(d *store.Document) error {
		if again, err := StartFolder(d, p.Start, p.Project, p.AgentID, h.opt.Home); err != nil || again != folder {
			return cmp.Or(err, errOtherwise)
		}
		return TakeStart(d, p.AgentID, p.Start, made)
	}
	return h.updateShown(ctx, c, p.BaseHash, edit, func(before *store.Document, now *difference) error {
		mode, err := onlyMode(before, p.AgentID, p.Start, h.opt.Home)
		if err != nil {
			return err
		}
		said := sentences(StartWords(p.Start, p.AgentID, folder, made))
		now.lines = append(said, h.tightened.lines(store.Differences(before, mode), h.makerOf(c), time.Now())...)
		return nil
	})
}
