//go:build linux || darwin

package node

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/host"
)

// watched is a host whose questions wait for a person.
func (m *machine) watched() *host.Host {
	h, err := host.Start(host.Options{State: m.opt.Road.State, Home: m.home, User: "nobody", Shell: "/bin/sh", WaitForAnswers: true, Log: m.opt.Log, Version: "test"})
	must(m.t, err)
	m.t.Cleanup(func() { h.Close() })
	return h
}

// TestEscalates: a question goes on to the gateway, whose yes counts where a
// person switched that on, and whose no always does.
func TestEscalates(t *testing.T) {
	for _, c := range []struct {
		accepts, decision, want string
		denyOnly                bool
	}{
		{"", "deny", "SYSTEM_RUN_DENIED", true},
		{"its own", "allow-once", `"exitCode":0`, false},
	} {
		t.Run(c.decision, func(t *testing.T) {
			g := newGateway(t)
			m := newMachine(t, g)
			accepts := ""
			if c.accepts != "" {
				accepts = fmt.Sprintf("%q", approval.GatewayName(g.url()))
			}
			must(t, os.WriteFile(m.opt.Road.State.Approvals(), []byte(fmt.Sprintf(`{"version": 1, "socket": {"token": "dG9rZW4tb2YtYS10ZXN0LTAxMjM0NTY3ODk"},
				"approvers": [{"who": "gateway", "url": %q, "seconds": 60}],
				"defaults": {"security": "allowlist", "ask": "on-miss"}, "agents": {"main": {"acceptAnswersFrom": [%s]}}}`, g.url(), accepts)), 0o600))
			watched := m.watched()
			at := m.join(g)
			result := at.send("r", "system.run", run("touch", "a"))
			r := <-g.escalated
			var asked question
			must(t, json.Unmarshal(r.Params, &asked))
			if !strings.Contains(asked.Command, "touch") || asked.DenyOnly != c.denyOnly || asked.AgentID != "main" {
				t.Errorf("%+v", asked)
			}
			must(t, at.conn.Reply(t.Context(), r.ID, map[string]string{"decision": c.decision, "operator": "ann\n" + strings.Repeat("x", 500)}, nil))
			got, _ := json.Marshal(<-result)
			if !strings.Contains(strings.ReplaceAll(string(got), `\"`, `"`), c.want) {
				t.Errorf("%s", got)
			}
			last, err := watched.LastRequest(t.Context())
			must(t, err)
			if want := "gateway " + approval.GatewayName(g.url()) + `, operator ann\u{A}xxx`; last == nil || !strings.HasPrefix(last.AnsweredBy, want) || len(last.AnsweredBy) > len(want)+200 {
				t.Errorf("%+v", last)
			}
		})
	}
}
