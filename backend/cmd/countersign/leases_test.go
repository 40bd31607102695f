//go:build linux || darwin

package main

import (
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// TestNoLongLease: a lease lasts for 30 days at most, also one that is counted, and
// where no host runs.
func TestNoLongLease(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	w.policy(t, `{"version": 1, "defaults": {"security": "allowlist", "ask": "on-miss"}}`)
	add := func() {
		t.Helper()
		cmd := w.command("approvals", "add", "--for", "1000h", "/usr/bin/long")
		if err := cmd.Run(); err == nil || cmd.ProcessState.ExitCode() != exitUsage {
			t.Errorf("--for 1000h: %v", err)
		}
		w.must(t, "approvals", "add", "--for", "720h", "/usr/bin/month")
		w.must(t, "approvals", "add", "--uses", "5", "/usr/bin/five")
	}
	add()
	if err := w.start(); err != nil {
		t.Fatal(err)
	}
	add()
	var leases map[string][]approval.Entry
	w.json(t, &leases, "leases", "list")
	if len(leases["*"]) < 2 {
		t.Errorf("%+v", leases)
	}
	for _, e := range leases["*"] {
		if left := time.Until(time.UnixMilli(e.Ends())); e.Ends() == 0 || left > approval.LeaseLimit {
			t.Errorf("%s lasts for %s", e.Pattern, left)
		}
	}
}
