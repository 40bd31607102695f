//go:build linux || darwin

package runner

import (
	"context"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

// TestVariablesThatNobodyJudged: a program gets a variable of the text only if its
// segment was judged with that value.
func TestVariablesThatNobodyJudged(t *testing.T) {
	r := newRunner(t)
	dir := scriptFolder(t)
	for _, text := range []string{
		`FLAVOUR=sweet printenv FLAVOUR`, `export FLAVOUR=sweet; printenv FLAVOUR`,
		`for FLAVOUR in sweet; do export FLAVOUR; printenv FLAVOUR; done`, `{ export FLAVOUR=sweet; printenv FLAVOUR; } | cat`,
	} {
		for _, judged := range []struct {
			with   []approval.Variable
			denied approval.Reason
		}{
			{[]approval.Variable{{Name: "FLAVOUR", Value: "sweet"}}, ""},
			{[]approval.Variable{{Name: "FLAVOUR", Value: "sour"}}, approval.ReasonEnvAsks},
			{nil, approval.ReasonEnvAsks},
		} {
			job := scriptJob(t, "bash", dir, text)
			if job == nil {
				t.Fatalf("%s does not run", text)
			}
			for i := range job.Plan.Segments {
				job.Plan.Segments[i].Env = judged.with
			}
			job.Final = nil
			result := r.Run(context.Background(), *job)
			switch {
			case judged.denied == "" && (result.Denied != nil || string(result.Stdout) != "sweet\n"):
				t.Errorf("%s, judged with %v: %+v %q", text, judged.with, result.Denied, result.Stdout)
			case judged.denied != "" && (result.Denied == nil || result.Denied.Reason != judged.denied):
				t.Errorf("%s, judged with %v: %+v %q", text, judged.with, result.Denied, result.Stdout)
			}
		}
	}
}
