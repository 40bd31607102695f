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
// compared here, so prompts with some are never the same.
func (p Prompt) AsksSame(o Prompt) bool {
	return p.Plan.Text == o.Plan.Text && p.Who == o.Who && p.Project == o.Project &&
		slices.Equal(p.Env, o.Env) && !slices.ContainsFunc(p.Env, func(e EnvChange) bool { return e.Secret }) &&
		reflect.DeepEqual(p.Plan.inFolder(), o.Plan.inFolder()) && p.Judgement.reads(o.Judgement)
}

// inFolder is the plan without what changes in its folder whenever a file in it
// comes or goes.
func (p Plan) inFolder() Plan {
	p.Cwd.Size, p.Cwd.Links, p.Cwd.Changed, p.Cwd.Mod = 0, 0, 0, 0
	return p
}

// reads reports whether a person is shown the same of two judgements.
func (j Judgement) reads(o Judgement) bool {
	mine, err := json.Marshal(j)
	theirs, err2 := json.Marshal(o)
	return err == nil && err2 == nil && bytes.Equal(mine, theirs)
}
