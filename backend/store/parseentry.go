package store

import (
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"

	"github.com/google/uuid"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/envnames"
)

// entry reads one item of an allowlist: an object, or a pattern alone.
func (p *parser) entry(a *Agent, agentID string) (err error) {
	if p.entries++; p.entries > maxEntries {
		return p.bad("there are more than %d entries", maxEntries)
	}
	if n := len(a.Allowlist); n == cap(a.Allowlist) { // doubling copies long lists less often
		a.Allowlist = slices.Grow(a.Allowlist, n+1)
	}
	a.Allowlist = append(a.Allowlist, Entry{})
	e := &a.Allowlist[len(a.Allowlist)-1]
	start := p.pos
	if p.peek() == '"' {
		e.Pattern, err = p.pattern()
	} else {
		err = p.object(func(key string) error { return p.entryField(e, key) })
	}
	if err != nil {
		return err
	}
	if e.Pattern == "" {
		return &fault{start, ".pattern", "is missing"}
	}
	if why := mixed(e.Entry); why != "" {
		return &fault{start, ".pattern", why}
	}
	if e.ID == "" {
		e.ID = contentID(agentID, e.Entry)
	}
	return nil
}

func (p *parser) entryField(e *Entry, key string) (err error) {
	switch key {
	case "id":
		e.ID, err = p.text()
	case "pattern":
		e.Pattern, err = p.pattern()
	case "source":
		e.Source, err = p.str()
	case "argPattern":
		e.ArgPattern, err = p.argPattern()
	case "args":
		return items(p, &e.Args, maxItems, p.str)
	case "argsExact":
		e.ArgsExact, err = p.boolean()
	case "cwd":
		e.Cwd, err = p.pattern()
	case "env":
		e.Env, err = p.env()
	case "allows":
		return items(p, &e.Allows, maxItems, p.allowed)
	case "hosts":
		return items(p, &e.Hosts, approval.MaxHosts, p.host)
	case "input":
		e.Input, err = p.sha256()
	case "when":
		e.When = map[string]string{}
		return p.object(func(arg string) (err error) {
			e.When[arg], err = p.str()
			return err
		})
	case "expiresAt": // 0 would mean "never" to everybody else
		e.ExpiresAt, err = p.number(1, maxTime)
	case "usesLeft":
		n, err := p.number(0, 1<<31-1)
		left := int(n)
		e.UsesLeft = &left
		return err
	case "sessionKey":
		e.SessionKey, err = p.text()
	case "identity":
		return items(p, &e.Identity, maxItems, p.identity)
	case "interpreters":
		return items(p, &e.Interpreters, maxItems, p.identity)
	case "links":
		return items(p, &e.Links, maxItems, p.link)
	case "requireIdentity":
		if e.RequireIdentity, err = p.str(); err == nil && e.RequireIdentity != "sha256" && e.RequireIdentity != "signer" {
			err = p.bad("must be sha256 or signer, not %q", e.RequireIdentity)
		}
	case "disabled":
		e.Disabled, err = p.boolean()
	default:
		err = p.entryRecord(e, key)
	}
	return err
}

// entryRecord reads whom an entry comes from, how it was used, and what we do not
// know.
func (p *parser) entryRecord(e *Entry, key string) (err error) {
	switch key {
	case "note":
		e.Note, err = p.str()
	case "addedBy":
		e.AddedBy, err = p.str()
	case "addedFor":
		e.AddedFor, err = p.str()
	case "addedAt":
		e.AddedAt, err = p.number(0, maxTime)
	case "lastUsedAt":
		e.LastUsedAt, err = p.number(0, maxTime)
	case "lastUsedCommand":
		e.LastUsedCommand, err = p.str()
	case "lastResolvedPath":
		e.LastResolvedPath, err = p.str()
	case "commandText": // may hold secrets, so it is never written back
		_, err = p.str()
	default:
		err = p.keep(&e.Extra, key)
	}
	return err
}

func (p *parser) identity() (i approval.Identity, err error) {
	err = p.object(func(key string) (err error) {
		switch key {
		case "path":
			i.Path, err = p.text()
		case "size":
			i.Size, err = p.number(0, 1<<53)
		case "mtime":
			i.MTime, err = p.number(-maxTime, maxTime)
		case "sha256":
			i.SHA256, err = p.sha256()
		case "signer":
			i.Signer, err = p.text()
		case "version":
			i.Version, err = p.str()
		case "interpreter":
			i.Interpreter, err = p.text()
		default:
			err = p.bad(unknownKey)
		}
		return err
	})
	if err == nil && i.Path == "" {
		err = &fault{p.pos, ".path", "is missing"}
	}
	return i, err
}

func (p *parser) link() (l approval.Link, err error) {
	err = p.object(func(key string) (err error) {
		switch key {
		case "path":
			l.Path, err = p.text()
		case "target":
			l.Target, err = p.text()
		default:
			err = p.bad(unknownKey)
		}
		return err
	})
	if err == nil && (l.Path == "" || l.Target == "") {
		err = &fault{p.pos, "", "needs a path and a target"}
	}
	return l, err
}

// env reads the variables that an entry carries.
func (p *parser) env() (map[string][]string, error) {
	env, folded := map[string][]string{}, map[string]bool{}
	err := p.object(func(name string) error {
		switch fold := strings.ToUpper(name); {
		case !envnames.Carried(name):
			return p.bad("is a variable that no entry carries: a loader, what a shell starts with, what Countersign sets itself, or a secret")
		case folded[fold]:
			return p.bad("differs from another name in its case only")
		case len(env) == approval.MaxEnv:
			return p.bad("there are more than %d", approval.MaxEnv)
		default:
			folded[fold] = true
		}
		var values []string
		if err := items(p, &values, approval.MaxEnvValues, p.envValue); err != nil {
			return err
		}
		if len(values) == 0 {
			return p.bad("has no values")
		}
		env[name] = values
		return nil
	})
	return env, err
}

func (p *parser) allowed() (a approval.Allowed, err error) {
	s, err := p.str()
	if err == nil {
		if err = a.UnmarshalText([]byte(s)); err != nil {
			err = p.bad("%s", err)
		}
	}
	return a, err
}

func (p *parser) host() (string, error) {
	s, err := p.str()
	if err == nil {
		if err = approval.CheckHost(s); err != nil {
			err = p.bad("%s", err)
		}
	}
	return s, err
}

func (p *parser) envValue() (string, error) {
	s, err := p.str()
	switch {
	case err != nil:
	case len(s) > approval.MaxEnvValue:
		err = p.bad("is longer than %d bytes", approval.MaxEnvValue)
	case strings.ContainsFunc(s, unicode.IsControl):
		err = p.bad("holds a control character")
	}
	return s, err
}

func (p *parser) argPattern() (string, error) {
	s, err := p.str()
	if err != nil {
		return "", err
	}
	if len(s) > maxArgPattern {
		return "", p.bad("is longer than %d bytes", maxArgPattern)
	}
	if _, err := syntax.Parse(s, syntax.Perl); err != nil {
		return "", p.bad("%s (it must be a regular expression of Go, without lookaround and back references)", err)
	}
	return s, nil
}

// contentID is the id of an entry that was written without one. It depends
// only on what the entry permits, so it stays until it is saved.
func contentID(agentID string, e approval.Entry) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(agentID+"\x00"+permissionKey(e))).String()
}
