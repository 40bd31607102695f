package main

import (
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

// neverAlways are programs that run what they are told: no answer may leave an
// entry for one of them behind.
var neverAlways = strings.Fields(`sh bash zsh dash ksh ash csh tcsh fish busybox toybox env nice nohup time timeout stdbuf ionice taskset setsid
	flock caffeinate arch xcrun sudo doas su xargs parallel watch script command exec eval osascript`)

// TestAlways gives every question of the corpus that offers it the answer
// allow-always, and then the questions of two of them in one text. The request
// passes then; without any one of the entries it would not; none of them is for
// a program that runs what it is told; and none lets another command of the
// corpus pass that had to ask, but the same program, with the same words where
// words count.
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
		for _, o := range a.judge(c, &a.plans[i], a.rulesOf(c)).Offers {
			a.offer(c, o)
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
	if now := a.labelled(after); now.Verdict != approval.VerdictAllow {
		a.Errorf("%s: %s: it %ss after always, too: %s\n    wrote %s", c.ID, inputOf(c), now.Verdict, now.Sentence, entriesText(j.Writes))
	}
	for i, e := range j.Writes {
		if less := a.labelled(permitting(c, slices.Delete(slices.Clone(j.Writes), i, i+1))); less.Verdict == approval.VerdictAllow {
			a.Errorf("%s: %s: it passes without %s too", c.ID, inputOf(c), entriesText(j.Writes[i:i+1]))
		}
		if slices.Contains(neverAlways, path.Base(e.Pattern)) {
			a.Errorf("%s: %s: writes %s", c.ID, inputOf(c), entriesText(j.Writes[i:i+1]))
		}
	}
	a.lets(c, after, j.Writes, covers)
	for _, o := range j.Offers {
		a.offer(c, o)
	}
	return true
}

// offer checks one width: the request passes under its entries, here and in
// every folder, and no other command passes that they do not cover.
func (a *always) offer(c corpus.Case, o approval.Offer) {
	a.widths[o.Width]++
	choices := [][]approval.Entry{o.Entries(false)}
	if o.Folder != "" {
		choices = append(choices, o.Entries(true))
	}
	for _, entries := range choices {
		after := permitting(c, entries)
		if now := a.labelled(after); now.Verdict != approval.VerdictAllow {
			a.Errorf("%s: %s: it %ss under the width %s, too: %s\n    wrote %s", c.ID, inputOf(c), now.Verdict, o.Width, now.Sentence, entriesText(entries))
		}
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
	if s.Program == nil || e.Pattern != s.Program.File.Path && e.Pattern != s.Program.Link {
		return false
	}
	// What is not narrowed must be a program whose words no profile reads.
	return e.ArgsExact && slices.Equal(e.Args, s.Argv[1:]) || !e.ArgsExact && !s.Profiled && len(s.Findings) == 0
}

// narrows reports whether a segment that asks for nothing by itself is the
// program of an entry that a person chose, in its folder, with its words.
func narrows(e approval.Entry, s approval.Segment) bool {
	if s.Program == nil || e.Pattern != s.Program.File.Path && e.Pattern != s.Program.Link || len(s.Findings) > 0 {
		return false
	}
	args := s.Argv[1:]
	if len(e.Args) > len(args) || !slices.Equal(e.Args, args[:len(e.Args)]) || e.ArgsExact && len(e.Args) != len(args) {
		return false
	}
	return e.Cwd == "" || s.Dir == e.Cwd || strings.HasPrefix(s.Dir, e.Cwd+"/")
}

func entriesText(list []approval.Entry) string {
	text, err := json.Marshal(list)
	if err != nil {
		return fmt.Sprint(list)
	}
	return string(text)
}
