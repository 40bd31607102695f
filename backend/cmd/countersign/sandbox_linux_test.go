package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestSandbox runs commands of agents in the sandbox of a real gateway.
func TestSandbox(t *testing.T) {
	if text, err := exec.Command("bwrap", "--unshare-user", "--disable-userns", "--unshare-all", "--ro-bind", "/", "/", "true").CombinedOutput(); err != nil {
		t.Skipf("skipped: bubblewrap cannot make a box here: %v: %s", err, text)
	}
	f := &farm{T: t, agents: testWorld(t)}
	work, err := os.MkdirTemp("/var/tmp", "csw")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(work) })
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f.port = l.Addr().(*net.TCPAddr).Port
	l.Close()
	// The policy allows nothing at all: in a sandbox only its denylist holds.
	f.agents.policy(t, `{"version": 1, "defaults": {"security": "deny"}, "agents": {"main": {"denylist": [{"pattern": "id", "reason": "not even there"}]}}}`)
	const file = `{tools: {exec: {sandbox: {engine: 'bubblewrap', workspace: %q, processes: 64, memoryMB: 64}}}}`
	f.configure(`{tools: {exec: {}}}`)
	f.startGateway()
	refused := func(params, want string) {
		t.Helper()
		text, err := f.agents.command("gateway", "call", "--gateway", f.url(), "exec.run", "--params", params).CombinedOutput()
		if err == nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %s, want %s", params, text, want)
		}
	}
	refused(`{"command": "pwd"}`, "no sandbox is configured here, and nothing runs outside of it instead")
	f.configure(fmt.Sprintf(file, f.agents.home))
	refused(`{"command": "pwd"}`, "the workspace of the sandbox cannot be")
	f.configure(`{tools: {exec: {sandbox: {engine: 'docker', socket: '/nowhere.sock', workspace: '` + work + `'}}}}`)
	refused(`{"command": "pwd"}`, "no Docker engine answers at /nowhere.sock: start Docker")
	f.configure(fmt.Sprintf(file, work))
	if got := f.exec(`{"command": "pwd; echo x > made; ls -A ` + f.agents.home + ` 2>/dev/null; exit 3"}`); !strings.Contains(got, `"stdout":"`+work+`\n"`) || !strings.Contains(got, `"exitCode":3`) || !strings.Contains(got, `"host":"sandbox"`) {
		t.Error(got)
	}
	if text, err := os.ReadFile(filepath.Join(work, "made")); string(text) != "x\n" {
		t.Error(err)
	}
	if got := f.exec(`{"command": ["sleep", "1000"], "timeout": 0.5}`); !strings.Contains(got, `"timedOut":true`) {
		t.Error(got)
	}
	for _, command := range []string{`["id"]`, `"true; /usr/bin/id"`, `"env id"`, `"sh -c 'id -u'"`} {
		refused(`{"command": `+command+`}`, "the denylist names id: not even there")
	}
	refused(`{"command": "x=id; $(echo $x)"}`, "SYSTEM_RUN_DENIED")
	refused(`{"command": "pwd", "workdir": "/etc"}`, "its workspace is "+work)
	refused(`{"command": "pwd", "host": "gateway"}`, "exec host not allowed")
	if got := f.call("session.command", `{"text": "/exec host=auto"}`); !strings.Contains(got, `"host":"sandbox"`) {
		t.Error(got)
	}
	// What ran is in the log, without its secrets.
	f.exec(`{"command": "tool --password hunter2 for-the-log"}`)
	if log, err := os.ReadFile(f.agents.log); err != nil || !strings.Contains(string(log), "for-the-log") || strings.Contains(string(log), "hunter2") {
		t.Errorf("%v\n%s", err, log)
	}
	mark := fmt.Sprint("1000", f.port)
	began := f.exec(`{"command": "sleep ` + mark + `", "background": true}`)
	if !eventually(func() bool { return sleeps(mark) }) {
		t.Error(began)
	}
	if got := f.call("session.events", `{}`); !strings.Contains(got, "Exec started (node=sandbox, id=") {
		t.Error(got)
	}
	f.call("session.end", `{}`)
	if !eventually(func() bool { return !sleeps(mark) }) {
		t.Error("it runs on")
	}
	f.exec(`{"command": "sleep ` + mark + `", "background": true}`)
	if !eventually(func() bool { return sleeps(mark) }) {
		t.Error("it does not run")
	}
	f.gateway.end(syscall.SIGKILL)
	if !eventually(func() bool { return !sleeps(mark) }) {
		t.Error("it runs on without its gateway")
	}
}

// sleeps reports whether a sleep for that long goes on.
func sleeps(seconds string) bool {
	return exec.Command("pgrep", "-f", "^sleep "+seconds+"$").Run() == nil
}
