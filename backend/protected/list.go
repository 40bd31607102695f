package protected

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// anchor says where a pattern begins.
type anchor uint8

const (
	anywhere anchor = iota
	atHome
	atApp // a folder of settings below home
	atRoot
)

// row is one pattern of the list.
type row struct {
	kind   Kind
	anchor anchor
	segs   []string // ** stands for any number of names
	deep   bool     // ** is among them
	folder bool     // all that is in it counts as well
	reason string
	line   int
}

// list is the table.
type list struct {
	rows    []row
	files   index             // of all rows
	folders index             // of those that mean what is in a folder, too
	upper   map[string][]*row // of kind startup, by the names of folders above what they mean
}

// index finds rows by the last name of their pattern.
type index struct {
	names  map[string][]*row // without a wildcard
	ends   map[string][]*row // by what stands behind the last dot, where that has none
	begins map[byte][]*row   // by the first letter
	other  []*row
}

func newIndex() index {
	return index{names: map[string][]*row{}, ends: map[string][]*row{}, begins: map[byte][]*row{}}
}

func (x *index) add(r *row) {
	last := r.segs[len(r.segs)-1]
	end := strings.LastIndexByte(last, '.')
	switch {
	case !special(last):
		x.names[last] = append(x.names[last], r)
	case end >= 0 && !special(last[end:]):
		x.ends[last[end:]] = append(x.ends[last[end:]], r)
	case !special(last[:1]):
		x.begins[last[0]] = append(x.begins[last[0]], r)
	default:
		x.other = append(x.other, r)
	}
}

// try calls each with the rows that may mean a name.
func (x *index) try(name string, each func([]*row)) {
	each(x.names[name])
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		each(x.ends[name[dot:]])
	}
	each(x.begins[name[0]])
	each(x.other)
}

var kindNames = map[string]Kind{
	"secret": Secret, "likely": likely, "private": private, "tools": Tools, "plain": plain, "public": public, "startup": Startup, "usual": usual, "trial": trial,
}

// places are where programs keep settings below home (~app).
var places = func() (list [][]string) {
	for _, place := range []string{
		".config", ".local/share", ".local/state", ".cache", "library/application support", "library/preferences", "library/caches",
		"library/containers/*/data/library/application support", "library/group containers", ".var/app/*/config", ".var/app/*/data",
		"snap/*/common", "snap/*/*/.config", "snap/*/*/.local/share",
	} {
		list = append(list, strings.Split(place, "/"))
	}
	return list
}()

// read reads the list. It panics at a mistake in it, which a test finds.
func read(text string) *list {
	l := &list{files: newIndex(), folders: newIndex(), upper: map[string][]*row{}}
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		kind, rest, _ := strings.Cut(line, "  ")
		pattern, reason, ok := strings.Cut(strings.TrimSpace(rest), "  ")
		if !ok || kindNames[kind] == 0 {
			panic(fmt.Sprintf("files.txt:%d: no kind, pattern and reason", n))
		}
		for _, one := range expand(strings.ToLower(pattern)) {
			l.add(kindNames[kind], one, strings.TrimSpace(reason), n)
		}
	}
	l.sort()
	return l
}

// expand takes the braces of a pattern apart.
func expand(pattern string) []string {
	begin := strings.IndexByte(pattern, '{')
	if begin < 0 {
		return []string{pattern}
	}
	depth, from, parts := 0, begin+1, []string(nil)
	for i := begin; i < len(pattern); i++ {
		switch {
		case pattern[i] == '{':
			depth++
		case pattern[i] == '}' && depth == 1:
			parts = append(parts, pattern[from:i])
			var list []string
			for _, rest := range expand(pattern[i+1:]) {
				for _, part := range parts {
					for _, middle := range expand(part) {
						list = append(list, pattern[:begin]+middle+rest)
					}
				}
			}
			return list
		case pattern[i] == '}':
			depth--
		case pattern[i] == ',' && depth == 1:
			parts, from = append(parts, pattern[from:i]), i+1
		}
	}
	panic("a brace of " + pattern + " is not closed")
}

func (l *list) add(kind Kind, pattern, reason string, line int) {
	r := row{kind: kind, reason: reason, line: line}
	switch {
	case strings.HasPrefix(pattern, "~app/"):
		r.anchor, pattern = atApp, pattern[5:]
	case strings.HasPrefix(pattern, "~/"):
		r.anchor, pattern = atHome, pattern[2:]
	case strings.HasPrefix(pattern, "/"):
		r.anchor, pattern = atRoot, pattern[1:]
	}
	r.folder = strings.HasSuffix(pattern, "/")
	pattern = strings.TrimRight(pattern, "/")
	r.segs = strings.Split(pattern, "/")
	if r.segs[len(r.segs)-1] == "**" {
		r.segs, r.folder = r.segs[:len(r.segs)-1], true
	}
	r.deep = slices.Contains(r.segs, "**")
	l.rows = append(l.rows, r)
}

// sort makes the indexes.
func (l *list) sort() {
	for i := range l.rows {
		r := &l.rows[i]
		l.files.add(r)
		if r.folder {
			l.folders.add(r)
		}
		for _, seg := range r.segs[:len(r.segs)-1] {
			if r.kind == Startup && r.anchor != atRoot && !special(seg) {
				l.upper[seg] = append(l.upper[seg], r)
			}
		}
	}
}

func special(name string) bool { return strings.ContainsAny(name, "*?[") }

// kinds returns the kinds that rows of an index give a path, and have.
func (x *index) kinds(at []string, h *homes, have Kind) Kind {
	x.try(at[len(at)-1], func(rows []*row) {
		for _, r := range rows {
			if !have.Has(r.kind) && r.covers(at, h) {
				have |= r.kind
			}
		}
	})
	return have
}

// homes are how many names of a path lead to a home folder, -1 for none: the
// person's own, and one of other people; and to folders of settings in these.
type homes struct {
	own, others int
	apps        []int
}

func homesOf(at, home []string) homes {
	h := homes{own: -1, others: -1}
	if len(at) >= len(home) && slices.Equal(at[:len(home)], home) {
		h.own = len(home)
	}
	switch {
	case len(at) > 0 && at[0] == "root":
		h.others = 1
	case len(at) > 1 && (at[0] == "home" || at[0] == "users"), len(at) > 1 && at[0] == "var" && at[1] == "root":
		h.others = 2
	case len(at) > 2 && at[0] == "var" && at[1] == "home":
		h.others = 3
	}
	for _, from := range []int{h.own, h.others} {
		for _, place := range places {
			if end := from + len(place); from >= 0 && len(at) > end && !slices.Contains(h.apps, end) && fits(place, at[from:end]) {
				h.apps = append(h.apps, end)
			}
		}
	}
	return h
}

// covers reports whether a row means a path.
func (r *row) covers(at []string, h *homes) bool {
	switch r.anchor {
	case anywhere:
		switch { // what stands above home says nothing of what is in it
		case r.kind != plain && r.kind != trial:
		case h.own < 0:
			at = at[max(0, len(at)-nearby):]
		case r.kind == plain:
			at = at[min(h.own, len(at)):]
		default: // nor does the folder of all projects
			at = at[min(h.own+1, len(at)):]
		}
		return r.ends(at)
	case atRoot:
		return r.fits(at, 0)
	case atApp:
		for _, end := range h.apps {
			if r.fits(at, end) {
				return true
			}
		}
		return false
	}
	return r.fits(at, h.own) || r.kind != private && r.kind != plain && r.fits(at, h.others)
}

// fits reports whether names behind the first ones are what a row says.
func (r *row) fits(names []string, first int) bool {
	return first >= 0 && len(names) > first && (r.deep || len(names)-first == len(r.segs)) && fits(r.segs, names[first:])
}

// ends reports whether names end with what a row says.
func (r *row) ends(names []string) bool {
	if !r.deep {
		return len(names) >= len(r.segs) && fits(r.segs, names[len(names)-len(r.segs):])
	}
	for i := range names {
		if fits(r.segs, names[i:]) {
			return true
		}
	}
	return false
}

// nearby is how many names of a path that is not below home tell what a file is
// for: above these is where somebody keeps a project.
const nearby = 3

// fits reports whether names are what a pattern says.
func fits(segs, names []string) bool {
	for i, seg := range segs {
		if seg == "**" {
			for skip := range len(names) - i + 1 {
				if fits(segs[i+1:], names[i+skip:]) {
					return true
				}
			}
			return false
		}
		if i >= len(names) || !matches(seg, names[i]) {
			return false
		}
	}
	return len(segs) == len(names)
}

// matches reports whether a name is what one part of a pattern says.
func matches(pattern, name string) bool {
	if strings.ContainsAny(pattern, "?[") {
		ok, err := path.Match(pattern, name)
		return ok && err == nil
	}
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == name
	}
	if name, star = strings.CutPrefix(name, head); !star {
		return false
	}
	for {
		part, more, star := strings.Cut(rest, "*")
		if !star {
			return strings.HasSuffix(name, part)
		}
		i := strings.Index(name, part)
		if i < 0 {
			return false
		}
		name, rest = name[i+len(part):], more
	}
}

// above reports whether a row of kind startup may lie below a folder, by the
// names of it.
func (l *list) above(at, home []string) bool {
	if len(at) == 0 {
		return false
	}
	name, h := at[len(at)-1], homesOf(at, home)
	for _, r := range l.upper[name] {
		for n := range r.segs[:len(r.segs)-1] {
			if r.segs[n] != name {
				continue
			}
			upper := row{kind: Startup, anchor: r.anchor, segs: r.segs[:n+1], deep: r.deep}
			if upper.covers(at, &h) {
				return true
			}
		}
	}
	return false
}
