package opencode

import (
	"context"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/rescue"
)

// TestPanics: a request whose deciding panics stays pending, and others are decided.
func TestPanics(t *testing.T) {
	s := newFake(t)
	before := rescue.Caught()
	stop := follows(t, s, func(_ context.Context, call approval.ToolCall) (approval.Outcome, error) {
		if strings.Contains(string(call.Args), "one") {
			panic("secret")
		}
		return yes, nil
	})
	s.wait("per_1", bashRequest("per_1", "one"))
	s.event(folder, "permission.asked", bashRequest("per_1", "one"))
	s.wait("per_2", bashRequest("per_2", "two"))
	s.event(folder, "permission.asked", bashRequest("per_2", "two"))
	if r := s.next(); r.path != "/permission/per_2/reply" {
		t.Errorf("%+v", r)
	}
	s.none()
	if rescue.Caught() == before {
		t.Error("it was not counted")
	}
	if log := stop(); strings.Contains(log, "secret") {
		t.Error(log)
	}
}
