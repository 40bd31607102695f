//go:build linux || darwin

package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign-app/countersign/backend/agents/hook"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/toolpolicy"
)

// goldenCase is what of a case of the adapters' own tests holds for the whole
// program: a host that answers so, what the agent wrote, what it gets.
type goldenCase struct {
	Name      string             `json:"name"`
	Input     json.RawMessage    `json:"input"`
	Raw       *string            `json:"raw"`
	Call      *approval.ToolCall `json:"call"`
	Outcome   *approval.Outcome  `json:"outcome"`
	Silent    *string            `json:"silent"`
	Rewritten string             `json:"rewritten"`
	Want      struct {
		Stdout json.RawMessage `json:"stdout"`
		Stderr string          `json:"stderr"`
		Code   int             `json:"code"`
	} `json:"want"`
}

// TestHookGolden has the real program answer what each adapter's cases hold. How
// a command is written that is to run instead, and why nobody could be asked,
// depend on the machine: these cases are for the adapters' own test alone.
func TestHookGolden(t *testing.T) {
	for _, agent := range hook.Agents() {
		if agent.Name == "opencode" { // it is followed, and no hook
			continue
		}
		t.Run(agent.Name, func(t *testing.T) {
			w := hookWorld(t)
			var outcome approval.Outcome
			var call approval.ToolCall
			w.judges(t, func(_ context.Context, c approval.ToolCall) (any, *ipc.Error) {
				call = c
				return outcome, nil
			})
			text, err := os.ReadFile(filepath.Join("../../agents/hook/testdata", agent.Name+".json"))
			if err != nil {
				t.Fatal(err)
			}
			var cases []goldenCase
			if err := json.Unmarshal(text, &cases); err != nil {
				t.Fatal(err)
			}
			tried := 0
			for _, c := range cases {
				if c.Silent != nil || c.Rewritten != "" || c.Outcome != nil && c.Outcome.Approved != "" {
					continue
				}
				tried++
				outcome, call = approval.Outcome{}, approval.ToolCall{}
				if c.Outcome != nil {
					outcome = *c.Outcome
				}
				input := string(c.Input)
				if c.Raw != nil {
					input = *c.Raw
				}
				got := w.hook(t, input, agent.Name)
				if got.code != c.Want.Code || strings.TrimSpace(got.stderr) != strings.TrimSpace(c.Want.Stderr) || !sameJSON(got.stdout, string(c.Want.Stdout)) {
					t.Errorf("%s: %+v, want %+v %s", c.Name, got, c.Want, c.Want.Stdout)
				}
				if c.Call != nil && (call.Tool != c.Call.Tool || call.Server != c.Call.Server || !sameJSON(string(call.Args), string(c.Call.Args))) {
					t.Errorf("%s: %s", c.Name, cmp.Diff(*c.Call, call))
				}
			}
			if tried < 6 {
				t.Errorf("only %d of %d cases are for the whole program", tried, len(cases))
			}
		})
	}
}

// TestGoldenCalls has policy read the calls that the adapters make: none of them
// is a call of a known tool that it takes for a mistake.
func TestGoldenCalls(t *testing.T) {
	machine := toolpolicy.Machine{
		Home: "/home/ann", Link: func(string) string { return "" },
		Look:      func(path string) (approval.File, error) { return approval.File{Path: path}, nil },
		Protected: func(string, bool) (p approval.Protected) { return p },
	}
	for _, agent := range hook.Agents() {
		text, err := os.ReadFile(filepath.Join("../../agents/hook/testdata", agent.Name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		var cases []goldenCase
		if err := json.Unmarshal(text, &cases); err != nil {
			t.Fatal(err)
		}
		for _, c := range cases {
			if c.Call == nil || c.Outcome != nil && c.Outcome.Receipt.Reason == approval.ReasonInvalid {
				continue
			}
			if _, err := toolpolicy.Look(c.Call, approvaltest.Named(c.Call.Cwd), machine); err != nil {
				t.Errorf("%s, %s: %v", agent.Name, c.Name, err)
			}
		}
	}
}

// sameJSON reports whether two texts are one value; nothing printed is null.
func sameJSON(a, b string) bool {
	value := func(text string) (v any) {
		if strings.TrimSpace(text) != "" && json.Unmarshal([]byte(text), &v) != nil {
			return text
		}
		return v
	}
	return cmp.Equal(value(a), value(b))
}
