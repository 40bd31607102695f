package command

import (
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// A word that only the run can tell is often one of a few that the text holds: the
// names that a loop goes through, a number, a name that was put together. A command
// is tried with each of them, and where each would only read, build or test, it asks no
// more than these do. What the word becomes is judged again before the start in any case.

// maxTried bounds how many commands one is tried as, and maxTries all of a text.
const (
	maxTried = 64
	maxTries = 256
)

// tells returns all values that a word may have, where the text holds them: a word
// that is not parted, or has nothing to part it by.
func (t *textJob) tells(parts approval.Word, dir string) (values []string, ok bool) {
	values = []string{""}
	for _, p := range parts {
		var maybe []string
		switch p.Kind {
		case approval.PartText:
			maybe = []string{p.Text}
		case approval.PartSum:
			maybe = []string{"1"} // as any number
		case approval.PartVar:
			if maybe, ok = t.holdings(p, dir); !ok {
				return nil, false
			}
			if !p.Quoted && slices.ContainsFunc(maybe, func(v string) bool { return v == "" || strings.ContainsAny(v, " \t\n*?[\\") }) {
				return nil, false
			}
		default:
			return nil, false
		}
		if len(values)*len(maybe) > maxTried || !t.spend(1) {
			return nil, false
		}
		var next []string
		for _, v := range values {
			for _, m := range maybe {
				if len(v)+len(m) > maxValue {
					return nil, false
				}
				next = append(next, v+m)
			}
		}
		values = next
	}
	return values, len(values) > 0
}

// holdings returns all values that a variable may have, and what a form makes of them.
func (t *textJob) holdings(p approval.Part, dir string) ([]string, bool) {
	if p.Text == "?" {
		return []string{"0"}, true
	}
	if p.Text == "!" {
		return []string{"1"}, true // as any number
	}
	values, ok := t.values[p.Text], !t.lost[p.Text] && len(t.samples[p.Text]) == 0
	if approval.Positional(p.Text) > 0 && !t.setsWords {
		values = []string{""}
	}
	if p.Form != nil && p.Form.Op == approval.FormLength {
		return []string{"1"}, true
	}
	unset := len(values) == 0 && ok && !t.inherits(p.Text)
	if p.Form != nil {
		switch p.Form.Op {
		case approval.FormElse, approval.FormThen, approval.FormSet:
			instead, fine := t.tells(p.Form.Word, dir)
			if p.Form.Op != approval.FormThen {
				instead = append(instead, values...)
			}
			return instead, ok && fine && (len(values) > 0 || unset)
		}
		made := t.formed(p.Form, values, dir)
		return made, ok && len(made) == len(values) && len(values) > 0
	}
	return values, ok && len(values) > 0
}

// gives takes down what a variable may be given by parts of a text.
func (t *textJob) gives(name string, parts approval.Word, dir string) {
	to := t.values
	values, ok := t.tells(parts, dir)
	if !ok {
		to = t.samples
		values, ok = t.like(parts)
	}
	t.lost[name] = t.lost[name] || !ok
	for _, value := range values {
		t.note(to, name, value)
	}
}

// note adds a value to those that a variable may have. Where there are too many, not all are
// known.
func (t *textJob) note(to map[string][]string, name, value string) {
	switch {
	case slices.Contains(to[name], value):
	case len(to[name]) < maxTried:
		to[name] = append(to[name], value)
	default:
		t.lost[name] = true
	}
}

// tried judges a command by all that it may be, or by what is like it, where its words
// are known so far and each of them would only read, build or test. Of any other it says
// nothing.
func (t *textJob) tried(seg *approval.Segment) {
	if len(seg.Open) == 0 || seg.Open[0].At == 0 || seg.Program == nil || !seg.Profiled || seg.Floor != "" || seg.Ours || len(seg.Findings) == 0 || len(seg.Assigns) > 0 || !goesOn(seg.Redirects) {
		return
	}
	list := [][]string{seg.Argv}
	for _, open := range seg.Open {
		if !open.Like && (open.Many || !open.Known) || len(list)*len(open.Maybe) > maxTried {
			return
		}
		var next [][]string
		for _, argv := range list {
			for _, value := range open.Maybe {
				one := slices.Clone(argv)
				one[open.At] = value
				next = append(next, one)
			}
		}
		list = next
	}
	if t.tries += len(list); t.tries > maxTries {
		return
	}
	walks, looked, effects := seg.Walks, seg.Looked, slices.Clone(seg.Effects)
	var asks []approval.Finding // of which each is for an entry to cover
	like := slices.ContainsFunc(seg.Open, func(o approval.Open) bool { return o.Like })
	for _, argv := range list {
		if !t.spend(len(argv)) || !t.bytes(bytesOf(argv)) {
			return
		}
		one := approval.Segment{Start: seg.Start, End: seg.End, Argv: argv, Dir: seg.Dir, Env: seg.Env, Search: seg.Search, Made: seg.Made}
		t.shellWord(&one)
		if !one.Program.Same(seg.Program) || !t.onlyReads(&one) || like && len(one.Findings) > 0 {
			return
		}
		for _, f := range one.Findings {
			if !slices.Contains(asks, f) {
				asks = append(asks, f)
			}
		}
		walks, looked, effects = walks || one.Walks, looked || one.Looked, append(effects, one.Effects...)
	}
	slices.Sort(effects)
	seg.Findings, seg.Walks, seg.Looked, seg.Effects = asks, walks, looked, slices.Compact(effects)
}

// onlyAsks reports whether a command asks a host that is known, and sends it nothing.
func onlyAsks(f approval.Finding) bool {
	return f.Reason == approval.ReasonNetwork && f.Allowed == approval.AllowNetworkReads && f.Value != ""
}

// isReading reports whether a command is one of those that only read, whatever options
// stand before its name.
func isReading(seg *approval.Segment) bool {
	return OnlyReads(append([]string{path.Base(seg.Argv[0])}, seg.Argv[max(1, seg.Command):]...))
}

// isWorking reports the same of those that build, test and check a project, and run no job
// that a word names (make deploy) and store nothing (git add).
func isWorking(seg *approval.Segment) bool {
	argv := append([]string{path.Base(seg.Argv[0])}, seg.Argv[max(1, seg.Command):]...)
	return argv[0] != "git" && slices.ContainsFunc(workTools(), func(t Tool) bool { return t.ArgPattern == "" && t.begins(argv) })
}

// goesOn reports whether redirections open no file but /dev/null.
func goesOn(list []approval.Redirect) bool {
	return !slices.ContainsFunc(list, func(r approval.Redirect) bool { return r.To < approval.ToNull })
}

// onlyReads reports whether a command that was judged changes nothing but what a build or
// a test does, asks nothing but hosts, and starts nothing but what the project names for
// a command that reads (git diff), builds or tests.
func (t *textJob) onlyReads(seg *approval.Segment) bool {
	asks := slices.ContainsFunc(seg.Findings, func(f approval.Finding) bool { return !onlyAsks(f) })
	if asks || seg.Floor != "" || !seg.Profiled || seg.FromFile || seg.Asks || len(seg.Code)+len(seg.Targets) > 0 ||
		slices.ContainsFunc(seg.Effects, func(e approval.Effect) bool {
			return e != approval.EffectNetwork && !(e == approval.EffectProject && (isReading(seg) || isWorking(seg)))
		}) {
		return false
	}
	read := t.profiled(seg)
	return read != nil && len(read.commands)+len(read.sets) == 0
}
