package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/proc"
)

// TestProxyKeepsOrphans: what an MCP server starts in a session of its own, and
// leaves, stays below the proxy for as long as that stands before the server, and
// is taken out of the kernel's table when it has ended.
func TestProxyKeepsOrphans(t *testing.T) {
	w := testWorld(t)
	stays, ends := filepath.Join(w.home, "stays"), filepath.Join(w.home, "ends")
	setsid := approvaltest.Program(t, "setsid")
	orphan := func(file, then string) string {
		return fmt.Sprintf(`(%s sh -c 'echo $$ >%s; %s' </dev/null >/dev/null 2>&1 &); `, setsid, file, then)
	}
	cmd := w.proxied("--", "sh", "-c", orphan(stays, "exec sleep 300")+orphan(ends, "while [ -e "+w.home+"/waits ]; do sleep 0.02; done")+"cat >/dev/null")
	waits := w.file(t, "waits", "")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	proxy := background(t, cmd)
	pid, err := readPID(stays)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { syscall.Kill(pid, syscall.SIGKILL) })
	short, err := readPID(ends)
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range []int{pid, short} {
		// Its first parent may end a moment later.
		if !eventually(func() bool {
			p, err := proc.Stat(pid)
			return err == nil && p.Parent == proxy.Process.Pid
		}) {
			p, err := proc.Stat(pid)
			t.Fatalf("it left the proxy %d: %+v %v", proxy.Process.Pid, p, err)
		}
	}
	if err := os.Remove(waits); err != nil {
		t.Fatal(err)
	}
	if !eventually(func() bool { _, err := proc.Stat(short); return err != nil }) {
		t.Error("the ended stay in the kernel's table")
	}
	in.Close()
	if !eventually(proxy.isOver) {
		t.Error("the proxy does not end with its client")
	}
}
