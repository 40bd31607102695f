package judge_test

import (
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/judge"
)

// TestNothingSuggestedByClients: what an MCP client allowed is no sign of what a
// person wants.
func TestNothingSuggestedByClients(t *testing.T) {
	row := history.Row{Decision: approval.AllowOnce, AnsweredBy: "panel"}
	if !judge.AllowedByPerson(row) {
		t.Fatal("a person's yes does not count")
	}
	if row.AnsweredBy = approval.ByClient + "main"; judge.AllowedByPerson(row) {
		t.Error("a client's yes counts as a person's")
	}
}
