//go:build linux || darwin

package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign-app/countersign/backend/store"
)

// TestFederation signs a policy where the gateway runs, and holds to it where
// the node runs, with the real programs.
func TestFederation(t *testing.T) {
	t.Parallel()
	f := newFarm(t)
	if err := f.machine.start(); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(f.agents.home, "policy.json")
	sign := func(text string) store.SignedPolicy {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var signed store.SignedPolicy
		f.agents.json(t, &signed, "gateway", "policy", file)
		return signed
	}
	if out, err := f.agents.command("gateway", "policy").CombinedOutput(); err == nil || !strings.Contains(string(out), "no policy is signed here") {
		t.Errorf("%s %v", out, err)
	}
	first := sign(`{"version": 1, "agents": {"main": {"denylist": [{"pattern": "printf", "args": ["no"]}]}}}`)
	runs := func(word, want string) {
		t.Helper()
		if got := f.exec(`{"command": ["printf", "` + word + `"]}`); !strings.Contains(got, want) {
			t.Errorf("printf %s: %s, want %s", word, got, want)
		}
	}
	runs("no", `"stdout":"no"`) // nobody there follows it
	f.machine.must(t, "policy", "follow", "home", first.Key)
	runs("yes", "the policy of home holds here too and is not there")
	if out, _ := f.machine.command("doctor").Output(); !strings.Contains(string(out), "BAD gateways     the policy of home") {
		t.Errorf("%s", out)
	}

	again := func() { // the node joins again, and pulls
		f.node.end(syscall.SIGTERM)
		token, err := os.ReadFile(f.agents.state.GatewayToken())
		if err != nil {
			t.Fatal(err)
		}
		cmd := f.machine.command("node", "run", "--gateway", f.url(), "--display-name", "mini")
		cmd.Env = append(cmd.Env, "COUNTERSIGN_GATEWAY_TOKEN="+strings.TrimSpace(string(token)))
		f.node = background(t, asService(t, f.machine, cmd))
		if !eventually(func() bool { return strings.Contains(f.exec(`{"command": ["printf", "yes"]}`), `"stdout":"yes"`) }) {
			t.Fatal("the policy does not come")
		}
	}
	again()
	runs("no", "the policy of home")
	if out, _ := f.machine.command("doctor").Output(); !strings.Contains(string(out), "ok  gateways     the policy of home") {
		t.Errorf("%s", out)
	}
	if out, err := f.agents.command("gateway", "policy").Output(); err != nil || !strings.Contains(string(out), first.Key) || !strings.Contains(string(out), "printf") {
		t.Errorf("%s %v", out, err)
	}
	if out, err := f.agents.command("gateway", "policy", f.agents.state.Approvals()).CombinedOutput(); err == nil || !strings.Contains(string(out), "has no allowlist") {
		t.Errorf("what loosens is signed: %s %v", out, err)
	}
	if second := sign(`{"version": 1, "defaults": {"ask": "always"}}`); second.Serial <= first.Serial || second.Key != first.Key {
		t.Errorf("%+v after %+v", second, first)
	}

	// An older one is not taken, whoever brings it, and the person can end it.
	f.machine.must(t, "policy", "unfollow", "home")
	runs("no", `"stdout":"no"`)
	if out, err := f.machine.command("policy", "unfollow", "home").CombinedOutput(); err == nil || !strings.Contains(string(out), "no policy of home") {
		t.Errorf("%s %v", out, err)
	}
}
