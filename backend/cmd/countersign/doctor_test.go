//go:build linux || darwin

package main

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
)

// TestDoctorOtherOwner: a policy file of another user, with which the host denies
// everything, is not all right, as itself and by what the host says.
func TestDoctorOtherOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root gives files away")
	}
	t.Parallel()
	w := testWorld(t)
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	w.must(t, "doctor")
	if err := os.Chown(w.state.Approvals(), 65534, -1); err != nil {
		t.Fatal(err)
	}
	bad := func() (what []string) {
		out, err := w.command("--json", "doctor").Output()
		var checks []check
		if err == nil || json.Unmarshal(out, &checks) != nil {
			return nil
		}
		for _, c := range checks {
			if !c.OK {
				what = append(what, c.What)
			}
		}
		return what
	}
	if got := bad(); !slices.Contains(got, "policy file") {
		t.Errorf("with a host: %v", got)
	}
	if !eventually(func() bool { return slices.Contains(bad(), "policy") }) {
		t.Error("what the host says of it is not told")
	}
}
