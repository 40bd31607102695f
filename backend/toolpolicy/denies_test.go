package toolpolicy

import (
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

// TestDenies leaves out of a list what is refused whatever it is told, and
// nothing that only some arguments or sessions are refused.
func TestDenies(t *testing.T) {
	deny := map[string]approval.ToolRule{"wiki/delete": {Security: approval.SecurityDeny}}
	narrow := map[string]approval.ToolRule{"wiki/*": {ArgRestrictions: map[string]approval.ArgRule{"space": {Required: true}}}}
	for _, c := range []struct {
		name          string
		policy        approval.Policy
		session, tool string
		want          bool
	}{
		{"no rule", approval.Policy{}, "", "read", false},
		{"denylist", approval.Policy{Denylist: []approval.DenyRule{{Pattern: "tool:wiki/*"}}}, "", "read", true},
		{"another server", approval.Policy{Denylist: []approval.DenyRule{{Pattern: "tool:git/*"}}}, "", "read", false},
		{"deny", approval.Policy{Tools: []approval.ToolLayer{{Deny: []string{"wiki/read"}}}}, "", "read", true},
		{"not allowed", approval.Policy{Tools: []approval.ToolLayer{{Allow: []string{"wiki/list"}}}}, "", "read", true},
		{"allowed", approval.Policy{Tools: []approval.ToolLayer{{Allow: []string{"wiki/*"}}}}, "", "read", false},
		{"rule", approval.Policy{Tools: []approval.ToolLayer{{Rules: deny}}}, "", "delete", true},
		{"some arguments", approval.Policy{Tools: []approval.ToolLayer{{Rules: narrow}}}, "", "read", false},
		{"another word", approval.Policy{Tools: []approval.ToolLayer{{Deny: []string{"git/*"}}}}, "", "git-push", false},
		{"its session", approval.Policy{Tools: []approval.ToolLayer{{Session: "review-*", Deny: []string{"wiki/read"}}}}, "review-7", "read", true},
		{"another session", approval.Policy{Tools: []approval.ToolLayer{{Session: "review-*", Deny: []string{"wiki/read"}}}}, "main", "read", false},
		{"every session", approval.Policy{Tools: []approval.ToolLayer{{Session: "*", Deny: []string{"wiki/read"}}}}, "", "read", true},
	} {
		if got := Prepare(c.policy, "/home/dev").Denies(c.session, "wiki", c.tool); got != c.want {
			t.Errorf("%s: %t", c.name, got)
		}
	}
}
