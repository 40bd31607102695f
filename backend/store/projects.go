package store

import (
	"fmt"
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
)

// maxProjects bounds the folders that are named, or said no to.
const maxProjects = 1_000

// Name keeps what a person said of a folder, in the place of what they said of it
// before: to the same agent, and with every agent to all. What was said to every
// agent holds on for the others.
func (d *Document) Name(p approval.Project) {
	d.Projects = slices.DeleteFunc(d.Projects, func(have approval.Project) bool {
		return have.Path == p.Path && (p.Agent == "" || have.Agent == p.Agent)
	})
	d.Projects = append(d.Projects, p)
}

// Unname takes out what was said of a folder to these agents, "" for what was said
// to every one, or with none of them all of it, and returns that.
func (d *Document) Unname(path string, agents ...string) (gone []approval.Project) {
	d.Projects = slices.DeleteFunc(d.Projects, func(have approval.Project) bool {
		if have.Path != path || len(agents) > 0 && !slices.Contains(agents, have.Agent) {
			return false
		}
		gone = append(gone, have)
		return true
	})
	return gone
}

// Projects are what a person said of folders. While an edit is held that is what
// both versions say.
func (s Snapshot) Projects() []approval.Project {
	switch {
	case s.Broken != nil:
		return nil
	case s.view.waiting != nil:
		return bothSay(s.view.accepted.Projects, s.view.waiting.Projects)
	}
	return s.view.accepted.Projects
}

// projects returns what was said of folders to an agent, or with "" to all that
// have no name here. What was said to it alone decides before what was said to every
// agent.
func (d *Document) projects(agentID string) (list []approval.Project) {
	own := map[string]bool{}
	for _, p := range d.Projects {
		own[p.Path] = own[p.Path] || p.Agent != "" && p.About(agentID)
	}
	for _, p := range d.Projects {
		if p.About(agentID) && (p.Agent != "") == own[p.Path] {
			p.Agent = "" // to whom it was said makes no difference any more
			list = append(list, p)
		}
	}
	return list
}

// projectsOfOne are those that are about one agent.
func (d *Document) projectsOfOne() (list []approval.Project) {
	for _, p := range d.Projects {
		if p.Agent != "" {
			list = append(list, p)
		}
	}
	return list
}

// saidOf is what counts of what was said of a folder.
func saidOf(p approval.Project) approval.Project {
	p.AddedAt, p.AddedBy = 0, ""
	return p
}

// alone is a project in which no rules of another one count.
func alone(p approval.Project) approval.Project {
	p.SameAs = ""
	return p
}

// bothSay joins what two documents say of folders: projects are those of both, with the
// rules of another one where both say so, and no project are those of one.
func bothSay(a, b []approval.Project) (list []approval.Project) {
	said := func(list []approval.Project, p approval.Project) bool {
		return slices.ContainsFunc(list, func(q approval.Project) bool { return saidOf(p) == saidOf(q) })
	}
	for _, p := range a {
		same := func(q approval.Project) bool { return saidOf(alone(p)) == saidOf(alone(q)) }
		switch {
		case p.No || said(b, p):
			list = append(list, p)
		case slices.ContainsFunc(b, same):
			list = append(list, alone(p))
		}
	}
	for _, p := range b {
		if p.No && !said(a, p) {
			list = append(list, p)
		}
	}
	return list
}

// projects finds folders that are projects now, and such that were none.
func (c *comparison) projects() {
	was, is := map[approval.Project]bool{}, map[approval.Project]bool{}
	for _, p := range c.old.Projects {
		was[saidOf(p)] = true
		if !p.No {
			was[alone(saidOf(p))] = true // fewer rules count there then
		}
	}
	for _, p := range c.new.Projects {
		is[saidOf(p)] = true
	}
	everywhere := func(of map[approval.Project]bool, p approval.Project) bool {
		p.Agent = ""
		return of[p]
	}
	for _, p := range c.new.Projects {
		if p = saidOf(p); !p.No && !was[p] && !everywhere(was, p) {
			c.say(Line{Agent: whose(p.Agent), Kind: LineProject, Text: p.Path, Is: p.SameAs}, "projects: %q is a project now%s%s", p.Path, like(p.SameAs), forAgent(p.Agent))
		}
	}
	for _, p := range c.old.Projects {
		if p = saidOf(p); p.No && !is[p] && !everywhere(is, p) {
			c.say(Line{Agent: whose(p.Agent), Kind: LineNoProject, Text: p.Path}, "projects: %q was no project%s, and may be one now", p.Path, forAgent(p.Agent))
		}
	}
}

// like says whose rules count in a folder too.
func like(at string) string {
	if at == "" {
		return ""
	}
	return fmt.Sprintf(", and what may run in %q may run there", at)
}

func forAgent(id string) string {
	if id == "" {
		return ""
	}
	return " for agent " + plain(id)
}
