package command

import (
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/countersign-app/countersign/backend/approval"
)

// Some commands print one hash, one number or one name and nothing else. A command that
// is given what they print is tried with a value like it. Nobody trusts that it is one:
// what came out is judged again before that command starts, as any word would be that
// stands in the text.

// Values like those that are printed.
const (
	likeHash   = "0123456789abcdef0123456789abcdef01234567"
	likeNumber = "1"
	likeName   = "topic/likely-1.0" // of a branch or a tag
)

// printer are commands that print one value of a kind, by the shapes of their words.
type printer struct {
	like string
	of   map[string]*regexp.Regexp
}

// printers are all of them.
var printers = sync.OnceValue(func() []printer {
	return []printer{
		{likeHash, shapes(map[string]string{
			"git": `rev-parse\n(-q\n|--(verify|quiet|short|short=[0-9]+)\n)*(WORD)` +
				`|merge-base\n(WORD){2}` +
				`|rev-list\n((-1|-n\n?1|--max-count=1|--no-merges|--first-parent)\n)+(WORD)` +
				`|log\n(-1\n|-n\n?1\n)--(pretty=|pretty=format:|format=)%[hH]\n(WORD)*` +
				`|log\n--(pretty=|pretty=format:|format=)%[hH]\n(-1\n|-n\n?1\n)(WORD)*`,
		})()},
		{likeNumber, shapes(map[string]string{
			"git":              `rev-list\n(WORD)*--count\n(WORD)*`,
			"wc":               `-[lwcm]\n`,
			"grep egrep fgrep": `-[EFGivwx]*c[EFGivwx]*\n(-e\n)?[^-\n][^\n]*\n([^-\n][^\n]*\n)?`,
			"nproc":            ``,
			"id":               `-[ug]\n`,
			"pgrep":            `(-[xfnoi]+\n)*[^-\n][^\n]*\n`, // or one in each line
			"lsof":             `-[nP]*ti?((TCP|UDP|tcp|udp)?:[0-9]+)?\n(-[nPa]+\n|-i\n?(TCP|UDP|tcp|udp)?(:[0-9]+)?\n|:[0-9]+\n|-sTCP:LISTEN\n)*`,
			"date gdate":       `(-u\n)?\+%s\n`,
			"stat gstat":       `(-c|-f)\n?%[sz]\n(WORD)`,
		})()},
		{likeName, shapes(map[string]string{
			"git": `rev-parse\n--abbrev-ref\n(WORD)|branch\n--show-current\n|symbolic-ref\n(-q\n|--(short|quiet)\n)*(WORD)` +
				`|describe\n(--(tags|all|always|long|exact-match|abbrev=[0-9]+)\n)*(WORD)?`,
			"date gdate": `(-u\n)?\+(%[YmdHMSjyF]|[-_.TZ0-9])+\n`,
		})()},
	}
})

// printed returns a value like the one that a substitution prints, "" where it is not
// known to be one word of such a kind.
func (t *textJob) printed(n *approval.Node) string {
	if n != nil && n.Op == approval.OpPipe && len(n.Kids) > 0 {
		n = &n.Kids[len(n.Kids)-1]
	}
	if n == nil || n.Op != approval.OpRun || n.Seg >= len(t.plan.Segments) {
		return ""
	}
	seg := &t.plan.Segments[n.Seg]
	if seg.Program == nil || !seg.Program.Bare || len(seg.Findings) > 0 || slices.ContainsFunc(seg.Open, func(o approval.Open) bool { return o.Many }) || slices.ContainsFunc(seg.Redirects, func(r approval.Redirect) bool { return r.To == approval.ToFile }) {
		return ""
	}
	name, words := path.Base(seg.Program.Path), ""
	for _, word := range seg.Argv[1:] {
		if strings.Contains(word, "\n") {
			return ""
		}
		words += word + "\n"
	}
	for _, p := range printers() {
		if shaped(p.of, name, words) {
			return p.like
		}
	}
	return ""
}

// like returns values like those that a word may have, with what commands print in it.
func (t *textJob) like(parts approval.Word) (values []string, ok bool) {
	values = []string{""}
	for _, p := range parts {
		var maybe []string
		switch {
		case p.Kind == approval.PartText:
			maybe = []string{p.Text}
		case p.Kind == approval.PartSum:
			maybe = []string{likeNumber}
		case p.Kind == approval.PartOutput && p.Form == nil:
			if one := t.printed(p.Run); one != "" {
				maybe = []string{one}
			}
		case p.Kind == approval.PartVar && !t.lost[p.Text]:
			maybe = slices.Concat(t.values[p.Text], t.samples[p.Text])
			if p.Form != nil && p.Form.Op == approval.FormSlice {
				maybe = t.formed(p.Form, maybe, "")
			} else if p.Form != nil {
				return nil, false
			}
		}
		if len(maybe) == 0 || len(values)*len(maybe) > maxTried || !t.spend(1) {
			return nil, false
		}
		var next []string
		for _, v := range values {
			for _, m := range maybe {
				if !p.Quoted && p.Kind == approval.PartVar && (m == "" || strings.ContainsAny(m, " \t\n*?[\\")) || len(v)+len(m) > maxValue {
					return nil, false
				}
				next = append(next, v+m)
			}
		}
		values = next
	}
	return values, true
}
