package host

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/starts"
	"github.com/countersign-app/countersign/backend/store"
)

// StartOffer is a start with which a question can be answered, for its agent and in
// the project of its session alone.
type StartOffer struct {
	Start  starts.Start
	Folder string
	Made   starts.Made
	// Yes is how many of the latest requests that it lets pass a person allowed; 0 where they
	// denied one of them.
	Yes int
}

// Suggested reports whether a person allowed so many of these that it is what they
// most likely want.
func (o StartOffer) Suggested() bool { return o.Yes >= starts.Enough }

// StartFor returns the first of starts.ForQuestions under which a waiting question
// would pass, and false for none.
func (h *Host) StartFor(ctx context.Context, p approval.Prompt) (StartOffer, bool) {
	for _, s := range starts.ForQuestions {
		if o, ok := h.startOffer(ctx, p, s); ok {
			if told, err := h.gate.Judge().Answered(ctx, p.AgentID, o.Made.Entries); err == nil && told.Denied == 0 {
				o.Yes = told.Yes
			}
			return o, true
		}
	}
	return StartOffer{}, false
}

func (h *Host) startOffer(ctx context.Context, p approval.Prompt, s starts.Start) (o StartOffer, ok bool) {
	snap := h.store.Snapshot()
	if snap.Document == nil || p.AgentID == "" || len(p.Plan.Argv) == 0 || len(p.Env) > 0 {
		return o, false
	}
	folder, err := questionFolder(snap.Document, s, p, h.opt.Home)
	if err != nil {
		return o, false
	}
	made, err := h.Start(ctx, s, folder)
	if err != nil {
		return o, false
	}
	held := snap.Policy(p.AgentID)
	j, err := h.gate.Judge().Suppose(ctx, held.Listing(slices.Concat(held.Allowlist, made.Entries)), approval.Request{
		Command: p.Plan.Argv, Cwd: p.Plan.Cwd.Path, AgentID: p.AgentID, SessionKey: p.SessionKey, Who: p.Who,
	})
	return StartOffer{Start: s, Folder: folder, Made: made}, err == nil && j.Verdict == approval.VerdictAllow
}

// questionFolder is the folder in which a start can answer a question: the one of its
// session, which for ProjectCommands the person must have named.
func questionFolder(d *store.Document, s starts.Start, p approval.Prompt, home string) (string, error) {
	folder := p.Plan.Folder.Path
	if s == starts.ProjectCommands {
		return StartFolder(d, s, folder, p.AgentID, home)
	}
	if folder == "" || folder == "/" || folder == home || strings.ContainsAny(folder, `*?[]{}\`) {
		return "", errNoStart
	}
	return folder, nil
}

// TakeStartFor adds the entries of a start for the agent of a question, which they
// answer then. They are taken out again with what other answers to it wrote (Undo).
func (h *Host) TakeStartFor(ctx context.Context, p approval.Prompt, s starts.Start) error {
	if !slices.Contains(starts.ForQuestions, s) {
		return errNoStart
	}
	o, ok := h.startOffer(ctx, p, s)
	if !ok {
		return errNoStart
	}
	for i := range o.Made.Entries {
		o.Made.Entries[i].AddedFor = p.ID
	}
	_, err := h.Update(func(d *store.Document) error {
		if again, err := questionFolder(d, s, p, h.opt.Home); err != nil || again != o.Folder {
			return cmp.Or(err, errNoStart)
		}
		addMissing(d, p.AgentID, o.Made.Entries)
		return nil
	})
	return err
}

var errNoStart = errors.New("this start does not cover it, or not any more")
