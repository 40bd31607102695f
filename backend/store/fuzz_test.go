package store

import (
	"reflect"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

// FuzzParse: no text makes the reader panic, and a document that is read,
// saved and read again means the same.
func FuzzParse(f *testing.F) {
	for _, row := range refused {
		if len(row.text) < 10_000 {
			f.Add(row.text)
		}
	}
	for _, row := range edits {
		f.Add(row.old)
		f.Add(row.new)
	}
	f.Fuzz(func(t *testing.T, text string) {
		one, err := Parse("f", []byte(text), home)
		if err != nil {
			return
		}
		saved, err := one.Encode()
		if err != nil {
			t.Fatalf("cannot be saved: %v", err)
		}
		two, err := Parse("f", saved, home)
		if err != nil {
			t.Fatalf("cannot be read again: %v\n%s", err, saved)
		}
		again, err := two.Encode()
		if err != nil || string(again) != string(saved) {
			t.Fatalf("saved twice, it changes:\n%s\n%s", saved, again)
		}
		if loosens := append(Loosens(one, two), Loosens(two, one)...); loosens != nil {
			t.Fatalf("it means something else: %q", loosens)
		}
		v, w := &view{home: home, accepted: one}, &view{home: home, accepted: two}
		for _, id := range agentIDs(one, two) {
			if a, b := v.policy(id), w.policy(id); !reflect.DeepEqual(plainPolicy(a), plainPolicy(b)) {
				t.Fatalf("agent %q:\n%+v\n%+v", id, a, b)
			}
		}
	})
}

// plainPolicy makes an empty list of an entry equal to none.
func plainPolicy(p approval.Policy) approval.Policy {
	list := make([]string, len(p.Allowlist))
	for i, e := range p.Allowlist {
		list[i] = permissionKey(e)
	}
	p.Allowlist, p.SafeBins = nil, append(p.SafeBins, list...)
	for i := range p.Denylist {
		if len(p.Denylist[i].Args) == 0 {
			p.Denylist[i].Args = nil
		}
	}
	return p
}
