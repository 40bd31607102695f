package store

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"
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
			return p.section(d, key)
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

// section reads what is kept as it is written, and checks what it says.
func (p *parser) section(d *Document, key string) error {
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
