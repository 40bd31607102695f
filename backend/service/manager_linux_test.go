package service

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestManager goes through the life of a service with a systemctl that writes
// down what it is told: no manager of a session is to be had in tests.
func TestManager(t *testing.T) {
	dir := t.TempDir()
	log := filepath.Join(dir, "log")
	script := "#!/bin/sh\necho \"$@\" >> '" + log + "'\ncase \"$*\" in *MainPID*) echo 4242;; *start*) [ ! -e '" + dir + "/broken' ] || { echo it is broken >&2; exit 1; };; esac\n"
	must(t, os.WriteFile(filepath.Join(dir, "systemctl"), []byte(script), 0o755))
	t.Setenv("PATH", dir+":/usr/bin:/bin")
	m := For(dir, func(string) string { return "" })
	u := hostile("/bin/true")
	if s := m.Status("node"); s.Installed || s.Running {
		t.Errorf("%+v", s)
	}
	for what, do := range map[string]func(string) error{"start": m.Start, "stop": m.Stop} {
		if err := do("node"); err == nil || !strings.Contains(err.Error(), "countersign node install") {
			t.Error(what, err)
		}
	}
	path, err := m.Install(u)
	must(t, err)
	if want := filepath.Join(dir, ".config/systemd/user/countersign-node.service"); path != want {
		t.Error(path)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
	if s := m.Status("node"); !s.Installed || !s.Running || s.PID != 4242 {
		t.Errorf("%+v", s)
	}
	must(t, m.Stop("node"))
	must(t, m.Start("node"))
	must(t, m.Uninstall("node"))
	must(t, m.Uninstall("node"))
	if _, err := os.Stat(path); err == nil {
		t.Error("the file is still there")
	}
	text, err := os.ReadFile(log)
	must(t, err)
	const all = "--user --no-ask-password "
	want := ""
	for _, line := range []string{
		"daemon-reload", "enable UNIT", "restart UNIT", "show --property=MainPID --value UNIT", "stop UNIT", "start UNIT", "disable --now UNIT", "daemon-reload",
	} {
		want += all + strings.Replace(line, "UNIT", "countersign-node.service", 1) + "\n"
	}
	if string(text) != want {
		t.Errorf("\n%s\nwant\n%s", text, want)
	}
	must(t, os.WriteFile(filepath.Join(dir, "broken"), nil, 0o600))
	if path, err := m.Install(u); path == "" || err == nil || !strings.Contains(err.Error(), "it is broken") {
		t.Error(path, err)
	}
}
