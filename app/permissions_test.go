package main

import (
	"os"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/app/mac"
	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/paths"
	"github.com/countersign-app/countersign/backend/signature"
)

// newMac is what macOS would say to a build of this identity that was granted
// nothing but these.
func newMac(path, identity string, granted ...string) *permissions {
	return &permissions{
		path: path, install: func() mac.Install { return mac.Install{Identity: identity, AdHoc: true} },
		look: func(id string) mac.State {
			if strings.Contains(strings.Join(granted, " "), id) {
				return mac.Granted
			}
			return mac.Missing
		},
	}
}

func stale(p shown.Permissions) (ids []string) {
	for _, one := range p.List {
		if one.Stale {
			ids = append(ids, one.ID)
		}
	}
	return ids
}

// What an earlier build was granted is told of the next one, until it is
// granted again.
func TestStaleGrants(t *testing.T) {
	path := paths.State{Dir: t.TempDir()}.Grants()
	if got := newMac(path, "one", "camera", "photos").show(); len(got.List) != len(mac.Permissions) || len(stale(got)) != 0 || !got.AdHoc {
		t.Fatalf("at first: %+v", got)
	}
	if got := strings.Join(stale(newMac(path, "two", "photos").show()), " "); got != "camera" {
		t.Errorf("a new build: stale are %q", got)
	}
	if got := stale(newMac(path, "two", "camera", "photos").show()); len(got) != 0 {
		t.Errorf("granted again: stale are %q", got)
	}
	if got := stale(newMac(path, "two").show()); len(got) != 0 {
		t.Errorf("taken back by the person: stale are %q", got)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file: %v, %v", info, err)
	}
	for _, text := range []string{"null", "[]", "{", `{"camera":1}`, strings.Repeat(" ", maxPlain+1) + "{}"} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := newMac(path, "three", "photos").show(); len(got.List) != len(mac.Permissions) || len(stale(got)) != 0 {
			t.Errorf("with a file of %.10q: stale are %q", text, stale(got))
		}
	}
}

// Where nothing is needed nothing is shown, and nothing is written.
func TestNoPermissions(t *testing.T) {
	p := newPermissions(paths.State{Dir: t.TempDir()}.Grants())
	p.look = func(string) mac.State { return mac.NotNeeded }
	if got := p.show(); len(got.List) != 0 || got.List == nil {
		t.Errorf("shown: %+v", got)
	}
	if _, err := os.Stat(p.path); !os.IsNotExist(err) {
		t.Errorf("the file is there: %v", err)
	}
}

// No permission is asked for behind a question, or while the settings are shut.
func TestPermissionsAreNotAskedForUnseen(t *testing.T) {
	a := newApp(paths.State{Dir: t.TempDir()}, t.TempDir())
	for name, act := range map[string]func(string) Saved{"request": a.settings.RequestPermission, "open": a.settings.OpenPermission} {
		if got := act("camera"); got.OK || !strings.Contains(got.Message, "not in sight") {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestIdentity(t *testing.T) {
	team := signature.Signature{Identifier: "app.countersign", Team: "TEAM", CDHash: "aa", Intact: true}
	adHoc := signature.Signature{Identifier: "app.countersign", CDHash: "bb", Flags: signature.AdHoc, Intact: true}
	for name, c := range map[string]struct {
		list  []signature.Signature
		want  string
		adHoc bool
	}{
		"signed":          {[]signature.Signature{team, team}, "TEAM/app.countersign", false},
		"ad hoc":          {[]signature.Signature{adHoc}, "bb", true},
		"one part ad hoc": {[]signature.Signature{team, adHoc}, "aabb", true},
		"not signed":      {[]signature.Signature{{}}, "", true},
	} {
		if got, adHoc := identity(c.list); got != c.want || adHoc != c.adHoc {
			t.Errorf("%s: %q, ad hoc %v", name, got, adHoc)
		}
	}
}
