package toolpolicy

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/glob"
)

// Rules are what holds for the tools of one agent, read once. They are
// immutable, so many may judge by them at once.
type Rules struct {
	layers  []layer
	entries []entry
	denied  []approval.DenyRule
	// ofCommands is told by OfCommands.
	ofCommands bool
}

type layer struct {
	approval.ToolLayer
	rules []rule
}

// rule is a rule of a layer with its patterns read.
type rule struct {
	name string
	approval.ToolRule
	paths []glob.Pattern
	args  map[string]*regexp.Regexp
}

// entry is an entry for a tool with its patterns read.
type entry struct {
	approval.Entry
	name string
	cwd  *glob.Pattern
}

// Prepare reads the patterns of a policy. A pattern that cannot be read matches
// nothing in an entry; in a layer it makes the rule refuse all that it names.
func Prepare(p approval.Policy, home string) *Rules {
	r := &Rules{}
	for _, l := range p.Tools {
		one := layer{ToolLayer: l}
		for name, said := range l.Rules {
			one.rules = append(one.rules, prepareRule(name, said, home))
		}
		slices.SortFunc(one.rules, func(a, b rule) int { return strings.Compare(a.name, b.name) })
		r.layers = append(r.layers, one)
	}
	for _, e := range p.Allowlist {
		if name, ok := approval.ToolPattern(e.Pattern); ok && !e.Disabled {
			r.addEntry(e, name, home)
		}
	}
	for _, d := range p.Denylist {
		if name, ok := approval.ToolPattern(d.Pattern); ok {
			d.Pattern = name
			r.denied = append(r.denied, d)
		}
	}
	r.ofCommands = r.saysOfCommands()
	return r
}

func prepareRule(name string, said approval.ToolRule, home string) rule {
	one := rule{name: name, ToolRule: said, args: map[string]*regexp.Regexp{}}
	for _, text := range said.PathRestrictions {
		pattern, err := glob.Parse(text, home)
		if err != nil {
			one.Security = approval.SecurityDeny
		}
		one.paths = append(one.paths, pattern)
		if below, err := glob.Parse(strings.TrimSuffix(text, "/")+"/**", home); err == nil && !strings.HasSuffix(text, "**") {
			one.paths = append(one.paths, below)
		}
	}
	for arg, want := range said.ArgRestrictions {
		if want.Pattern == "" {
			continue
		}
		pattern, err := regexp.Compile(`\A(?:` + want.Pattern + `)\z`)
		if err != nil {
			one.Security = approval.SecurityDeny
		}
		one.args[arg] = pattern
	}
	return one
}

func (r *Rules) addEntry(e approval.Entry, name, home string) {
	one := entry{Entry: e, name: name}
	if e.Cwd != "" {
		cwd, err := glob.Parse(e.Cwd, home)
		if err != nil {
			return
		}
		one.cwd = &cwd
	}
	r.entries = append(r.entries, one)
}

// covers reports whether an entry lets a call pass, leaving aside how long it
// holds. A file that it does not name must lie in the session's folder, and an
// address that it does not name be public, where it names anything.
func (e *entry) covers(in Input) bool {
	t := in.Tool
	switch {
	case !names(e.name, t):
		return false
	case e.SessionKey != "" && e.SessionKey != in.SessionKey:
		return false
	case e.cwd != nil && !below(*e.cwd, in.Cwd):
		return false
	case e.ArgsExact && slices.ContainsFunc(in.Args, func(a Arg) bool { _, said := e.When[a.Name]; return !said }):
		return false
	}
	for key, pattern := range e.When {
		if !in.argIs(key, pattern, e.ArgsExact) {
			return false
		}
	}
	if t.Server != "" {
		return true
	}
	if len(e.When) > 0 && slices.ContainsFunc(t.Addresses, func(a approval.ToolAddress) bool { return a.Why != "" && !named(a.Arg, e.When) }) {
		return false
	}
	return !slices.ContainsFunc(t.Files, func(f approval.ToolFile) bool { return !f.Inside && !named(f.Arg, e.When) })
}

// below reports whether a folder, or one above it, is what a pattern stands for.
func below(pattern glob.Pattern, dir string) bool {
	for ; strings.HasPrefix(dir, "/"); dir = path.Dir(dir) {
		if pattern.Match(dir) {
			return true
		}
		if dir == "/" {
			return false
		}
	}
	return false
}

// argIs reports whether an argument is there and all of it, and what could be
// taken for it in another case, is what a pattern stands for: a file by where it
// really lies, an address in its two parts, anything else by its text.
func (in Input) argIs(key, pattern string, exact bool) bool {
	found := false
	for _, a := range in.Args {
		if !strings.EqualFold(a.Name, key) && !foldPrefix(a.Name, key+".") {
			continue
		}
		found = found || strings.HasPrefix(a.Name, key)
		file := false
		for _, f := range in.Tool.Files { // one for each way to read its name
			if f.Arg != a.Name {
				continue
			}
			file = true
			if p, err := glob.Parse(pattern, ""); err != nil || !p.Match(f.Real) {
				return false
			}
		}
		if !file && !in.textIs(a, pattern, exact) {
			return false
		}
	}
	return found
}

func (in Input) textIs(a Arg, pattern string, exact bool) bool {
	switch {
	case pattern == "*":
		return true
	case a.leftOut(), strings.Contains(pattern, "*") && goesUp(a.Value):
		return false
	case slices.ContainsFunc(in.Tool.Addresses, func(at approval.ToolAddress) bool { return at.Arg == a.Name }):
		return addressIs(pattern, a.Value)
	case exact:
		return wild(pattern, a.exact())
	}
	return wild(pattern, a.Value)
}

// goesUp reports whether a text has ".." for a part of a path: what it leads to
// is not what a pattern with * means.
func goesUp(text string) bool { return slices.Contains(strings.Split(text, "/"), "..") }

// over reports whether a lease of an entry is over for a call.
func (e *entry) over(in Input) bool {
	return e.Ended(in.Now) && (e.Ends() != 0 && in.Now.UnixMilli() >= e.Ends() || !slices.Contains(in.Paid, e.ID))
}

// Input is everything that one judgement looks at beside the rules.
type Input struct {
	Tool *approval.Tool
	// Args are the arguments that are no objects or lists, in the order of their
	// names.
	Args []Arg
	// Cwd is the real folder of the session.
	Cwd        string
	SessionKey string
	Now        time.Time
	// Paid are the ids of entries of which this call has used up one use.
	Paid []string
}

// Arg is one value of the arguments by its dotted name. Text tells that it is a
// text, and not a number, say, that is written like it.
type Arg struct {
	Name, Value string
	Text        bool
}

// exact is the value as no other one is written: programs take the text "false"
// for something else than false.
func (a Arg) exact() string {
	if quoted, err := json.Marshal(a.Value); err == nil && a.Text && json.Valid([]byte(a.Value)) {
		return string(quoted)
	}
	return a.Value
}

// leftOut reports whether the value stands for a long text that a hook left out.
func (a Arg) leftOut() bool { return strings.Contains(a.Name, "."+approval.Elided+".") }

// named reports whether rules say something of an argument or of what holds it.
func named(arg string, when map[string]string) bool {
	for key := range when {
		if arg == key || strings.HasPrefix(arg, key+".") {
			return true
		}
	}
	return false
}

// refuses says why a rule of a layer refuses a call, "" where it does not.
func (r *rule) refuses(in Input) string {
	if r.Security == approval.SecurityDeny {
		return "is denied"
	}
	if len(r.paths) > 0 && len(in.Tool.Files) == 0 && in.Tool.Category == approval.CategoryUnset { // it may call a path anything
		return "names no file that can be told, and only some are allowed"
	}
	for _, f := range in.Tool.Files {
		if len(r.paths) > 0 && !slices.ContainsFunc(r.paths, func(p glob.Pattern) bool { return p.Match(f.Real) }) {
			return "may not be told " + path.Clean(f.Path)
		}
	}
	for arg, want := range r.ArgRestrictions {
		if why := refusesArg(arg, want, r.args[arg], in); why != "" {
			return why
		}
	}
	return ""
}

func refusesArg(arg string, want approval.ArgRule, pattern *regexp.Regexp, in Input) string {
	found := false
	for _, a := range in.Args {
		if !strings.EqualFold(a.Name, arg) && !foldPrefix(a.Name, arg+".") {
			continue
		}
		found = true
		switch {
		case a.leftOut() && (pattern != nil || len(want.OneOf) > 0 || want.MaxLength > 0):
			return "may not be told a " + arg + " that is too long to be looked at"
		case want.Forbidden:
			return "may not be told " + arg
		case want.MaxLength > 0 && len(a.Value) > want.MaxLength:
			return fmt.Sprintf("may be told a %s of at most %d bytes", arg, want.MaxLength)
		case pattern != nil && !pattern.MatchString(a.Value), len(want.OneOf) > 0 && !slices.Contains(want.OneOf, a.Value):
			return "may not be told this " + arg
		}
	}
	if want.Required && !found {
		return "needs " + arg
	}
	return ""
}

// foldPrefix reports whether a name begins like this, in any case: many servers
// read the names of arguments so.
func foldPrefix(name, prefix string) bool {
	return len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix)
}
