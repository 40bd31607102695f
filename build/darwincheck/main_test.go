package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPlanted finds what is wrong in a file that only macOS sees: an unknown
// method, a wrong argument, an unknown constant.
func TestPlanted(t *testing.T) {
	folder, err := filepath.Abs("../../app/menubar")
	if err != nil {
		t.Fatal(err)
	}
	const head = `package menubar

import "github.com/progrium/macdriver/cocoa"

`
	for want, body := range map[string]string{
		"Lenght undefined": "func planted() { cocoa.NSStatusBar_System().Lenght() }",
		"cannot use":       "func planted() { cocoa.NSMenu_New().AddItem(7) }",
		"undefined: cocoa.NSStatusItemNoSuchLength": "func planted() { _ = cocoa.NSStatusItemNoSuchLength }",
	} {
		path := filepath.Join(folder, "planted_darwin.go")
		if _, err := os.Stat(path); err == nil {
			t.Fatal("there is a file of that name")
		}
		found, _, err := check(source{tags: "desktop,production", arch: "arm64", packages: []string{"../../app/menubar"}, overlay: map[string]string{path: head + body + "\n"}})
		if err != nil || len(found) != 1 || !strings.Contains(found[0], want) {
			t.Errorf("%s: %v %q", want, err, found)
		}
	}
}
