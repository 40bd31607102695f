package command

import (
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/envnames"
)

// reaches judges a variable that a program is given. It returns it
// where an entry may carry it, nothing for one that is harmless, and a reason to ask
// or to refuse where no entry counts.
func reaches(name, value string, known bool) ([]approval.Variable, approval.Finding) {
	class := envnames.Requested(name)
	switch {
	case known && envnames.Harmless(name, value):
		return nil, approval.Finding{}
	case envnames.StripInherited(name):
		return nil, finding(approval.ReasonEnvRefused, "it sets %s, which no text may: it %s", name, why(name))
	case class == envnames.Malformed, class == envnames.Fixed, ofShell()[name], strings.ContainsFunc(value, unicode.IsControl):
		return nil, sets(name)
	}
	return []approval.Variable{{Name: name, Value: value, Unknown: !known}}, approval.Finding{}
}

// sets is the reason to ask about a variable.
func sets(name string) approval.Finding {
	if steers := envnames.Steers(name); steers != "" {
		return finding(approval.ReasonEnvAsks, "it sets %s (%s)", name, steers)
	}
	return finding(approval.ReasonEnvAsks, "it sets %s", name)
}

// why says what a loader or a start-up name of a shell does.
func why(name string) string {
	if envnames.OfShell(name) {
		return "says what a shell runs, or how it reads"
	}
	return "loads code into programs"
}

// inherits reports whether programs get a variable of this name from the login
// environment or from the request. Where nobody knows the first, they may get any
// name that steers something, but none that each environment is rid of.
func (j *job) inherits(name string) bool {
	if envnames.StripInherited(name) {
		return false
	}
	if _, asked := j.requested[name]; asked {
		return true
	}
	if j.Inherited != nil {
		return j.Inherited(name)
	}
	return envnames.Requested(name) != envnames.Other || envnames.MayBeHarmless(name)
}

// maxVariables bounds what reaches programs and is not harmless: each is compared
// with each.
const maxVariables = 100

// meaning reports whether a shell itself does something by a variable.
func meaning(name string) bool {
	return ofShell()[name] || envnames.OfShell(name) || envnames.StripInherited(name) || envnames.Requested(name) == envnames.Fixed
}

// given takes down a variable that the text gives a value: every program that it
// starts from there on may get it, if it is exported anywhere or inherited. It
// reports false, and asks, where it may not be set.
func (t *textJob) given(name, value string, known bool) bool {
	if !t.exported[name] && !t.inherits(name) {
		if meaning(name) {
			t.tell(sets(name))
		}
		return !meaning(name)
	}
	return t.reach(name, value, known)
}

// reach does the same of one that surely reaches programs.
func (t *textJob) reach(name, value string, known bool) bool {
	if len(t.sets) >= maxVariables || !t.spend(1) {
		t.complex("it sets more than %d variables", maxVariables)
		return false
	}
	list, why := reaches(name, value, known)
	if why.Reason == "" && !known {
		t.known(name)
		why = finding(approval.ReasonRuntimeValue, "what %s is set to is known only when it runs", name)
	}
	if why.Reason != "" {
		t.tell(why)
		return false
	}
	t.env, t.sets = appendNew(t.env, list), append(t.sets, list...)
	return true
}

// known asks about a variable of which it is known what it steers, whatever its
// value is. It reports false then.
func (t *textJob) known(name string) bool {
	_, why := reaches(name, "", false)
	switch {
	case why.Reason != "":
		t.tell(why)
	case envnames.Requested(name) != envnames.Other || envnames.MayBeHarmless(name):
		t.tell(sets(name))
	default:
		return true
	}
	return false
}

// before judges the variables that stand before a command. Those before a builtin
// reach no program.
func (t *textJob) before(seg *approval.Segment, list []approval.Assign) (ok bool) {
	ok = true
	for _, a := range list {
		if seg.Builtin == "read" && a.Name == "IFS" && literal(a.Value) && textOf(a.Value) == "" {
			continue // it then reads a line as it stands
		}
		if seg.Program == nil && (seg.Builtin != "" || otherBuiltins()[first(seg.Argv)]) {
			if meaning(a.Name) {
				t.tell(sets(a.Name))
				ok = false
			}
			continue
		}
		if a.Search != nil {
			continue // what is found in it is judged
		}
		if !literal(a.Value) { // which is found elsewhere
			ok = t.known(a.Name) && ok
			continue
		}
		own := t.env
		if ok = t.reach(a.Name, textOf(a.Value), true) && ok; ok {
			seg.Env = appendNew(seg.Env, t.env[len(own):])
		}
		t.env = own
	}
	return ok
}

// again tells that what stands from a place in the text on is done more than once:
// what it sets reaches the programs before it too, and what it starts in the background
// may still run when they do.
func (t *textJob) again(from, had int) {
	for i := from; i < len(t.plan.Segments) && had < len(t.env) && t.spend(1); i++ {
		t.plan.Segments[i].Env = appendNew(t.plan.Segments[i].Env, t.env[had:])
	}
	for i := range t.background {
		if b := &t.background[i]; b.from >= from {
			b.since, b.again = min(b.since, from), true
		}
	}
}

// inside begins a subshell: what is set from then on is kept from the programs that
// start after the returned function was called, and no loop around it is left.
func (t *textJob) inside() (leave func()) {
	had, loops, added := slices.Clip(t.env), t.loops, t.added
	t.env, t.loops = had, nil
	return func() { t.env, t.loops, t.added = had, loops, added }
}

// tell marks the whole plan with a reason, once.
func (j *job) tell(f approval.Finding) {
	if !slices.Contains(j.plan.Findings, f) {
		j.plan.Findings = append(j.plan.Findings, f)
	}
}

// appendNew appends what is not there yet.
func appendNew(list, more []approval.Variable) []approval.Variable {
	list = slices.Clip(list)
	for _, v := range more {
		if !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	return list
}

// exports takes down the names that a piece of a text exports, and refuses what may
// be set nowhere in it, also where it is not understood: loaders, and start-up
// names of shells for a program.
func (t *textJob) exports(n syntax.Node) {
	refuse := func(list []*syntax.Assign, started bool) {
		for _, a := range list {
			if a.Name != nil && !a.Naked && envnames.StripInherited(a.Name.Value) && (started || !envnames.OfShell(a.Name.Value)) {
				_, why := reaches(a.Name.Value, "", false)
				t.tell(why)
			}
		}
	}
	switch n := n.(type) {
	case *syntax.DeclClause:
		for _, a := range n.Args {
			if a.Name != nil {
				t.exported[a.Name.Value] = true
			}
		}
		refuse(n.Args, n.Variant.Value == "export")
	case *syntax.CallExpr:
		started := len(n.Args) > 0
		if started {
			name := n.Args[0].Lit()
			started = !ownBuiltins()[name] && !otherBuiltins()[name]
			if list, ok := exports(n); ok {
				for _, a := range list {
					t.exported[a.Name.Value] = true
				}
				refuse(list, true)
			}
		}
		refuse(n.Assigns, started)
	case *syntax.ParamExp:
		if a := assigned(n); a != nil {
			refuse([]*syntax.Assign{a}, false)
		}
	}
}

// setsOnly asks about what steers programs where the text gives it a value and then
// starts none: nobody would be told of it.
func (t *textJob) setsOnly() {
	for _, v := range t.sets {
		started := func(s approval.Segment) bool { return s.Program != nil && s.Builtin == "" && slices.Contains(s.Env, v) }
		if envnames.Requested(v.Name) != envnames.Other && !slices.ContainsFunc(t.plan.Segments, started) {
			t.tell(sets(v.Name))
		}
	}
}
