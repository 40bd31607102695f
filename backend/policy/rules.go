package policy

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/glob"
)

// Rules are the policy of one agent, prepared for many judgements. They are
// never changed after Prepare and may be used by many at once.
type Rules struct {
	policy  approval.Policy
	literal map[string][]*rule // entries without a wildcard, by path
	// argPatterns are the patterns of arguments, by their text.
	argPatterns map[string]*regexp.Regexp
	patterns    ruleSet
	bare        ruleSet
	any         []*rule // entries for every program
	denied      denyRules
	confirm     denyRules // what a person is asked about each time
	safeBins    map[string]bool
	trusted     map[string]bool
}

// denyRules are deny rules with an index of their patterns.
type denyRules struct {
	list  []denyRule
	index *glob.Index
	words bool // one of them names arguments
}

// rule is an entry with its patterns read.
type rule struct {
	approval.Entry
	pattern glob.Pattern
	cwd     []glob.Pattern // one of them; none for every folder
	args    *regexp.Regexp
	// at is the pattern, if it holds no wildcard and is a path.
	at string
	// target is where a literal pattern led when it was prepared, if it is a
	// link and no identity was recorded with it.
	target string
}

// ruleSet are rules with an index of their patterns.
type ruleSet struct {
	rules []*rule
	index *glob.Index
}

func (s *ruleSet) prepare() {
	patterns := make([]glob.Pattern, len(s.rules))
	for i, one := range s.rules {
		patterns[i] = one.pattern
	}
	s.index = glob.NewIndex(patterns)
}

// hits collects positions of an index, each once, in order.
type hits []int

func (h *hits) add(i int) bool {
	*h = append(*h, i)
	return true
}

func (h hits) sorted() []int {
	slices.Sort(h)
	return slices.Compact(h)
}

type denyRule struct {
	approval.DenyRule
	pattern glob.Pattern
}

// neverSafe can start programs or read files by their arguments: configured
// as a safe bin they are ignored.
var neverSafe = map[string]bool{"jq": true, "awk": true, "gawk": true, "mawk": true, "sed": true, "env": true, "find": true}

// NeverSafe reports whether a program of this name is no safe bin, whatever the
// policy file says.
func NeverSafe(name string) bool { return neverSafe[name] }

// Prepare reads the patterns of a policy. real follows the links of a path
// and returns "" where there is nothing; it is asked only here, for the
// folders of patterns and for patterns that are links themselves. A pattern
// that cannot be read matches nothing as an entry; as a deny rule it breaks
// the policy, because it might have denied anything.
func Prepare(p approval.Policy, home string, real func(string) string) *Rules {
	r := &Rules{policy: p, literal: map[string][]*rule{}, argPatterns: map[string]*regexp.Regexp{}, safeBins: map[string]bool{}, trusted: map[string]bool{"/bin": true, "/usr/bin": true}}
	for _, e := range p.Allowlist {
		if _, tool := approval.ToolPattern(e.Pattern); !tool { // those are for package toolpolicy
			r.add(e, home, real)
		}
	}
	r.patterns.prepare()
	r.bare.prepare()
	r.denied = r.prepareDenied(p.Denylist, home, real)
	r.confirm = r.prepareDenied(p.Confirm, home, real)
	for _, name := range p.SafeBins {
		r.safeBins[name] = !neverSafe[name]
	}
	for _, dir := range p.SafeBinTrustedDirs {
		r.trusted[path.Clean(dir)] = true
	}
	return r
}

// prepareDenied reads the patterns of deny rules. One that cannot be read breaks
// the policy.
func (r *Rules) prepareDenied(rules []approval.DenyRule, home string, real func(string) string) denyRules {
	var set denyRules
	add := func(d approval.DenyRule, text string) {
		pattern, err := glob.Parse(text, home)
		if err != nil {
			r.policy.Broken = "deny rule " + d.Pattern + ": " + err.Error()
			return
		}
		set.list = append(set.list, denyRule{d, pattern})
		set.words = set.words || len(d.Args) > 0
	}
	for _, d := range rules {
		if _, tool := approval.ToolPattern(d.Pattern); tool { // for package toolpolicy
			continue
		}
		add(d, d.Pattern)
		followed := followFolder(d.Pattern, home, real)
		if followed != d.Pattern {
			add(d, followed)
		}
		// Nor is the program to run that a link leads to, as awk to mawk. One of
		// another name does other things under its own: reboot is systemctl.
		to := real(followed)
		if to != "" && to != followed && strings.Contains(path.Base(to), path.Base(followed)) && !strings.ContainsAny(to, `*?\`) {
			add(d, to)
		}
	}
	patterns := make([]glob.Pattern, len(set.list))
	for i, d := range set.list {
		patterns[i] = d.pattern
	}
	set.index = glob.NewIndex(patterns)
	return set
}

func (r *Rules) add(e approval.Entry, home string, real func(string) string) {
	pattern, err := glob.Parse(followFolder(e.Pattern, home, real), home)
	if err != nil || e.Disabled {
		return
	}
	one := &rule{Entry: e, pattern: pattern}
	for _, at := range r.foldersOf(e.Cwd, home) {
		cwd, err := glob.Parse(at, home)
		if err != nil {
			return
		}
		one.cwd = append(one.cwd, cwd)
	}
	if e.ArgPattern != "" {
		if one.args, err = r.compiled(e.ArgPattern); err != nil {
			return
		}
	}
	at, literal := pattern.Literal()
	switch {
	case pattern.Any():
		r.any = append(r.any, one)
	case pattern.Bare():
		r.bare.rules = append(r.bare.rules, one)
	case literal:
		if to := real(at); to != "" && to != at && len(e.Identity) == 0 {
			one.target = to
		}
		// An entry for a link means its target under the link's name only. Under
		// its own name, or that of another link, a program may be quite another one:
		// a tool chain's manager is cargo as cargo, and runs anything as itself.
		r.literal[at] = append(r.literal[at], one)
		one.at = at
	default:
		r.patterns.rules = append(r.patterns.rules, one)
	}
}

// compiled is a pattern of arguments. A start has the same ones for each project.
func (r *Rules) compiled(text string) (*regexp.Regexp, error) {
	if known := r.argPatterns[text]; known != nil {
		return known, nil
	}
	pattern, err := regexp.Compile(text)
	if err == nil {
		r.argPatterns[text] = pattern
	}
	return pattern, err
}

// foldersOf are those in which an entry for a folder counts: there, and in the same
// place of each project that the person said to be the same.
func (r *Rules) foldersOf(at, home string) (list []string) {
	if at == "" {
		return nil
	}
	list = []string{at}
	if at == "~" || strings.HasPrefix(at, "~/") {
		at = home + at[1:]
	}
	for _, p := range r.policy.Projects {
		if rest, inside := strings.CutPrefix(at+"/", p.SameAs+"/"); inside && p.SameAs != "" && !p.No && literalPattern(p.Path) {
			list = append(list, path.Clean(p.Path+"/"+rest))
		}
	}
	return list
}

// followFolder replaces the folders of a pattern, as far as they hold no
// wildcard, by the real folder: /bin is /usr/bin on many machines, and real
// paths are what is compared.
func followFolder(pattern, home string, real func(string) string) string {
	if pattern == "~" || strings.HasPrefix(pattern, "~/") {
		pattern = home + pattern[1:]
	}
	if !strings.HasPrefix(pattern, "/") || strings.Contains(pattern, `\`) {
		return pattern
	}
	dir := path.Dir(pattern)
	if i := strings.IndexAny(pattern, "*?"); i >= 0 {
		dir = pattern[:max(1, strings.LastIndexByte(pattern[:i], '/'))]
	}
	if to := real(dir); to != "" && dir != "/" && !strings.ContainsAny(to, `*?\`) {
		return to + strings.TrimPrefix(pattern, dir)
	}
	return pattern
}
