package store

import (
	"path/filepath"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// Identities, rules of a denylist and skills are ours alone, so a key that we
// do not know may be a condition that we must not overlook.
const unknownKey = "is not a field that we know"

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
			one.Path, err = p.folder()
		case "sameAs":
			one.SameAs, err = p.folder()
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
	switch {
	case err != nil:
	case one.Path == "":
		err = &fault{p.pos, ".path", "is missing"}
	case one.SameAs != "" && (one.No || one.SameAs == one.Path):
		err = &fault{p.pos, ".sameAs", "is for a project, and names another folder"}
	}
	return one, err
}

// folder reads the path of a project.
func (p *parser) folder() (at string, err error) {
	if at, err = p.str(); err == nil && (!filepath.IsAbs(at) || filepath.Clean(at) != at || strings.ContainsRune(at, 0) || len(at) > maxProjectPath) {
		err = p.bad("must be an absolute path without .. and without a / at its end, not %q", at)
	}
	return at, err
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
