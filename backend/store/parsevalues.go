package store

import (
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"path/filepath"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/glob"
	"github.com/countersign-app/countersign/backend/paths"
)

func (p *parser) word(to encoding.TextUnmarshaler) error {
	s, err := p.str()
	if err != nil {
		return err
	}
	if err := to.UnmarshalText([]byte(s)); err != nil {
		return p.bad("%s", err)
	}
	return nil
}

// text reads a string that must say something.
func (p *parser) text() (string, error) {
	s, err := p.str()
	if err == nil && strings.TrimSpace(s) == "" {
		err = p.bad("cannot be empty")
	}
	return s, err
}

func (p *parser) pattern() (string, error) {
	s, err := p.text()
	if err != nil {
		return "", err
	}
	if name, ok := approval.ToolPattern(s); ok {
		err = checkToolName(name)
	} else {
		_, err = glob.Parse(s, p.home)
	}
	if err != nil {
		return "", p.bad("%s", err)
	}
	return s, nil
}

func (p *parser) path() (string, error) {
	s, err := p.text()
	if err == nil && (strings.ContainsRune(s, 0) || !filepath.IsAbs(paths.Expand(s, p.home))) {
		err = p.bad("must be a path that begins with / or ~/, not %q", s)
	}
	return s, err
}

func (p *parser) programName() (string, error) {
	s, err := p.text()
	if err == nil && strings.ContainsAny(s, "/\\ \t\r\n\x00") {
		err = p.bad("must be the name of a program without its folder, not %q", s)
	}
	return s, err
}

func (p *parser) sha256() (string, error) {
	s, err := p.str()
	if err != nil {
		return "", err
	}
	if b, err := hex.DecodeString(s); err != nil || len(b) != sha256.Size {
		return "", p.bad("must be 64 hexadecimal digits")
	}
	return strings.ToLower(s), nil
}

func (p *parser) keptObject(to *Extra, key string) error {
	if p.peek() != '{' {
		return p.wrong("an object")
	}
	return p.keep(to, key)
}

func (p *parser) keep(to *Extra, key string) error {
	value, err := p.raw()
	if *to == nil {
		*to = Extra{}
	}
	(*to)[key] = value
	return err
}

// items reads a list of at most so many items.
func items[T any](p *parser, to *[]T, most int, read func() (T, error)) error {
	*to = []T{}
	return p.list(func() error {
		if len(*to) == most {
			return p.bad("there are more than %d", most)
		}
		item, err := read()
		*to = append(*to, item)
		return err
	})
}
