//go:build linux || darwin

package node

import (
	"crypto/ed25519"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/link"
	"github.com/countersign-app/countersign/backend/store"
)

// TestPull hands the policy of the gateway to the host when the node joins, and
// when the gateway tells of another one.
func TestPull(t *testing.T) {
	_, key, err := ed25519.GenerateKey(nil)
	must(t, err)
	signed := func(serial int64, text string) store.SignedPolicy {
		p, err := store.SignPolicy(key, serial, []byte(`{"version": 1, `+text+`}`))
		must(t, err)
		return p
	}
	g := newGateway(t)
	m := newMachine(t, g, "/bin/echo", "/usr/bin/echo")
	policy := m.opt.Road.State.Approvals()
	text, err := os.ReadFile(policy)
	must(t, err)
	must(t, os.WriteFile(policy, []byte(strings.Replace(string(text), `"version": 1,`, `"version": 1, "policyFrom": [{"gateway": "home", "key": "`+signed(1, `"defaults": {}`).Key+`"}],`, 1)), 0o600))
	h, err := m.host()
	must(t, err)
	t.Cleanup(h.Close)
	at := m.join(g)
	pull := <-g.pulls
	for i, c := range []struct {
		reply   any
		refusal *link.Error
		runs    bool
	}{
		{nil, link.Refuse(link.CodeInvalid, "unknown method"), false},
		{nil, nil, false},
		{"x", nil, false},
		{signed(2, `"defaults": {}`), nil, true},
		{signed(1, `"defaults": {"security": "deny"}`), nil, true},
		{nil, nil, true},
		{signed(3, `"defaults": {"denylist": ["echo"]}`), nil, false},
	} {
		must(t, at.conn.Reply(t.Context(), pull.ID, c.reply, c.refusal))
		must(t, at.conn.Send(t.Context(), eventPolicy, struct{}{}))
		pull = <-g.pulls // what came before was taken
		if got := at.invoke(fmt.Sprint(i), "system.run", run("echo", "a")); strings.Contains(got, `"exitCode":0`) != c.runs {
			t.Errorf("%d: %s, runs %t", i, got, c.runs)
		}
	}
	_, stranger, err := ed25519.GenerateKey(nil)
	must(t, err)
	theirs, err := store.SignPolicy(stranger, 9, []byte(`{"version": 1}`))
	must(t, err)
	must(t, at.conn.Reply(t.Context(), pull.ID, theirs, nil))
	select {
	case <-g.pulls: // the gateway says nothing, and it is tried again
	case <-time.After(30 * time.Second):
		t.Fatal("what the host did not take is not pulled again")
	}
	var file host.PolicyFile
	must(t, host.NewRoad(m.opt.Road).Call(t.Context(), "policy.file", struct{}{}, &file))
	if !strings.Contains(strings.ReplaceAll(string(file.File), " ", ""), `"serial":3`) {
		t.Errorf("%s", file.File)
	}
}
