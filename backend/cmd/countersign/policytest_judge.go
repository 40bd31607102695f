package main

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/corpus"
	"github.com/countersign-app/countersign/backend/environ"
	"github.com/countersign-app/countersign/backend/paths"
	"github.com/countersign-app/countersign/backend/policy"
	"github.com/countersign-app/countersign/backend/project"
)

// testAgent is the agent of every case.
const testAgent = "main"

// trial judges cases as a host would that has an empty state folder on the
// machine of the file. It looks at that machine only.
type trial struct {
	*bench
	cases  *corpus.File
	folder approval.Folder          // of the session
	ready  map[string]*policy.Rules // of the file's own policies
}

func newTrial(cases *corpus.File) *trial {
	return &trial{benchOf(cases.World), cases, named(cases.World), map[string]*policy.Rules{}}
}

// named is the session's folder: the person named the one that the cases are about.
func named(w *corpus.World) approval.Folder {
	at, _ := w.Look(w.Cwd) // it is there
	return project.Find(w.Cwd, project.Person{Home: w.Home, UID: corpus.UID}, []approval.Project{{Path: at.Path}}, w)
}

// labelled judges a case under the policy that it names.
func (t *trial) labelled(c corpus.Case) approval.Judgement {
	plan := t.plan(c)
	return t.judge(c, &plan, t.rulesOf(c))
}

// plan says what a case would run.
func (t *trial) plan(c corpus.Case) approval.Plan {
	return t.analyzer.Analyze(context.Background(), &approval.Request{
		Command: c.Argv, Text: c.Text, RawCommand: c.RawCommand, Env: c.Env,
		Who: approval.Ours, Cwd: t.cases.World.Cwd, AgentID: testAgent,
	}, t.folder)
}

func (t *trial) judge(c corpus.Case, plan *approval.Plan, rules *policy.Rules) approval.Judgement {
	env := environ.Check(c.Env)
	return t.judged(rules, policy.Input{
		Plan: plan, Who: approval.Ours, SessionKey: c.SessionKey, EnvRefused: env.Refused, Env: env.Asks,
	})
}

// accepted gives each skill without a hash that of its file: who writes cases means
// one that a person accepted as it is.
func accepted(list []approval.Skill, look func(string) (approval.File, error), hash func(approval.File) (string, error)) []approval.Skill {
	list = slices.Clone(list)
	for i, k := range list {
		file, err := look(k.Path)
		if k.SHA256 != "" || err != nil {
			continue
		}
		if sum, err := hash(file); err == nil {
			list[i].SHA256 = sum
		}
	}
	return list
}

// rulesOf returns the rules of a case, each policy prepared once.
func (t *trial) rulesOf(c corpus.Case) *policy.Rules {
	more, _ := json.Marshal(c.Allow) // plain fields cannot fail
	key := c.Base + "\x00" + string(more)
	rules, ok := t.ready[key]
	if !ok {
		base := t.cases.Policies[c.Base]
		base.Allow = slices.Concat(base.Allow, c.Allow)
		held := policyOf(base, t.cases.World.Home)
		held.Skills = accepted(held.Skills, t.cases.World.Look, t.hash)
		rules = t.prepare(held)
		t.ready[key] = rules
	}
	return rules
}

// policyOf is a policy of the file as a store would give it.
func policyOf(c corpus.Policy, home string) approval.Policy {
	p := approval.Policy{
		AgentID: testAgent, Security: approval.SecurityList, Ask: approval.AskOnMiss, AskFallback: approval.SecurityDeny,
		Allowlist: c.Allow, Denylist: c.Deny, AutoAllowSkills: c.AutoAllowSkills, SafeBins: c.SafeBins,
	}
	for _, dir := range c.TrustedDirs {
		p.SafeBinTrustedDirs = append(p.SafeBinTrustedDirs, paths.Expand(dir, home))
	}
	for _, skill := range c.Skills {
		skill.Path = paths.Expand(skill.Path, home)
		p.Skills = append(p.Skills, skill)
	}
	return p
}

// stripped reports whether a case requests variables and none of them would
// reach the program.
func stripped(c corpus.Case) bool {
	given := environ.Base{}.With(c.Env, "", "/")
	for name, value := range c.Env {
		if slices.Contains(given, name+"="+value) {
			return false
		}
	}
	return len(c.Env) > 0
}
