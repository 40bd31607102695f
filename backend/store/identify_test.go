package store

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign-app/countersign/backend/approval"
)

func TestIdentify(t *testing.T) {
	a, b, c := fmt.Sprintf("%064d", 1), fmt.Sprintf("%064d", 2), fmt.Sprintf("%064d", 3)
	id := func(path, sum string) approval.Identity { return approval.Identity{Path: path, SHA256: sum} }
	start := approval.Entry{ID: "e", Pattern: "/x/*", Identity: []approval.Identity{id("/x/1", a), id("/x/2", "")}}
	tests := []struct {
		name string
		seen approval.Entry
		was  map[string]string
		want []approval.Identity
		err  error
	}{
		{"a new file", approval.Entry{ID: "e", Identity: []approval.Identity{id("/x/3", c)}}, map[string]string{"/x/3": ""},
			[]approval.Identity{id("/x/1", a), id("/x/2", ""), id("/x/3", c)}, nil},
		{"of which only the path was known", approval.Entry{ID: "e", Identity: []approval.Identity{id("/x/2", b)}}, map[string]string{"/x/2": ""},
			[]approval.Identity{id("/x/1", a), id("/x/2", b)}, nil},
		{"a new version", approval.Entry{ID: "e", Identity: []approval.Identity{id("/x/1", b)}}, map[string]string{"/x/1": a},
			[]approval.Identity{id("/x/2", ""), id("/x/1", b)}, nil},
		{"others were first", approval.Entry{ID: "e", Identity: []approval.Identity{id("/x/3", c), id("/x/1", b)}}, map[string]string{"/x/1": c, "/x/3": ""},
			start.Identity, ErrChanged},
		{"others were first with a new one", approval.Entry{ID: "e", Identity: []approval.Identity{id("/x/1", b)}}, map[string]string{"/x/1": ""},
			start.Identity, ErrChanged},
		{"no such entry", approval.Entry{ID: "f", Identity: []approval.Identity{id("/x/1", b)}}, map[string]string{"/x/1": a},
			start.Identity, ErrNoLease},
	}
	for _, test := range tests {
		s := open(t, options(stateDir(t)))
		if _, err := s.Update("", func(d *Document) error { d.Add("main", start); return nil }); err != nil {
			t.Fatal(err)
		}
		if err := s.Identify([]Record{{Entry: test.seen, Was: test.was}}); !errors.Is(err, test.err) {
			t.Errorf("%s: %v, want %v", test.name, err, test.err)
		}
		if diff := cmp.Diff(test.want, s.Snapshot().Policy("main").Allowlist[0].Identity); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
}

// Of very many files the oldest records make room: the file stays readable.
func TestIdentifyIsBounded(t *testing.T) {
	s := open(t, options(stateDir(t)))
	e := approval.Entry{ID: "e", Pattern: "/x/*"}
	for i := range maxItems {
		e.Identity = append(e.Identity, approval.Identity{Path: fmt.Sprint("/x/", i)})
	}
	if _, err := s.Update("", func(d *Document) error { d.Add("main", e); return nil }); err != nil {
		t.Fatal(err)
	}
	if err := s.Identify([]Record{{Entry: approval.Entry{ID: "e", Identity: []approval.Identity{{Path: "/x/new"}}}}}); err != nil {
		t.Fatal(err)
	}
	got := s.Snapshot().Policy("main").Allowlist[0].Identity
	if len(got) != maxItems || got[0].Path != "/x/1" || got[maxItems-1].Path != "/x/new" {
		t.Errorf("%d records, from %s to %s", len(got), got[0].Path, got[len(got)-1].Path)
	}
}
