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

import "github.com/progrium/macdriver/core"

`
	for want, body := range map[string]string{
		"Lenght undefined":               "func planted() { core.String(\"x\").Lenght() }",
		"cannot use":                     "func planted() { core.Dispatch(7) }",
		"undefined: core.NSNoSuchLength": "func planted() { _ = core.NSNoSuchLength }",
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
