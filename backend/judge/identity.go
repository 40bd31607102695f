package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/machine"
	"github.com/countersign-app/countersign/backend/store"
)

func (j *Judge) identify(f approval.File) (approval.Identity, error) {
	return machine.Identify(j.reads.Hashes, j.reads.Signers, f)
}

// Learned are the files that a run uses, for the entries that let it pass: those that
// the entries have not seen, and new versions that their package manager or signer
// vouches for. anew names the first of the latter, "" for none.
func (c *Case) Learned() (records []store.Record, anew string, err error) {
	for _, s := range c.Judgement.Segments {
		if s.Verdict != approval.VerdictAllow {
			continue
		}
		for _, l := range s.Learn {
			if err := c.note(&records, s, l); err != nil {
				return nil, anew, err
			}
			if l.Was != "" && anew == "" {
				anew = l.File.Path
			}
		}
	}
	return records, anew, nil
}

// note adds a file to the records of the entry that covers it.
func (c *Case) note(records *[]store.Record, s approval.SegmentJudgement, l approval.Seen) error {
	i := slices.IndexFunc(*records, func(r store.Record) bool { return r.Entry.ID == s.EntryID })
	if i < 0 {
		i = len(*records)
		*records = append(*records, store.Record{Entry: approval.Entry{ID: s.EntryID}, Was: map[string]string{}, InterpretersWas: map[string]string{}})
	}
	r := &(*records)[i]
	to, was := &r.Entry.Identity, r.Was
	if l.Interprets {
		to, was = &r.Entry.Interpreters, r.InterpretersWas
	}
	if l.Link != "" && !slices.ContainsFunc(r.Entry.Links, func(have approval.Link) bool { return have.Path == l.Link }) {
		r.Entry.Links = append(r.Entry.Links, approval.Link{Path: l.Link, Target: l.File.Path})
	}
	if slices.ContainsFunc(*to, func(id approval.Identity) bool { return id.Path == l.File.Path }) {
		return nil
	}
	id, err := c.judge.identify(l.File)
	if err != nil {
		return err
	}
	id.Interpreter = l.By
	*to, was[l.File.Path] = append(*to, id), l.Was
	return nil
}

// Offer completes what always would write, so that exactly what was shown is
// saved: the hashes of the files, and the new versions of the other files of
// one upgrade, so that it is asked about once. Where a file cannot be read
// nothing is offered.
func (c *Case) Offer() {
	j := &c.Judgement
	for i := range j.Writes {
		if err := c.complete(&j.Writes[i]); err != nil {
			j.Writes = nil
			j.Choices = slices.DeleteFunc(j.Choices, func(d approval.Decision) bool { return d == approval.AllowAlways })
			return
		}
	}
	for i := range j.Offers {
		for k := range j.Offers[i].Writes {
			if err := c.complete(&j.Offers[i].Writes[k]); err != nil {
				j.Offers = nil
				return
			}
		}
	}
	var also []string
	for _, s := range j.Segments {
		if s.Reason != approval.ReasonBinaryChanged || len(j.Writes) == 0 {
			continue
		}
		for _, l := range s.Learn {
			if l.Was != "" {
				also = append(also, c.upgradedWith(l.File.Path)...)
			}
		}
	}
	if len(also) > 0 {
		j.Sentence += "; always accepts what else changed there too: " + strings.Join(also, ", ")
	}
}

// complete hashes the files of an entry that is to be written, as the question
// shows them.
func (c *Case) complete(e *approval.Entry) error {
	e.Identity, e.Interpreters = slices.Clone(e.Identity), slices.Clone(e.Interpreters)
	for _, list := range [][]approval.Identity{e.Identity, e.Interpreters} {
		for i, id := range list {
			file, there := c.seen(id.Path)
			if !there {
				return fmt.Errorf("cannot identify %s: it is not part of the question", id.Path)
			}
			if e.ID == "" && command.Kept(file) { // only the system's package manager changes it
				continue
			}
			now, err := c.judge.identify(file)
			if err != nil {
				return err
			}
			now.Interpreter = id.Interpreter
			list[i] = now
		}
	}
	return nil
}

// seen returns a file of the plan, a program or what interprets one, by its path.
func (c *Case) seen(path string) (approval.File, bool) {
	for _, s := range c.Plan.Segments {
		for at := s.Program; at != nil; at = at.Interpreter {
			if at.File.Path == path {
				return at.File, true
			}
		}
	}
	return approval.File{}, false
}

// maxUpgraded bounds the files that one question accepts beside its own.
const maxUpgraded = 50

// upgradedWith adds to what always would write the files beside this one, or of
// its package, that changed since they were recorded. It returns their paths.
func (c *Case) upgradedWith(changed string) (paths []string) {
	for _, e := range c.judge.reads.Policies.Snapshot().Policy(c.Req.AgentID).Allowlist {
		for _, was := range e.Identity {
			at := machine.Upgraded(was.Path, changed)
			if was.SHA256 == "" || at == "" || c.offered(at) || len(paths) == maxUpgraded {
				continue
			}
			file, err := machine.Disk{}.Look(at)
			if err != nil || file.Path != at || at == was.Path && file.Size == was.Size && file.Mod/1_000_000 == was.MTime {
				continue
			}
			now, err := c.judge.identify(file)
			if err != nil || now.SHA256 == strings.ToLower(was.SHA256) {
				continue
			}
			now.Interpreter = was.Interpreter
			c.Judgement.Writes = append(c.Judgement.Writes, approval.Entry{ID: e.ID, Pattern: e.Pattern, Identity: []approval.Identity{now}})
			paths = append(paths, at)
		}
	}
	return paths
}

func (c *Case) offered(path string) bool {
	return slices.ContainsFunc(c.Judgement.Writes, func(e approval.Entry) bool {
		return slices.ContainsFunc(e.Identity, func(id approval.Identity) bool { return id.Path == path })
	})
}
