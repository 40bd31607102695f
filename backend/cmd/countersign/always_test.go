package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/corpus"
)

// neverAlways are programs that run what they are told, and of which no command is
// judged by itself: no answer may leave an entry for one of them behind.
var neverAlways = strings.Fields(`sh bash zsh dash ksh ash csh tcsh fish busybox toybox sudo doas su parallel watch script exec eval osascript`)

// TestAlways gives every question of the corpus that offers it the answer
// allow-always, and then the questions of two of them in one text. The request
// passes then, or asks for what the question said that it would still ask for;
// without any one of the entries more of it asks; none of them is for a program that
// runs what it is told; and none lets another command of the corpus pass that had to
// ask, but the same program, with the same words where words count.
func TestAlways(t *testing.T) {
	approvaltest.Long(t)
	a := always{T: t, trial: newTrial(readCorpus(t)), widths: map[approval.Width]int{}}
	for _, c := range a.cases.Cases {
		a.plans = append(a.plans, a.plan(c))
	}
	var offered []corpus.Case
	for i, c := range a.cases.Cases {
		if a.answer(c, &a.plans[i]) {
			offered = append(offered, c)
		}
	}
	t.Logf("%d questions; %d offer always and would write %d entries; %d other commands of the corpus pass under one of them", a.asks, a.offers, a.written, a.others)
	if a.offers < 60 || a.others < 100 {
		t.Errorf("%d offers, by which %d other commands pass: too few to tell anything", a.offers, a.others)
	}
	a.asks, a.offers, a.written, a.others = 0, 0, 0, 0
	for i, c := range offered {
		c.Text, c.Argv, c.RawCommand = inputOf(c)+"\n"+inputOf(offered[(i+7)%len(offered)]), nil, ""
		plan := a.plan(c)
		a.answer(c, &plan)
	}
	t.Logf("two in one text: %d questions; %d offer always and would write %d entries; %d commands of the corpus pass under them", a.asks, a.offers, a.written, a.others)
	if a.written < 3*a.offers/2 {
		t.Errorf("%d entries of %d texts: too few to tell anything", a.written, a.offers)
	}
}

// TestWidths takes the entries away from every command of the corpus and gives
// the questions that follow every answer that they offer to remember it.
func TestWidths(t *testing.T) {
	approvaltest.Long(t)
	a := always{T: t, trial: newTrial(readCorpus(t)), widths: map[approval.Width]int{}}
	for name, p := range a.cases.Policies {
		p.Allow = nil
		a.cases.Policies[name] = p
	}
	for i := range a.cases.Cases {
		c := &a.cases.Cases[i]
		c.Allow = nil
		a.plans = append(a.plans, a.plan(*c))
	}
	for i, c := range a.cases.Cases {
		j := a.judge(c, &a.plans[i], a.rulesOf(c))
		for _, o := range j.Offers {
			a.offer(c, j, o)
		}
	}
	t.Logf("widths offered: %v; %d other commands of the corpus pass under one of them", a.widths, a.others)
	for _, w := range []approval.Width{approval.WidthExact, approval.WidthWords, approval.WidthProgram} {
		if a.widths[w] < 50 {
			t.Errorf("the width %s is offered %d times: too few to tell anything", w, a.widths[w])
		}
	}
}

// always gives the answer allow-always and counts what it leads to.
type always struct {
	*testing.T
	*trial
	plans []approval.Plan // of the corpus

	asks, offers, written, others int
	widths                        map[approval.Width]int
}

// answer reports whether the question about a case offers allow-always.
func (a *always) answer(c corpus.Case, plan *approval.Plan) bool {
	j := a.judge(c, plan, a.rulesOf(c))
	if j.Verdict != approval.VerdictAsk {
		return false
	}
	a.asks++
	offered := slices.Contains(j.Choices, approval.AllowAlways)
	if offered != (len(j.Writes) > 0) {
		a.Errorf("%s: offers always: %v, and would write %v", c.ID, offered, j.Writes)
	}
	if !offered {
		return false
	}
	a.offers++
	a.written += len(j.Writes)
	after := permitting(c, j.Writes)
	now := a.labelled(after)
	a.settled(c, j, now, j.Writes)
	for i, e := range j.Writes {
		if less := a.labelled(permitting(c, slices.Delete(slices.Clone(j.Writes), i, i+1))); asking(less) <= asking(now) {
			a.Errorf("%s: %s: no less asks without %s", c.ID, inputOf(c), entriesText(j.Writes[i:i+1]))
		}
		if slices.Contains(neverAlways, path.Base(e.Pattern)) {
			a.Errorf("%s: %s: writes %s", c.ID, inputOf(c), entriesText(j.Writes[i:i+1]))
		}
	}
	within := covers
	if len(j.Offers) > 0 && entriesText(j.Writes) == entriesText(j.Offers[0].Writes) {
		within = narrows // the narrowest width
	}
	a.lets(c, after, j.Writes, within)
	for _, o := range j.Offers {
		a.offer(c, j, o)
	}
	return true
}

// settled checks that a request passes after an answer, or asks for nothing that could
// have been remembered.
func (a *always) settled(c corpus.Case, before, now approval.Judgement, wrote []approval.Entry) {
	passes := now.Verdict == approval.VerdictAllow
	if passes != (len(before.StillAsks) == 0) || !passes && (now.Verdict != approval.VerdictAsk || len(now.Offers) > 0) {
		a.Errorf("%s: %s: it %ss after it was remembered: %s\n    said %v, wrote %s, now offers %v", c.ID, inputOf(c), now.Verdict, now.Sentence, before.StillAsks, entriesText(wrote), now.Offers)
	}
}

// asking counts the commands of a request that ask.
func asking(j approval.Judgement) (n int) {
	for _, s := range j.Segments {
		if s.Verdict == approval.VerdictAsk {
			n++
		}
	}
	return n
}

// offer checks one width: the request passes under its entries, here and in
// every folder, and no other command passes that they do not cover.
func (a *always) offer(c corpus.Case, j approval.Judgement, o approval.Offer) {
	a.widths[o.Width]++
	choices := [][]approval.Entry{o.Entries(false)}
	if o.Folder != "" {
		choices = append(choices, o.Entries(true))
	}
	for _, entries := range choices {
		after := permitting(c, entries)
		a.settled(c, j, a.labelled(after), entries)
		for i, e := range entries {
			if slices.Contains(neverAlways, path.Base(e.Pattern)) {
				a.Errorf("%s: %s: the width %s writes %s", c.ID, inputOf(c), o.Width, entriesText(entries[i:i+1]))
			}
		}
		a.lets(c, after, entries, narrows)
	}
}

// permitting is a case under its policy and more entries.
func permitting(c corpus.Case, more []approval.Entry) corpus.Case {
	c.Allow = slices.Concat(c.Allow, more)
	return c
}

// lets counts the other commands that these entries let pass, under the policy
// of the case that they were written for. Each must be covered by the narrowing
// that the entries have.
func (a *always) lets(before, after corpus.Case, writes []approval.Entry, covers func(approval.Entry, approval.Segment) bool) {
	had, has := a.rulesOf(before), a.rulesOf(after)
	for i, other := range a.cases.Cases {
		plan := &a.plans[i]
		now := a.judge(other, plan, has)
		if other.ID == before.ID || now.Verdict != approval.VerdictAllow {
			continue
		}
		was := a.judge(other, plan, had)
		if was.Verdict == approval.VerdictAllow {
			continue
		}
		a.others++
		for k, s := range plan.Segments {
			if was.Segments[k].Verdict == approval.VerdictAllow {
				continue
			}
			if !slices.ContainsFunc(writes, func(e approval.Entry) bool { return e.Pattern == now.Segments[k].Entry && covers(e, s) }) {
				a.Errorf("%s: always for %s lets %s pass: %s", other.ID, inputOf(before), inputOf(other), now.Segments[k].Entry)
			}
		}
	}
}

// covers reports whether a segment is the program of an entry, with its words
// if it names words.
func covers(e approval.Entry, s approval.Segment) bool {
	if _, all := e.Covers(s.Findings); !all || !isFor(e, s) {
		return false
	}
	// What is not narrowed must be a program whose words no profile reads.
	return e.ArgsExact && slices.Equal(e.Args, s.Argv[1:]) || !e.ArgsExact && !s.Profiled && len(s.Findings) == 0
}

// narrows reports whether a segment is the program of an entry that a person chose, in
// its folder, with its words, and asks for no effect but those of the entry.
func narrows(e approval.Entry, s approval.Segment) bool {
	if _, all := e.Covers(s.Findings); !all || !isFor(e, s) {
		return false
	}
	args, dir := s.Argv[1:], s.Dir
	if s.Command > 1 && !e.ArgsExact && len(e.Args) > 0 && s.Argv[s.Command] == e.Args[0] {
		args, dir = s.Argv[s.Command:], cmp.Or(s.At, dir) // behind flags and folders
	}
	if len(e.Args) > len(args) || !slices.Equal(e.Args, args[:len(e.Args)]) || e.ArgsExact && len(e.Args) != len(args) {
		return false
	}
	return e.Cwd == "" || dir == e.Cwd || strings.HasPrefix(dir, e.Cwd+"/")
}

// isFor reports whether an entry is for the program of a segment.
func isFor(e approval.Entry, s approval.Segment) bool {
	if s.Program == nil {
		return s.Builtin != "" && e.Pattern == s.Builtin
	}
	return e.Pattern == s.Program.File.Path || e.Pattern == s.Program.Link
}

func entriesText(list []approval.Entry) string {
	text, err := json.Marshal(list)
	if err != nil {
		return fmt.Sprint(list)
	}
	return string(text)
}
