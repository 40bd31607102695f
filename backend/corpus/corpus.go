// Package corpus reads files of labelled commands and the invented machine
// they are about, and counts how well verdicts agree with the labels. It
// judges nothing and opens nothing: the text of a file comes in, and the
// machine that it describes is all that its commands can see.
package corpus

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

const (
	// MaxSize is the size in bytes above which a file is refused.
	MaxSize = 64 << 20
	// MaxCases is the number of cases above which a file is refused.
	MaxCases = 100_000
)

// schema is the version of the format that is read.
const schema = "1"

// File is a corpus: cases, the policies they are judged under, and the machine
// they would run on.
type File struct {
	World    *World
	Policies map[string]Policy
	Cases    []Case
	// Unknown are the fields that were not understood and are ignored, such as
	// "cases[].comment", each named once.
	Unknown []string
}

// Policy is a policy as a corpus writes it. Security is allowlist and ask is
// on-miss.
type Policy struct {
	Allow           []approval.Entry
	Deny            []approval.DenyRule
	SafeBins        []string
	TrustedDirs     []string
	AutoAllowSkills bool
	Skills          []approval.Skill
}

// Tier says how much a case counts.
type Tier string

const (
	Must   Tier = "must"
	Should Tier = "should"
	Info   Tier = "info" // both answers can be defended
)

// strip in Accept means that an allow is right if the requested variables
// never reach the program.
const strip = "strip"

// Case is one labelled command.
type Case struct {
	ID, Class, Origin string
	// Argv is the plain command, or Text the shell text; never both.
	Argv       []string
	Text       string
	Env        map[string]string
	RawCommand string
	SessionKey string
	Base       string           // name of the policy
	Allow      []approval.Entry // entries beside those of Base
	Expect     approval.Verdict
	Accept     []string // verdicts that are right, and "strip"
	Tier       Tier
	// StrictMayAsk tells that the command is harmless and asking is still no
	// mistake.
	StrictMayAsk bool
}

// Parse reads a corpus. The name is for error messages, which say line and
// field.
func Parse(name string, text []byte) (*File, error) {
	r, err := newReader(name, text)
	if err != nil {
		return nil, err
	}
	f := &File{Policies: map[string]Policy{}}
	var world worldText
	var bases []place // where each case names its policy
	ids := map[string]bool{}
	err = r.object(func(key string) error {
		switch key {
		case "schema":
			return r.schema()
		case "world":
			return r.world(&world)
		case "policies":
			return r.object(func(name string) error {
				p, err := r.policy()
				f.Policies[name] = p
				return err
			})
		case "cases":
			return r.list(func() error {
				at := r.here()
				c, base, err := r.oneCase()
				switch {
				case err != nil:
					return err
				case ids[c.ID]:
					return r.bad(at, "there is a case %q before this one", c.ID)
				case len(f.Cases) == MaxCases:
					return r.bad(at, "there are more than %d cases: part the file", MaxCases)
				}
				ids[c.ID] = true
				f.Cases, bases = append(f.Cases, c), append(bases, base)
				return nil
			})
		case "title", "generated", "verdicts", "count":
			return r.skip()
		}
		return r.unknown()
	})
	if err == nil && len(f.Cases) == 0 {
		err = errors.New(name + ": there are no cases in it")
	}
	if err != nil {
		return nil, err
	}
	for i, c := range f.Cases {
		if _, ok := f.Policies[c.Base]; !ok {
			return nil, r.bad(bases[i], "there is no policy %q", c.Base)
		}
	}
	f.Unknown = r.ignored
	f.World, err = r.build(world)
	return f, err
}

func (r *reader) schema() error {
	at := r.here()
	if got := strings.TrimSpace(string(r.raw())); got != schema {
		return r.bad(at, "schema %s is not known here: this reads schema %s", got, schema)
	}
	return nil
}

func (r *reader) policy() (p Policy, err error) {
	err = r.object(func(key string) (err error) {
		switch key {
		case "allow":
			err = r.list(func() error { return add(&p.Allow, r.entry) })
		case "deny":
			err = r.list(func() error { return add(&p.Deny, r.denyRule) })
		case "safeBins":
			p.SafeBins, err = r.strings()
		case "trustedSafeBinDirs":
			p.TrustedDirs, err = r.strings()
		case "autoAllowSkills":
			p.AutoAllowSkills, err = r.boolean()
		case "skillBins":
			err = r.list(func() error { return add(&p.Skills, r.skill) })
		case "desc":
			err = r.skip()
		default:
			err = r.unknown()
		}
		return err
	})
	return p, err
}

func (r *reader) skill() (s approval.Skill, err error) {
	at := r.here()
	err = r.object(func(key string) (err error) {
		switch key {
		case "name":
			s.Name, err = r.str()
		case "path":
			s.Path, err = r.str()
		case "sha256":
			s.SHA256, err = r.str()
		default:
			err = r.unknown()
		}
		return err
	})
	if err == nil && (s.Name == "" || s.Path == "") {
		err = r.bad(at, "a skill needs name and path")
	}
	return s, err
}

func (r *reader) oneCase() (c Case, base place, err error) {
	at := r.here()
	read := map[string]bool{}
	err = r.object(func(key string) (err error) {
		if r.next() == 'n' { // null is as good as nothing
			return r.skip()
		}
		read[key] = true
		if key == "policy" {
			base, err = r.casePolicy(&c)
			return err
		}
		return r.caseField(&c, key)
	})
	if err != nil {
		return c, base, err
	}
	for _, key := range []string{"id", "class", "origin", "input", "policy", "expect", "accept", "tier"} {
		if !read[key] {
			return c, base, r.bad(at, "the case has no %q", key)
		}
	}
	switch {
	case c.ID == "":
		err = r.bad(at, "the id is empty")
	case c.Base == "":
		err = r.bad(at, "the case's policy has no \"base\"")
	case !slices.Contains(c.Accept, string(c.Expect)):
		err = r.bad(at, "accept leaves out %q, which is expected", c.Expect)
	}
	return c, base, err
}

func (r *reader) caseField(c *Case, key string) (err error) {
	switch key {
	case "id":
		c.ID, err = r.str()
	case "class":
		c.Class, err = r.str()
	case "origin":
		c.Origin, err = r.str()
	case "input":
		if r.next() == '"' {
			c.Text, err = r.str()
		} else {
			c.Argv, err = r.strings()
		}
	case "env":
		c.Env = map[string]string{}
		err = r.object(func(name string) (err error) {
			c.Env[name], err = r.str()
			return err
		})
	case "rawCommand":
		c.RawCommand, err = r.str()
	case "sessionKey":
		c.SessionKey, err = r.str()
	case "expect":
		var word string
		word, err = r.word(verdicts...)
		c.Expect = approval.Verdict(word)
	case "accept":
		err = r.list(func() error {
			word, err := r.word(append(verdicts, strip)...)
			c.Accept = append(c.Accept, word)
			return err
		})
	case "tier":
		var word string
		word, err = r.word(string(Must), string(Should), string(Info))
		c.Tier = Tier(word)
	case "strict_may_ask":
		c.StrictMayAsk, err = r.boolean()
	case "source", "difficulty", "why", "note":
		err = r.skip()
	default:
		err = r.unknown()
	}
	return err
}

// casePolicy reads the policy of a case and says where it names its base.
func (r *reader) casePolicy(c *Case) (base place, err error) {
	err = r.object(func(key string) (err error) {
		switch key {
		case "base":
			base = r.here()
			c.Base, err = r.str()
		case "allow":
			err = r.list(func() error { return add(&c.Allow, r.entry) })
		default:
			err = r.unknown()
		}
		return err
	})
	return base, err
}

var verdicts = []string{string(approval.VerdictAllow), string(approval.VerdictAsk), string(approval.VerdictDeny)}

// word reads one of a few words.
func (r *reader) word(known ...string) (string, error) {
	at := r.here()
	word, err := r.str()
	if err == nil && !slices.Contains(known, word) {
		err = r.bad(at, "cannot be %q: use one of %s", word, strings.Join(known, ", "))
	}
	return word, err
}

// bad is the error for what stands at a place.
func (r *reader) bad(at place, format string, args ...any) error {
	problem := fmt.Sprintf(format, args...)
	if at.field != "" {
		problem = at.field + ": " + problem
	}
	return fmt.Errorf("%s:%d: %s", r.name, r.line(at.offset), problem)
}
