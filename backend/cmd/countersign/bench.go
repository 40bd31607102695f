package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path"
	"path/filepath"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/corpus"
	"github.com/countersign-app/countersign/backend/machine"
	"github.com/countersign-app/countersign/backend/paths"
	"github.com/countersign-app/countersign/backend/policy"
	"github.com/countersign-app/countersign/backend/project"
	"github.com/countersign-app/countersign/backend/starts"
)

// bench judges commands on one machine, an invented or this one, without a host:
// nothing runs, nobody is asked and nothing is written.
type bench struct {
	analyzer *command.Analyzer
	hash     func(approval.File) (string, error)
	now      time.Time
}

// benchOf judges on an invented machine, whose person has an empty state folder.
func benchOf(w *corpus.World) *bench {
	a := &command.Analyzer{World: w, Home: w.Home, UID: corpus.UID, Ours: []string{paths.Expand("~/.openclaw", w.Home)}}
	a.SetPath(w.Path)
	a.Temp = []string{"/tmp"}
	a.Secrets = func() bool { return false } // programs of an invented machine get no variables
	// The hash is that of what a file holds, or begins with where the description
	// says no more of a program.
	hash := func(f approval.File) (string, error) {
		sum, err := w.Hash(f)
		if err == nil {
			return sum, nil
		}
		head, err := w.Head(f, maxHead)
		whole := sha256.Sum256(head)
		return hex.EncodeToString(whole[:]), err
	}
	return &bench{a, hash, time.Now()}
}

const maxHead = 64 // bytes

// benchHere judges on this machine, with the PATH of this command.
func (p *program) benchHere() *bench {
	a := &command.Analyzer{World: machine.Disk{}, Home: p.home, UID: os.Getuid(), Ours: []string{p.state.Dir}}
	a.SetPath(filepath.SplitList(os.Getenv("PATH")))
	a.Temp = []string{"/tmp"}
	return &bench{a, new(machine.Hashes).Of, time.Now()}
}

func (b *bench) prepare(p approval.Policy) *policy.Rules {
	return policy.Prepare(p, b.analyzer.Home, func(name string) string {
		file, err := b.analyzer.World.Look(name)
		if err != nil {
			return ""
		}
		return file.Path
	})
}

// judged is the answer of rules, now and with the files of this machine.
func (b *bench) judged(rules *policy.Rules, in policy.Input) approval.Judgement {
	in.Now, in.Hash = b.now, b.hash
	return rules.Evaluate(in)
}

// folder is the session's folder of an agent that works in a folder. On a bench the
// person named each checkout, and the folder itself outside of one.
func (b *bench) folder(at string) approval.Folder {
	world := b.analyzer.World
	here, err := world.Look(at)
	if err != nil {
		return project.Find(at, b.person(), nil, world) // which says why it is none
	}
	return project.Find(at, b.person(), []approval.Project{{Path: b.checkout(here.Path)}}, world)
}

func (b *bench) person() project.Person {
	return project.Person{Home: b.analyzer.Home, UID: b.analyzer.UID}
}

// checkout is the folder with a .git in which a folder lies, or the folder itself.
func (b *bench) checkout(at string) string {
	for dir := at; dir != "/" && dir != b.analyzer.Home; dir = path.Dir(dir) {
		if _, err := b.analyzer.World.Look(path.Join(dir, ".git")); err == nil {
			return dir
		}
	}
	return at
}

// started is the policy of an agent that a start makes from the programs of this
// machine. ProjectCommands stand on top of DeveloperTools, for each of the projects.
func (b *bench) started(agent string, s starts.Start, projects ...string) approval.Policy {
	if s == starts.ProjectCommands {
		p := b.started(agent, starts.DeveloperTools)
		for _, at := range projects {
			p.Allowlist = append(p.Allowlist, s.Make(at, b.program).Entries...)
		}
		return p
	}
	p := approval.Policy{AgentID: agent, AskFallback: approval.SecurityDeny}
	for _, mode := range approval.Modes {
		if mode.ID == s.Mode() {
			p.Security, p.Ask = mode.Security, mode.Ask
		}
	}
	p.Allowlist = s.Make("", b.program).Entries
	return p
}

// program means the program that a name leads to.
func (b *bench) program(name string) (approval.Entry, bool) {
	plan := b.analyzer.Analyze(context.Background(), &approval.Request{Command: []string{name}, Who: approval.Ours}, approval.Folder{})
	if len(plan.Segments) == 0 || plan.Segments[0].Program == nil {
		return approval.Entry{}, false
	}
	return approval.Entry{Pattern: policy.PatternFor(plan.Segments[0].Program, plan.Segments[0].Kind)}, true
}
