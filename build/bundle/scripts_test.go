package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// script runs one of the scripts in build with invented programs before all
// others.
func script(t *testing.T, programs map[string]string, words ...string) (string, error) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range programs {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700))
	}
	cmd := exec.Command("sh", words...)
	cmd.Dir, cmd.Env = "../..", append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestVerify has invented tools of Apple say what is wrong with a bundle.
func TestVerify(t *testing.T) {
	app := filepath.Join(t.TempDir(), "Countersign.app")
	must(t, os.MkdirAll(filepath.Join(app, "Contents"), 0o700))
	must(t, os.WriteFile(filepath.Join(app, "Contents/Info.plist"), []byte("<key>LSMinimumSystemVersion</key>\n<string>"+minimum+"</string>\n"), 0o600))
	loads := func(from string) string {
		return fmt.Sprintf(`printf '      cmd LC_BUILD_VERSION\n platform 1\n    minos %s\n      sdk 26.0\n'`, from)
	}
	for _, row := range []struct {
		name     string
		with     map[string]string
		says     string
		mistaken bool
	}{
		{"a good one", nil, "both kinds", false},
		{"a signature that does not hold", map[string]string{"codesign": "echo broken; exit 1"}, "broken", true},
		{"a property list that is none", map[string]string{"plutil": "echo unreadable; exit 1"}, "unreadable", true},
		{"one kind alone", map[string]string{"lipo": "echo arm64"}, "is for arm64", true},
		{"made for a newer macOS", map[string]string{"otool": loads("15.0")}, "needs macOS 15.0", true},
		{"made for nobody knows what", map[string]string{"otool": "true"}, "of no version", true},
	} {
		programs := map[string]string{"codesign": "true", "plutil": "true", "lipo": "echo x86_64 arm64", "otool": loads(minimum)}
		for name, text := range row.with {
			programs[name] = text
		}
		out, err := script(t, programs, "build/mac-verify.sh", app)
		if (err != nil) != row.mistaken || !strings.Contains(out, row.says) {
			t.Errorf("%s: %v\n%s", row.name, err, out)
		}
	}
}

// TestSmoke finds an app that lets run what was denied, and one that is not
// there. What a good one does, `make smoke` shows.
func TestSmoke(t *testing.T) {
	if hasApple {
		t.Skip("skipped: here the script opens a bundle")
	}
	const asks = `
state=$2; shift 2
case "$*" in
doctor) ;;
"run --agent main -- "*) echo hello ;;
*touch*) while ! [ -e "$state/denied" ]; do sleep 0.05; done; %s ;;
*pending) echo '{"id": "7"}' ;;
*deny*) : >"$state/denied" ;;
esac`
	// The app makes its socket; that of perl is as good as another.
	const listens = `perl -MIO::Socket::UNIX -e '$s = IO::Socket::UNIX->new(Local => $ARGV[0], Listen => 1); sleep 60' "$2/exec-approvals.sock"`
	for _, row := range []struct{ name, app, command, says string }{
		{"denied, and it ran all the same", listens, fmt.Sprintf(asks, `touch "$state.proof"; exit 126`), "what was denied ran"},
		{"denied, and told that it ran", listens, fmt.Sprintf(asks, "exit 0"), "not 126"},
		{"allowed, and it does not run", listens, "exit 1", "does not run"},
	} {
		dir := t.TempDir()
		for name, text := range map[string]string{"countersign-app": row.app, "countersign": row.command} {
			must(t, os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text+"\n"), 0o700))
		}
		out, err := script(t, map[string]string{"import": "true"}, "build/smoke.sh", filepath.Join(dir, "countersign-app"), filepath.Join(dir, "out"))
		if err == nil || !strings.Contains(out, row.says) {
			t.Errorf("%s: %v\n%s", row.name, err, out)
		}
	}
}
