package approval

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
)

// AsksSame reports whether two prompts differ in nothing but who asks and when:
// the same text runs the same programs in the same folder with the same
// environment, and it is judged alike. Secrets of the environment are not
// compared here, so prompts with some are never the same, and of calls of tools
// only those that run a command are: what stands beside it is each agent's own.
func (p Prompt) AsksSame(o Prompt) bool {
	return p.Plan.Text == o.Plan.Text && p.Who == o.Who && p.Project == o.Project &&
		slices.Equal(p.Env, o.Env) && !slices.ContainsFunc(p.Env, func(e EnvChange) bool { return e.Secret }) &&
		sameCommand(p.Plan.Tool, o.Plan.Tool) && reflect.DeepEqual(p.Plan.common(), o.Plan.common()) && p.Judgement.reads(o.Judgement)
}

// common is the plan without the call that it comes from, and without what changes
// in its folder whenever a file in it comes or goes.
func (p Plan) common() Plan {
	p.Tool = nil
	p.Cwd.Size, p.Cwd.Links, p.Cwd.Changed, p.Cwd.Mod = 0, 0, 0, 0
	return p
}

// sameCommand reports whether both are no calls of tools, or calls that run the
// command of their plan with the same care.
func sameCommand(a, b *Tool) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Command && b.Command && a.DefaultToNo == b.DefaultToNo && a.NoAlways == b.NoAlways
}

// reads reports whether a person is shown the same of two judgements.
func (j Judgement) reads(o Judgement) bool {
	mine, err := json.Marshal(j)
	theirs, err2 := json.Marshal(o)
	return err == nil && err2 == nil && bytes.Equal(mine, theirs)
}
