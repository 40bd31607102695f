package main

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/corpus"
	"github.com/countersign-app/countersign/backend/environ"
	"github.com/countersign-app/countersign/backend/paths"
	"github.com/countersign-app/countersign/backend/policy"
)

// testAgent is the agent of every case.
const testAgent = "main"

// trial judges cases as a host would that has an empty state folder on the
// machine of the file. It looks at that machine only.
type trial struct {
	cases    *corpus.File
	analyzer *command.Analyzer
	ready    map[string]*policy.Rules // of the file's own policies
	now      time.Time
}

func newTrial(cases *corpus.File) *trial {
	w := cases.World
	a := &command.Analyzer{World: w, Home: w.Home, UID: corpus.UID, Ours: []string{paths.Expand("~/.openclaw", w.Home)}}
	a.SetPath(w.Path)
	return &trial{cases, a, map[string]*policy.Rules{}, time.Now()}
}

// labelled judges a case under the policy that it names.
func (t *trial) labelled(c corpus.Case) approval.Judgement {
	plan := t.plan(c)
	return t.judge(c, &plan, t.rulesOf(c))
}

// plan says what a case would run.
func (t *trial) plan(c corpus.Case) approval.Plan {
	return t.analyzer.Analyze(&approval.Request{
		Command: c.Argv, Text: c.Text, RawCommand: c.RawCommand, Env: c.Env,
		Who: approval.Ours, Cwd: t.cases.World.Cwd, AgentID: testAgent,
	})
}

func (t *trial) judge(c corpus.Case, plan *approval.Plan, rules *policy.Rules) approval.Judgement {
	env := environ.Check(c.Env)
	return rules.Evaluate(policy.Input{
		Plan: plan, Who: approval.Ours, SessionKey: c.SessionKey, EnvRefused: env.Refused, EnvAsks: env.Asks, EnvOther: env.Other,
		Now: t.now, Hash: t.cases.World.Hash,
	})
}

// rulesOf returns the rules of a case, each policy prepared once.
func (t *trial) rulesOf(c corpus.Case) *policy.Rules {
	more, _ := json.Marshal(c.Allow) // plain fields cannot fail
	key := c.Base + "\x00" + string(more)
	rules, ok := t.ready[key]
	if !ok {
		base := t.cases.Policies[c.Base]
		base.Allow = slices.Concat(base.Allow, c.Allow)
		rules = t.prepare(policyOf(base, t.cases.World.Home))
		t.ready[key] = rules
	}
	return rules
}

func (t *trial) prepare(p approval.Policy) *policy.Rules {
	return policy.Prepare(p, t.cases.World.Home, func(name string) string {
		file, err := t.cases.World.Look(name)
		if err != nil {
			return ""
		}
		return file.Path
	})
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
