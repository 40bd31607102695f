package policy

import (
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

// The tables of risk say each thing once, from high to low, and why.
func TestRiskTables(t *testing.T) {
	order := []approval.Risk{approval.RiskHigh, approval.RiskMedium, approval.RiskLow}
	var level []int
	seen := map[approval.Reason]bool{}
	for i, row := range reasonRisk {
		level = append(level, slices.Index(order, row.level))
		if seen[row.reason] || row.why == "" || row.reason == "" || level[i] < 0 {
			t.Errorf("%+v", row)
		}
		if i > 0 && level[i-1] == level[i] && reasonRisk[i-1].reason > row.reason {
			t.Errorf("%s is not in its place", row.reason)
		}
		seen[row.reason] = true
	}
	if !slices.IsSorted(level) {
		t.Error("the levels are not in order")
	}
	level = nil
	for _, row := range programRisk {
		level = append(level, slices.Index(order, row.level))
		if row.why == "" || strings.Count(row.says, "%s") != 1 || row.level == approval.RiskLow {
			t.Errorf("%q: %s", row.says, row.level)
		}
	}
	if !slices.IsSorted(level) {
		t.Error("the levels of programs are not in order")
	}
}
