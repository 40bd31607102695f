package corpus

import (
	"fmt"
	"strings"
)

// worldText is a world as it is written, each part with its place, because
// one part can be understood only when all of them are read.
type worldText struct {
	home, cwd    placed
	path         []placed
	links, files []placed
	caseMatters  bool
}

// placed is a path that the corpus names.
type placed struct {
	at      place
	name    string
	to      string // of a link
	text    *string
	program bool
}

// ParseWorld reads the machine of a list of commands: a world, or a corpus of
// which only the world counts. The name is for error messages.
func ParseWorld(name string, text []byte) (*World, error) {
	r, err := newReader(name, text)
	if err != nil {
		return nil, err
	}
	var w worldText
	err = r.object(func(key string) error {
		switch key {
		case "schema":
			return r.schema()
		case "world":
			return r.world(&w)
		case "title", "generated", "verdicts", "count", "policies", "cases":
			return r.skip()
		}
		return r.worldField(&w, key)
	})
	if err != nil {
		return nil, err
	}
	if len(r.ignored) > 0 {
		return nil, fmt.Errorf("%s: nothing is known of the field %q", name, r.ignored[0])
	}
	return r.build(w)
}

func (r *reader) world(w *worldText) error {
	return r.object(func(key string) error { return r.worldField(w, key) })
}

func (r *reader) worldField(w *worldText, key string) (err error) {
	switch key {
	case "home":
		w.home, err = r.placed()
	case "cwd":
		w.cwd, err = r.placed()
	case "path":
		err = r.list(func() error {
			dir, err := r.placed()
			w.path = append(w.path, dir)
			return err
		})
	case "executables":
		err = r.object(func(dir string) error {
			return r.list(func() error {
				p, err := r.placed()
				if err == nil && (p.name == "" || p.name == "." || p.name == ".." || strings.ContainsAny(p.name, "/\x00")) {
					err = r.bad(p.at, "%q is no file name", p.name)
				}
				p.name, p.program = strings.TrimSuffix(dir, "/")+"/"+p.name, true
				w.files = append(w.files, p)
				return err
			})
		})
	case "symlinks":
		err = r.object(func(name string) error {
			link, err := r.placed()
			if err == nil && (link.name == "" || len(link.name) > maxPath || strings.Contains(link.name, "\x00")) {
				err = r.bad(link.at, "a link must lead somewhere")
			}
			link.to, link.name = link.name, name
			w.links = append(w.links, link)
			return err
		})
	case "files":
		err = r.files(w)
	case "case_sensitive_fs":
		w.caseMatters, err = r.boolean()
	case "user":
		err = r.skip()
	default:
		err = r.unknown()
	}
	return err
}

// files reads a list of paths, or an object with the content of each, null where it is
// not told.
func (r *reader) files(w *worldText) error {
	if r.next() == '[' {
		return r.list(func() error {
			f, err := r.placed()
			w.files = append(w.files, f)
			return err
		})
	}
	return r.object(func(name string) error {
		if r.next() == 'n' {
			w.files = append(w.files, placed{name: name, at: r.here()})
			return r.skip()
		}
		f, err := r.placed()
		text := f.name
		f.name, f.text = name, &text
		w.files = append(w.files, f)
		return err
	})
}

func (r *reader) placed() (p placed, err error) {
	p.at = r.here()
	p.name, err = r.str()
	return p, err
}
