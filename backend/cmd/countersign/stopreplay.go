package main

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/policy"
	"github.com/countersign-app/countersign/backend/starts"
)

// blockSize is how many commands of a person are one block.
const blockSize = 50

// Caps of what is said of causes and suggestions.
const (
	topCauses      = 15
	maxSuggestions = 10
	// maxPrepared bounds the policies that are held prepared: those of a list with many
	// projects have ten thousands of entries.
	maxPrepared = 24
	// tried are the suggestions that are judged against the whole list.
	tried = 40
)

// stopCounts count the commands of a group. Commands that ask and have no offer
// are questions that nobody can end.
type stopCounts struct {
	Commands int `json:"commands"`
	Asked    int `json:"asked"`
	Denied   int `json:"denied"`
	NoOffer  int `json:"noOffer"`
}

// cause is a reason or a program, and the commands that it stops.
type cause struct {
	Name  string `json:"name"`
	Stops int    `json:"stops"`
}

// suggestion is what one answer would write, and the stops that it would save.
type suggestion struct {
	Entries []approval.Entry `json:"entries"`
	Saves   int              `json:"saves"`
}

// passed is a command that a person should see and that passed unseen.
type passed struct {
	Person  string `json:"person,omitempty"`
	Command string `json:"command"`
	By      string `json:"by"`
	Answers int    `json:"answers"` // given before it
}

// stopsResult is what policy stops prints.
type stopsResult struct {
	All         stopCounts            `json:"all"`
	Labels      map[string]stopCounts `json:"labels,omitempty"`
	Reasons     []cause               `json:"reasons"`
	Programs    []cause               `json:"programs"`
	NoOffer     []cause               `json:"noOffer"`
	Suggestions []suggestion          `json:"suggestions,omitempty"`
	// Blocks are the first 50 commands of each person, the next 50 and so on.
	Blocks []stopCounts `json:"blocks"`
	Passed []passed     `json:"passed,omitempty"`
}

// replayed is a command of a list with its plan on its machine.
type replayed struct {
	listed
	bench *bench
	plan  approval.Plan
}

// stopReplay judges a list in order.
type stopReplay struct {
	policies func(agent string, b *bench) (approval.Policy, error)
	answers  bool                        // each question is answered, and the answer kept
	held     map[string]approval.Policy  // of each agent and machine
	rules    map[string]*policy.Rules    // prepared ones, by what they are made of
	given    map[string][]approval.Entry // what answers wrote, of each list of entries
	allowed  map[string][]*replayed      // the commands that were allowed by them
	made     map[string][]approval.Entry // of each start in each project
	place    map[string]int              // how many commands of a person came before
	result   stopsResult

	reasons, programs, noOffer map[string]int
}

func newReplay(policies func(string, *bench) (approval.Policy, error), answers bool) *stopReplay {
	return &stopReplay{
		policies: policies, answers: answers, held: map[string]approval.Policy{}, rules: map[string]*policy.Rules{}, given: map[string][]approval.Entry{}, allowed: map[string][]*replayed{}, made: map[string][]approval.Entry{}, place: map[string]int{},
		result: stopsResult{Labels: map[string]stopCounts{}}, reasons: map[string]int{}, programs: map[string]int{}, noOffer: map[string]int{},
	}
}

// done is what was counted.
func (s *stopReplay) done() stopsResult {
	s.result.Reasons, s.result.Programs, s.result.NoOffer = top(s.reasons), top(s.programs), top(s.noOffer)
	return s.result
}

// run judges one command, and answers its question where it should.
func (s *stopReplay) run(c *replayed) error {
	whose := c.whose()
	rules, err := s.rulesOf(c, c.Person, s.given[whose])
	if err != nil {
		return err
	}
	j := c.judge(rules)
	s.count(c, j)
	if !s.answers || j.Verdict != approval.VerdictAsk || c.Label == labelPerson {
		return nil
	}
	writes, err := s.answer(c, j)
	s.given[whose] = append(s.given[whose], writes...)
	s.allowed[whose] = append(s.allowed[whose], c)
	delete(s.rules, c.rules(c.Person))
	return err
}

// whose names the list of entries that the answers to a command go into: they count
// for one agent of a person.
func (c *replayed) whose() string { return c.Person + "\x00" + c.Agent }

// answer is what the answer to a question writes: what is chosen when the panel shows
// the ways to remember it.
func (s *stopReplay) answer(c *replayed, j approval.Judgement) ([]approval.Entry, error) {
	if len(j.Offers) == 0 {
		return nil, nil
	}
	whole, err := s.start(c)
	if err != nil || whole != nil {
		return whole, err
	}
	o := suggested(j.Offers)
	return o.Entries(o.Here), nil
}

// start are the entries of the start that the panel suggests for a question
// (host.StartFor), nil for none. The folder of a session counts as a project that the
// person named.
func (s *stopReplay) start(c *replayed) ([]approval.Entry, error) {
	at := c.plan.Folder.Path
	if at == "" {
		return nil, nil
	}
	for _, start := range starts.ForQuestions {
		name := string(start) + " " + at
		made := s.made[c.World+name]
		if made == nil {
			made = start.Make(at, c.bench.program).Entries
			s.made[c.World+name] = made
		}
		with, err := s.prepare(c, slices.Concat(s.given[c.whose()], made))
		if err != nil {
			return nil, err
		}
		if c.judge(with).Verdict != approval.VerdictAllow {
			continue
		}
		alone, err := s.rulesOf(c, name, made)
		if err != nil {
			return nil, err
		}
		yes := 0
		for _, before := range s.allowed[c.whose()] {
			yes += number(before.World == c.World && before.judge(alone).Verdict == approval.VerdictAllow)
		}
		if yes >= starts.Enough {
			return made, nil
		}
		return nil, nil
	}
	return nil, nil
}

func (c *replayed) judge(rules *policy.Rules) approval.Judgement {
	return c.bench.judged(rules, policy.Input{Plan: &c.plan, Who: c.Who, SessionKey: c.Session})
}

// suggested is the offer that the panel has chosen already.
func suggested(offers []approval.Offer) approval.Offer {
	return offers[max(0, slices.IndexFunc(offers, func(o approval.Offer) bool { return o.Suggested }))]
}

// rulesOf are those of an agent on a machine with more entries, which name stands
// for, prepared once.
func (s *stopReplay) rulesOf(c *replayed, name string, more []approval.Entry) (rules *policy.Rules, err error) {
	key := c.rules(name)
	if s.rules[key] == nil {
		if len(s.rules) >= maxPrepared {
			clear(s.rules)
		}
		if s.rules[key], err = s.prepare(c, more); err != nil {
			return nil, err
		}
	}
	return s.rules[key], nil
}

func (c *replayed) rules(name string) string { return c.Agent + "\x00" + c.World + "\x00" + name }

func (s *stopReplay) prepare(c *replayed, more []approval.Entry) (*policy.Rules, error) {
	whose := c.Agent + "\x00" + c.World
	held, known := s.held[whose]
	if !known {
		var err error
		if held, err = s.policies(c.Agent, c.bench); err != nil {
			return nil, err
		}
		s.held[whose] = held
	}
	return c.bench.prepare(held.Listing(slices.Concat(held.Allowlist, more))), nil
}

func (s *stopReplay) count(c *replayed, j approval.Judgement) {
	r := &s.result
	asks, denied := j.Verdict == approval.VerdictAsk, j.Verdict == approval.VerdictDeny
	noOffer := asks && (len(j.Writes) == 0 || len(j.StillAsks) > 0) // no answer ends this question
	add := func(n *stopCounts) {
		n.Commands++
		n.Asked += number(asks)
		n.Denied += number(denied)
		n.NoOffer += number(noOffer)
	}
	add(&r.All)
	block := s.place[c.Person] / blockSize
	s.place[c.Person]++
	for len(r.Blocks) <= block {
		r.Blocks = append(r.Blocks, stopCounts{})
	}
	add(&r.Blocks[block])
	if c.Label != "" {
		n := r.Labels[c.Label]
		add(&n)
		r.Labels[c.Label] = n
	}
	if c.Label == labelPerson && j.Verdict == approval.VerdictAllow {
		r.Passed = append(r.Passed, passed{c.Person, c.Command, because(j), len(s.given[c.whose()])})
	}
	if !asks && !denied {
		return
	}
	reasons, programs := map[string]bool{string(j.Reason): true}, map[string]bool{}
	for i, part := range j.Segments {
		if part.Verdict == approval.VerdictAllow {
			continue
		}
		reasons[string(part.Reason)] = true
		programs[programOf(&c.plan.Segments[i])] = true
	}
	for name := range reasons {
		s.reasons[name]++
	}
	for name := range programs {
		s.programs[name]++
	}
	if noOffer {
		s.noOffer[string(j.Reason)+" "+strings.Join(slices.Sorted(maps.Keys(programs)), " ")]++
	}
}

func number(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// programOf names what a segment starts, as people call it.
func programOf(s *approval.Segment) string {
	switch {
	case s.Builtin != "":
		return s.Builtin
	case len(s.Argv) > 0 && s.Argv[0] != "":
		return path.Base(s.Argv[0])
	}
	return "(known at run time)"
}

// suggest finds the answers that would save most stops, each tried on all
// commands that ask; none under which a command passes that a person should see.
func (s *stopReplay) suggest(ctx context.Context, list []*replayed) error {
	offered, times := map[string][]approval.Entry{}, map[string]int{}
	var asks []*replayed
	for _, c := range list {
		rules, err := s.rulesOf(c, "", nil)
		if err != nil {
			return err
		}
		j := c.judge(rules)
		if j.Verdict != approval.VerdictAsk {
			continue
		}
		if asks = append(asks, c); c.Label == labelPerson {
			continue
		}
		for _, o := range j.Offers {
			key, _ := json.Marshal(o.Writes)
			offered[string(key)] = o.Writes
			times[string(key)]++
		}
	}
	keys := slices.SortedFunc(maps.Keys(offered), func(a, b string) int {
		return cmp.Or(times[b]-times[a], cmp.Compare(a, b))
	})
	for _, key := range keys[:min(len(keys), tried)] {
		if err := ctx.Err(); err != nil {
			return err
		}
		saves, harms := 0, false
		for _, c := range asks {
			rules, err := s.rulesOf(c, key, offered[key])
			if err != nil {
				return err
			}
			passes := c.judge(rules).Verdict == approval.VerdictAllow
			harms = harms || passes && c.Label == labelPerson
			saves += number(passes)
		}
		if !harms {
			s.result.Suggestions = append(s.result.Suggestions, suggestion{offered[key], saves})
		}
	}
	slices.SortStableFunc(s.result.Suggestions, func(a, b suggestion) int { return b.Saves - a.Saves })
	s.result.Suggestions = s.result.Suggestions[:min(len(s.result.Suggestions), maxSuggestions)]
	return nil
}

// top are the causes of most stops.
func top(counts map[string]int) []cause {
	list := []cause{}
	for name, n := range counts {
		list = append(list, cause{name, n})
	}
	slices.SortFunc(list, func(a, b cause) int { return cmp.Or(b.Stops-a.Stops, cmp.Compare(a.Name, b.Name)) })
	return list[:min(len(list), topCauses)]
}
