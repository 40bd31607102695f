//go:build linux || darwin

package ipc

import (
	"errors"
	"os/exec"
	"slices"
	"testing"

	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/proc"
)

// TestAskers: for whom our own program asks is remembered as one that asked, or
// nothing is asked for it.
func TestAskers(t *testing.T) {
	s := start(t, handler{exec: echo})
	c := dialServer(t, s)
	client, err := approvaltest.InTerminal(exec.Command(approvaltest.Program(t, "sleep")))
	if err != nil {
		t.Fatal(err)
	}
	if err := client.Start(); err != nil {
		t.Fatal(err)
	}
	defer client.Wait()
	defer client.Process.Kill()
	info, err := proc.Stat(client.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	it := info.ID()
	for name, who := range map[string][]proc.ID{
		"an ended one":  {{PID: 1 << 30, Started: 1}},
		"another start": {{PID: it.PID, Started: it.Started + 1}},
		"too many":      slices.Repeat([]proc.ID{it}, maxAskers+1),
	} {
		x := command("true")
		x.Askers = who
		var refused *Error
		if _, err := c.Exec(t.Context(), testToken, x); !errors.As(err, &refused) {
			t.Errorf("%s: %v", name, err)
		}
	}
	var refused *Error
	if err := c.Call(t.Context(), []byte(testToken), MethodAskers, Askers{}, nil); !errors.As(err, &refused) {
		t.Errorf("nobody: %v", err)
	}
	x := command("true")
	x.Askers, x.Request.AgentID = []proc.ID{it}, "opencode"
	if _, err := c.Exec(t.Context(), testToken, x); err != nil {
		t.Fatal(err)
	}
	list := s.door.families.List()
	if len(list) != 1 || list[0].PID != it.PID || list[0].Agent != "opencode" {
		t.Errorf("%+v", list)
	}
	if err := s.door.families.Check(it); err == nil {
		t.Error("it may operate")
	}
	if !bridges[MethodAskers] {
		t.Error("everybody may name others")
	}
}
