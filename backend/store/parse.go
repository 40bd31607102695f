package store

import (
	"bytes"
	"crypto/sha256"
	"encoding"
	"encoding/hex"
	"encoding/json"
	"errors"
	"path/filepath"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/envnames"
	"github.com/countersign-app/countersign/backend/glob"
	"github.com/countersign-app/countersign/backend/paths"
)

const (
	// MaxSize is the size in bytes above which a document is refused.
	MaxSize = 8 << 20
	// maxArgPattern bounds the length of one regular expression, in bytes.
	maxArgPattern = 4096
	// These bound the number of entries of all agents together, of agents, of
	// rules of one denylist, and of items in one of the other lists: some of
	// the work grows with their product.
	maxEntries, maxAgents, maxRules, maxItems = 100_000, 1_000, 10_000, 1_000
	// maxProjectPath bounds the path of a project, in bytes.
	maxProjectPath = 4096
	// maxAddedBy bounds who named it, in bytes.
	maxAddedBy = 200
	// maxTime is the latest time that a JavaScript date can hold, in ms.
	maxTime = 8_640_000_000_000_000
	// legacyAgent is what older versions called "main".
	legacyAgent = "default"
	mainAgent   = "main"
)

// Parse reads a document and checks every field that we know. The name is for
// error messages, which are *FieldError; home is what ~ stands for.
func Parse(name string, text []byte, home string) (*Document, error) {
	refuse := func(at int, field, problem string) error {
		line := 1 + bytes.Count(text[:min(at, len(text))], []byte("\n"))
		return &FieldError{name, line, field, problem}
	}
	switch {
	case len(text) > MaxSize:
		return nil, &FieldError{name, 0, "", "is larger than 8 MiB"}
	case !utf8.Valid(text):
		return nil, refuse(invalidByte(text), "", "is not UTF-8")
	case !json.Valid(text):
		at, problem := syntaxError(text)
		return nil, refuse(at, "", "is not JSON: "+problem)
	}
	p := parser{reader: reader{text: string(text)}, home: home}
	d, err := p.document()
	var f *fault
	if errors.As(err, &f) {
		return nil, refuse(f.at, strings.TrimPrefix(f.field, "."), f.problem)
	}
	return d, err
}

func invalidByte(text []byte) int {
	at := 0
	for {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size <= 1 {
			return at
		}
		at += size
	}
}

func syntaxError(text []byte) (at int, problem string) {
	err := json.Unmarshal(text, new(json.RawMessage))
	var bad *json.SyntaxError
	if errors.As(err, &bad) {
		at = int(bad.Offset)
	}
	return at, err.Error()
}

// parser turns a text into a document. Every method reads one value.
type parser struct {
	reader
	home    string
	entries int // so far
}

func (p *parser) document() (*Document, error) {
	d := &Document{Agents: map[string]*Agent{}}
	version := false
	err := p.object(func(key string) (err error) {
		switch key {
		case "version":
			version = true
			value, err := p.raw()
			if err == nil && string(value) != "1" {
				err = p.bad("must be 1: we know no other version")
			}
			return err
		case "socket":
			return p.socket(&d.Socket)
		case "defaults":
			return p.object(func(key string) error { return p.rules(&d.Defaults, key) })
		case "agents":
			return p.object(func(id string) error {
				if len(d.Agents) == maxAgents {
					return p.bad("there are more than %d agents", maxAgents)
				}
				return p.agent(d.Agent(id), id)
			})
		case "projects":
			if err := items(p, &d.Projects, maxProjects, p.project); err != nil {
				return err
			}
			return p.once(d.Projects)
		case "tools", "charters", "approvers", "policyFrom":
			keep := p.keptObject
			if key == "approvers" || key == "policyFrom" {
				keep = p.keep
			}
			if err := keep(&d.Extra, key); err != nil {
				return err
			}
			_, err := toolsOf(d.Extra, p.home)
			switch key {
			case "charters":
				_, err = chartersOf(d.Extra)
			case "approvers":
				_, err = approversOf(d.Extra)
			case "policyFrom":
				_, err = sourcesOf(d.Extra)
			}
			if err != nil {
				return p.bad("%s", err)
			}
			return nil
		}
		if ruleNames.has(key) || topNames.has(key) {
			return p.bad(`means nothing here, or is written with other capital letters: rules stand below "defaults", or below an agent`)
		}
		return p.keep(&d.Extra, key)
	})
	if err == nil && !version {
		err = &fault{0, ".version", "is missing: it must be 1"}
	}
	if err != nil {
		return nil, err
	}
	mergeLegacy(d)
	return d, nil
}

func (p *parser) socket(s *Socket) error {
	return p.object(func(key string) (err error) {
		switch key {
		case "path":
			s.Path, err = p.path()
		case "token":
			s.Token, err = p.text()
		default:
			err = p.keep(&s.Extra, key)
		}
		return err
	})
}

func (p *parser) rules(r *Rules, key string) (err error) {
	switch key {
	case "security":
		return p.word(&r.Security)
	case "ask":
		return p.word(&r.Ask)
	case "askFallback":
		return p.word(&r.AskFallback)
	case "autoAllowSkills":
		on, err := p.boolean()
		r.AutoAllowSkills = &on
		return err
	case "presence":
		return p.word(&r.Presence)
	case "denylist":
		return items(p, &r.Denylist, maxRules, p.denyRule)
	case "safeBins":
		return items(p, &r.SafeBins, maxItems, p.programName)
	case "safeBinTrustedDirs":
		return items(p, &r.SafeBinTrustedDirs, maxItems, p.path)
	case "skillBins":
		return items(p, &r.SkillBins, maxItems, p.skill)
	case "safeBinProfiles":
		if err := p.keptObject(&r.Extra, key); err != nil {
			return err
		}
		if _, err := safeBinProfiles(r.Extra); err != nil {
			return p.bad("%s", err)
		}
		return nil
	}
	switch {
	case topNames.has(key):
		return p.bad("means nothing here: it stands at the top of the file")
	case ruleNames.has(key):
		return p.bad("means nothing here, or is written with other capital letters")
	}
	return p.keep(&r.Extra, key)
}

// fieldNames are names of fields, in small letters. Elsewhere, or written otherwise, one
// of them would be kept as a field that we do not know, and a restriction of the
// person would silently not be there.
type fieldNames []string

var (
	ruleNames = fieldNames{"security", "ask", "askfallback", "autoallowskills", "presence", "denylist", "safebins", "safebintrusteddirs", "skillbins", "safebinprofiles", "allowlist"}
	topNames  = fieldNames{"tools", "charters", "approvers", "policyfrom", "projects"}
)

func (k fieldNames) has(key string) bool { return slices.Contains(k, strings.ToLower(key)) }

func (p *parser) agent(a *Agent, id string) error {
	if strings.TrimSpace(id) == "" {
		return p.bad("an agent needs a name")
	}
	return p.object(func(key string) (err error) {
		switch key {
		case "allowlist":
			a.Allowlist = []Entry{}
			return p.list(func() error { return p.entry(a, id) })
		case "displayName":
			a.DisplayName, err = p.str()
		case "color":
			a.Color, err = p.str()
		case "acceptAnswersFrom":
			return items(p, &a.AcceptAnswersFrom, maxItems, p.text)
		default:
			err = p.rules(&a.Rules, key)
		}
		return err
	})
}

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

// Identities, rules of a denylist and skills are ours alone, so a key that we
// do not know may be a condition that we must not overlook.
const unknownKey = "is not a field that we know"

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

func (p *parser) denyRule() (d approval.DenyRule, err error) {
	if p.peek() == '"' {
		d.Pattern, err = p.pattern()
		return d, err
	}
	err = p.object(func(key string) (err error) {
		switch key {
		case "pattern":
			d.Pattern, err = p.pattern()
		case "args":
			return items(p, &d.Args, maxItems, p.str)
		case "anywhere":
			d.Anywhere, err = p.boolean()
		case "reason":
			d.Reason, err = p.str()
		default:
			err = p.bad(unknownKey)
		}
		return err
	})
	if err == nil && d.Pattern == "" {
		err = &fault{p.pos, ".pattern", "is missing"}
	}
	return d, err
}

func (p *parser) skill() (s approval.Skill, err error) {
	err = p.object(func(key string) (err error) {
		switch key {
		case "name":
			s.Name, err = p.programName()
		case "path":
			s.Path, err = p.path()
		case "sha256":
			s.SHA256, err = p.sha256()
		default:
			err = p.bad(unknownKey)
		}
		return err
	})
	switch {
	case err == nil && s.Name == "":
		err = &fault{p.pos, ".name", "is missing"}
	case err == nil && s.Path == "":
		err = &fault{p.pos, ".path", "is missing"}
	}
	return s, err
}

func (p *parser) project() (one approval.Project, err error) {
	err = p.object(func(key string) (err error) {
		switch key {
		case "path":
			if one.Path, err = p.str(); err == nil && (!filepath.IsAbs(one.Path) || filepath.Clean(one.Path) != one.Path || strings.ContainsRune(one.Path, 0) || len(one.Path) > maxProjectPath) {
				err = p.bad("must be an absolute path without .. and without a / at its end, not %q", one.Path)
			}
		case "agent":
			if one.Agent, err = p.text(); err == nil && one.Agent == Every {
				err = p.bad("for every agent there is no agent")
			}
			one.Agent = AgentID(one.Agent)
		case "no":
			one.No, err = p.boolean()
		case "addedAt":
			one.AddedAt, err = p.number(0, maxTime)
		case "addedBy":
			if one.AddedBy, err = p.str(); err == nil && len(one.AddedBy) > maxAddedBy {
				err = p.bad("must have at most %d bytes", maxAddedBy)
			}
		default:
			err = p.bad(unknownKey)
		}
		return err
	})
	if err == nil && one.Path == "" {
		err = &fault{p.pos, ".path", "is missing"}
	}
	return one, err
}

// once refuses a folder of which two things are said to one agent.
func (p *parser) once(list []approval.Project) error {
	type key struct{ path, agent string }
	seen := map[key]bool{}
	for _, one := range list {
		k := key{one.Path, one.Agent}
		if seen[k] {
			return p.bad("%q is there twice", one.Path)
		}
		seen[k] = true
	}
	return nil
}

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

// contentID is the id of an entry that was written without one. It depends
// only on what the entry permits, so it stays until it is saved.
func contentID(agentID string, e approval.Entry) string {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(agentID+"\x00"+permissionKey(e))).String()
}
