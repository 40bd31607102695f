package judge

import (
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/history"
)

// TestNothingSuggestedByClients: what an MCP client allowed is no sign of what a
// person wants.
func TestNothingSuggestedByClients(t *testing.T) {
	row := history.Row{Decision: approval.AllowOnce, AnsweredBy: "panel"}
	if !allowedByPerson(row) {
		t.Fatal("a person's yes does not count")
	}
	if row.AnsweredBy = approval.ByClient + "main"; allowedByPerson(row) {
		t.Error("a client's yes counts as a person's")
	}
}
