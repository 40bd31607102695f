//go:build linux || darwin

package proxy

import (
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

// TestPanics: a call whose judging panics does not reach the server.
func TestPanics(t *testing.T) {
	s := newStage(t)
	for range 2 {
		s.client(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"panic"}}`)
		if got := s.line(); !strings.Contains(got, string(approval.ReasonInternal)) || strings.Contains(got, "secret") {
			t.Errorf("%s", got)
		}
	}
	s.getsNothing()
}
