package gate

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/machine"
	"github.com/countersign-app/countersign/backend/store"
	"github.com/countersign-app/countersign/backend/trail"
)

func (g *Gate) identify(f approval.File) (approval.Identity, error) {
	return machine.Identify(g.Hashes, g.Signers, f)
}

// learn records the files that a run uses under the entries that let it pass,
// before it starts: those that the entries have not seen, and new versions that
// their package manager or signer vouches for.
// again tells that others recorded something meanwhile, so that it is to be
// judged once more.
func (f *flight) learn() (again bool, d *approval.Denial) {
	var records []store.Record
	for _, s := range f.judgement.Segments {
		if s.Verdict != approval.VerdictAllow {
			continue
		}
		for _, l := range s.Learn {
			if err := f.note(&records, s, l); err != nil {
				return false, deny(approval.ReasonBinaryChanged, "what runs cannot be recorded: "+err.Error())
			}
		}
	}
	if len(records) == 0 {
		return false, nil
	}
	err := f.Store.Identify(records)
	if err != nil {
		d = deny(approval.ReasonApprovalCancelled, "what runs cannot be recorded: "+err.Error())
	}
	return errors.Is(err, store.ErrChanged), d
}

// note adds a file to the records of the entry that covers it.
func (f *flight) note(records *[]store.Record, s approval.SegmentJudgement, l approval.Seen) error {
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
	id, err := f.identify(l.File)
	if err != nil {
		return err
	}
	id.Interpreter = l.By
	*to, was[l.File.Path] = append(*to, id), l.Was
	if l.Was != "" && f.row.Sentence == "" {
		f.row.Sentence = l.File.Path + " is a new version, for which its package manager or signer vouches"
	}
	return nil
}

// offer completes what always would write, so that exactly what was shown is
// saved: the hashes of the files, and the new versions of the other files of
// one upgrade, so that it is asked about once. Where a file cannot be read
// nothing is offered.
func (f *flight) offer() {
	j := &f.judgement
	for i := range j.Writes {
		if err := f.complete(&j.Writes[i]); err != nil {
			j.Writes = nil
			j.Choices = slices.DeleteFunc(j.Choices, func(d approval.Decision) bool { return d == approval.AllowAlways })
			return
		}
	}
	for i := range j.Offers {
		for k := range j.Offers[i].Writes {
			if err := f.complete(&j.Offers[i].Writes[k]); err != nil {
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
				also = append(also, f.upgradedWith(l.File.Path)...)
			}
		}
	}
	if len(also) > 0 {
		j.Sentence += "; always accepts what else changed there too: " + strings.Join(also, ", ")
	}
}

// complete hashes the files of an entry that is to be written, as the question
// shows them.
func (f *flight) complete(e *approval.Entry) error {
	e.Identity, e.Interpreters = slices.Clone(e.Identity), slices.Clone(e.Interpreters)
	for _, list := range [][]approval.Identity{e.Identity, e.Interpreters} {
		for i, id := range list {
			file, there := f.seen(id.Path)
			if !there {
				return fmt.Errorf("cannot identify %s: it is not part of the question", id.Path)
			}
			if e.ID == "" && command.Kept(file) { // only the system's package manager changes it
				continue
			}
			now, err := f.identify(file)
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
func (f *flight) seen(path string) (approval.File, bool) {
	for _, s := range f.plan.Segments {
		for at := s.Program; at != nil; at = at.Interpreter {
			if at.File.Path == path {
				return at.File, true
			}
		}
	}
	return approval.File{}, false
}

// contents are what the files of a plan hold: a sum, or why there is none.
type contents map[string]content

type content struct {
	sum string
	err error
}

// contents reads the programs of the plan, what interprets them, and the files
// with program text, as far as others than the system's package manager change
// them: the times of a file do not tell of all that is written to it.
func (f *flight) contents() contents {
	all := contents{}
	hold := func(file approval.File) {
		if _, there := all[file.Path]; there || command.Kept(file) {
			return
		}
		sum, err := f.Hashes.Of(file)
		all[file.Path] = content{sum, err}
	}
	for _, s := range f.plan.Segments {
		for at := s.Program; at != nil; at = at.Interpreter {
			hold(at.File)
		}
		for _, file := range s.Code {
			if real, err := (machine.Disk{}).Look(file.Path); err == nil && real.Same(file) {
				file = real // it is told by the name that the program opens
			}
			hold(file)
		}
	}
	return all
}

// sameAs reports whether files hold what they held. What could not be read for
// another reason than that a program was writing to it is compared by its times
// alone, and the kernel starts no program that is written to.
func (c contents) sameAs(now contents) bool {
	for path, was := range c {
		if errors.Is(was.err, trail.ErrWritten) || was.err == nil && now[path].sum != was.sum {
			return false
		}
	}
	return true
}

// maxUpgraded bounds the files that one question accepts beside its own.
const maxUpgraded = 50

// upgradedWith adds to what always would write the files beside this one, or of
// its package, that changed since they were recorded. It returns their paths.
func (f *flight) upgradedWith(changed string) (paths []string) {
	for _, e := range f.Store.Snapshot().Policy(f.req.AgentID).Allowlist {
		for _, was := range e.Identity {
			at := machine.Upgraded(was.Path, changed)
			if was.SHA256 == "" || at == "" || f.offered(at) || len(paths) == maxUpgraded {
				continue
			}
			file, err := machine.Disk{}.Look(at)
			if err != nil || file.Path != at || at == was.Path && file.Size == was.Size && file.Mod/1_000_000 == was.MTime {
				continue
			}
			now, err := f.identify(file)
			if err != nil || now.SHA256 == strings.ToLower(was.SHA256) {
				continue
			}
			now.Interpreter = was.Interpreter
			f.judgement.Writes = append(f.judgement.Writes, approval.Entry{ID: e.ID, Pattern: e.Pattern, Identity: []approval.Identity{now}})
			paths = append(paths, at)
		}
	}
	return paths
}

func (f *flight) offered(path string) bool {
	return slices.ContainsFunc(f.judgement.Writes, func(e approval.Entry) bool {
		return slices.ContainsFunc(e.Identity, func(id approval.Identity) bool { return id.Path == path })
	})
}
