//go:build linux || darwin

package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign-app/countersign/backend/agents/hook"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/rescue"
)

// TestHookPanics: input that makes the hook of an agent panic is refused in the words
// of that agent, and never let through.
func TestHookPanics(t *testing.T) {
	input, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer input.Close()
	stdin := os.Stdin
	os.Stdin = input
	defer func() { os.Stdin = stdin }()
	for _, agent := range hook.Agents() {
		t.Run(agent.Name, func(t *testing.T) {
			before := rescue.Caught()
			agent.Read = func([]byte) (hook.Event, error) { panic("secret") }
			got := (&hookCommand{For: agent.Name}).answer(context.Background(), agent, time.Now())
			if diff := cmp.Diff(agent.Refuse(errHookFailed), got); diff != "" {
				t.Error(diff)
			}
			if n := rescue.Caught() - before; n != 1 {
				t.Errorf("%d were counted", n)
			}
		})
	}
}

// TestHookPanicsInTime: what panics beside the hook is an error of ours to it.
func TestHookPanicsInTime(t *testing.T) {
	_, err := inTime(context.Background(), time.Now().Add(time.Minute), func(context.Context) (int, error) { panic("secret") })
	if !errors.Is(err, errHookFailed) {
		t.Error(err)
	}
}

// TestHookOfHostThatPanics: a host that panics at a call has the hook deny it, each
// time, and no text of the panic reaches the agent.
func TestHookOfHostThatPanics(t *testing.T) {
	w := hookWorld(t)
	w.judges(t, func(context.Context, approval.ToolCall) (any, *ipc.Error) { panic("hunter2") })
	for range 2 {
		got := w.hook(t, claudeAsks("PermissionRequest", "ls"), "claude-code")
		if !strings.Contains(got.stdout, `"behavior":"deny"`) || strings.Contains(got.stdout+got.stderr, "hunter2") {
			t.Errorf("%+v", got)
		}
	}
}
