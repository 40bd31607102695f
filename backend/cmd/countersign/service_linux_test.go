package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/node"
)

// TestInstall writes the services of a person. The systemctl of the test notes
// what it is told.
func TestInstall(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	bin := filepath.Join(w.home, "systemctl-bin")
	if err := os.Mkdir(bin, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "systemctl"), []byte("#!/bin/sh\ncase \"$*\" in *MainPID*) echo 0;; esac\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	run := func(words ...string) (string, error) {
		cmd := w.command(words...)
		cmd.Env = append(cmd.Env, "PATH="+bin+":"+os.Getenv("PATH"), "COUNTERSIGN_GATEWAY_TOKEN=the-secret-token-of-all", "SUDO_USER=")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	for _, words := range [][]string{
		{"node", "install", "--gateway", "http://127.0.0.1:1"}, {"node", "install", "--gateway", "ws://"}, {"node", "install", "--gateway", "ws://a:b@127.0.0.1:1"},
		{"node", "install", "--gateway", "ws://127.0.0.1:1?token=x"}, {"node", "install"}, {"gateway", "install", "--listen", "0.0.0.0:1"},
		{"node", "install", "--gateway", "ws://127.0.0.1:1", "--display-name", "a\nExecStartPre=/bin/sh"},
	} {
		if out, err := run(words...); err == nil {
			t.Errorf("%q: %s", words, out)
		}
	}
	for _, words := range [][]string{
		{"node", "install", "--gateway", "ws://127.0.0.1:1", "--display-name", "50% mini", "--exec-host", "app"}, {"gateway", "install", "--listen", "127.0.0.1:2"},
	} {
		if out, err := run(words...); err != nil {
			t.Fatalf("%q: %s", words, out)
		}
	}
	for name, want := range map[string]string{
		"node":    `"--json" "--state-dir" "` + w.state.Dir + `" "node" "run" "--gateway" "ws://127.0.0.1:1" "--exec-host" "app" "--display-name" "50%% mini"`,
		"gateway": `"gateway" "run" "--listen" "127.0.0.1:2"`,
	} {
		text, err := os.ReadFile(filepath.Join(w.home, ".config/systemd/user/countersign-"+name+".service"))
		if err != nil || !strings.Contains(string(text), want) || strings.Contains(string(text), "secret") {
			t.Errorf("%v\n%s\nwant %s", err, text, want)
		}
	}
	for _, path := range []string{w.state.NodeToken(), w.state.GatewayToken()} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Error(path, info, err)
		}
		if token, err := secret(path); token != "the-secret-token-of-all" {
			t.Error(path, token, err)
		}
	}
	out, err := run("node", "status")
	if err != nil || !strings.Contains(out, "installed, and does not run") || !strings.Contains(out, "no node service runs") {
		t.Error(err, out)
	}
	if out, err := run("node", "uninstall"); err != nil {
		t.Error(out)
	}
	if out, err := run("node", "start"); err == nil || !strings.Contains(out, "is not installed") {
		t.Error(err, out)
	}
}

// TestStatus follows a node service and its gateway.
func TestStatus(t *testing.T) {
	t.Parallel()
	f := newFarm(t)
	status := func() (s nodeState) {
		out, err := f.machine.command("--json", "node", "status").Output()
		if err == nil {
			err = json.Unmarshal(out, &s)
		}
		if err != nil {
			t.Error(err)
		}
		return s
	}
	if s := status(); !s.Connected || !s.Paired || s.Approved || s.Node.Gateway != f.url() {
		t.Errorf("%+v", s)
	}
	if got := f.exec(`{"command": ["printf", "x"]}`); !strings.Contains(got, `"stdout":"x"`) {
		t.Error(got)
	}
	if !eventually(func() bool { return status().Approved }) {
		t.Errorf("%+v", status())
	}
	out := f.agents.must(t, "gateway", "status", "--gateway", f.url())
	if !strings.Contains(out, "answers; 0 wait") || !strings.Contains(out, "mini") || !strings.Contains(out, "connected") {
		t.Error(out)
	}
	f.gateway.end(15)
	if !eventually(func() bool { return status().Node.State == node.Away }) {
		t.Errorf("%+v", status())
	}
	if s := status(); s.Connected || !s.Paired || s.Approved || s.Node.Error == "" {
		t.Errorf("%+v", s)
	}
	if text, err := f.agents.command("gateway", "status", "--gateway", f.url()).Output(); err == nil || !strings.Contains(string(text), "does not answer") {
		t.Errorf("%v %s", err, text)
	}
	f.node.end(9)
	if s := status(); s.Node.State != node.Stopped || s.Paired {
		t.Errorf("%+v", s)
	}
	if out := f.machine.must(t, "node", "status"); !strings.Contains(out, "no node service runs") {
		t.Error(out)
	}
}
