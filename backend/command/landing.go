package command

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/protected"
)

// landing knows what becomes of names that arrive in folders. Many arrive in one, so
// it looks at each folder once.
type landing struct {
	*job
	spots map[string]*spot
	out   bool // what arrives is not any more where it was
}

func (j *job) landing() *landing { return &landing{job: j, spots: map[string]*spot{}} }

// perSpot is how many names of a path make a look at a folder one step more, perName
// how many bytes of one a small step.
const (
	perSpot = 8
	perName = 64
)

// spot is a folder in which names arrive.
type spot struct {
	at   []string // its paths: as it is called, and where it is
	real string   // where it is if it is there, else ""
}

func (l *landing) spot(dir string) *spot {
	s := l.spots[dir]
	if s != nil {
		return s
	}
	l.spend(1 + strings.Count(dir, "/")/perSpot)
	s = &spot{at: []string{dir}}
	if g := l.ground(dir); g.found && g.file.IsFolder() {
		real := g.file.Path
		if g.gap == "" {
			s.real = real
		} else { // the rest comes into being there
			real = path.Join(real, dir[len(path.Dir(g.gap)):])
		}
		if real != dir {
			s.at = append(s.at, real)
		}
	}
	l.spots[dir] = s
	return s
}

// file reports whether what arrives as a file or a link under a path is one from
// which programs start, takes the place of a folder of such files or of a file with
// secrets, or is written through a link to one.
func (l *landing) file(at string) bool {
	at = path.Clean(at)
	name := path.Base(at)
	s := l.spot(path.Dir(at))
	var k protected.Kind
	for _, dir := range s.at {
		at := path.Join(dir, name)
		if k |= l.kinds(at, l.onlyHome); l.ofOurs(at, true) || l.above(at) {
			return true
		}
	}
	there := l.there(at)
	if there {
		if file, err := l.look(path.Join(s.real, name)); err == nil {
			if k |= l.kinds(file.Path, l.look); l.ofOurs(file.Path, true) {
				return true
			}
		}
	}
	return k.Has(protected.Startup) || there && k.Has(protected.Secret|protected.Private)
}

// loses reports whether a file with secrets would not be known for one any more where
// it arrives.
func (l *landing) loses(from, at string) bool {
	const secrets = protected.Secret | protected.Private
	if !l.out || !l.kinds(from, l.onlyHome).Has(secrets) {
		return false
	}
	return slices.ContainsFunc(l.spot(path.Dir(at)).at, func(dir string) bool {
		return !l.kinds(path.Join(dir, path.Base(at)), l.onlyHome).Has(secrets)
	})
}

// onlyHome looks at nothing but the home folder: what arrives is judged by its name.
func (l *landing) onlyHome(at string) (approval.File, error) {
	if at == l.Home {
		return l.look(at)
	}
	return approval.File{}, fs.ErrNotExist
}

// there reports whether a file or a link has a name already. One with accents the
// disk may have in another spelling.
func (l *landing) there(at string) bool {
	s, name := l.spot(path.Dir(at)), path.Base(at)
	if s.real == "" {
		return false
	}
	there, err := l.holds(name, s.real)
	if err == nil && !there && !ascii(name) {
		_, missing := l.look(path.Join(s.real, name))
		there = missing == nil
	}
	return there || err != nil
}

// link reports whether a link has a name already.
func (l *landing) link(at string) bool {
	if !l.there(at) {
		return false
	}
	at = path.Join(l.spot(path.Dir(at)).real, path.Base(at))
	file, err := l.look(at)
	return err != nil || protected.Fold(file.Path) != protected.Fold(at)
}

// names returns the first of the names that arrive in a folder and that ask, or "".
// Those that end with a slash are folders: they are what is in them.
func (l *landing) names(dir string, names []string) (found string, err error) {
	for _, name := range names {
		if !l.walk() {
			return "", errNames
		}
		if !l.tick(2 + (len(dir)+len(name))/perName) {
			return "", errUnseen
		}
		if at := path.Join(dir, name); !strings.HasSuffix(name, "/") && l.file(at) || strings.HasSuffix(name, "/") && (l.ofOurs(at, true) || ofGit(at)) {
			return name, nil
		}
	}
	return "", nil
}
