package store

import (
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

// What ends is taken out of every agent's list, also what was switched off, and
// the rest stays in its order.
func TestEndLeases(t *testing.T) {
	n := 0
	d := &Document{}
	for _, e := range []approval.Entry{
		{Pattern: "/a"}, {Pattern: "/b", ExpiresAt: 1}, {Pattern: "/c", UsesLeft: &n}, {Pattern: "/d", SessionKey: "s"},
		{Pattern: "/e", SessionKey: "s", Disabled: true}, {Pattern: "/f", Cwd: "/x"},
	} {
		d.Add("main", e)
		d.Add(Every, e)
	}
	if ended := d.EndLeases(nil); ended != 8 {
		t.Errorf("%d ended", ended)
	}
	for _, agent := range d.Agents {
		if l := agent.Allowlist; len(l) != 2 || l[0].Pattern != "/a" || l[1].Pattern != "/f" {
			t.Errorf("%+v", l)
		}
	}
	if d.EndLeases(nil) != 0 || (&Document{}).EndLeases(nil) != 0 {
		t.Error("there was nothing left")
	}
}
