package ipc

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/countersign-app/countersign/backend/paths"
)

// writeBy has another process of our own program write a line to a connection.
func writeBy(t *testing.T, nc *net.UnixConn, line string) {
	t.Helper()
	f, err := nc.File()
	must(t, err)
	defer f.Close()
	cmd := helperCommand(t, task{Write: line})
	cmd.ExtraFiles = []*os.File{f}
	must(t, cmd.Run())
}

// TestWriterOfFrames: a frame counts from the process that connected, and from no
// other that has the connection.
func TestWriterOfFrames(t *testing.T) {
	var served atomic.Int32
	s := start(t, handler{call: func(context.Context, Call) CallAnswer { served.Add(1); return CallAnswer{} }})
	p := connect(t, s)
	if got := p.ask(signedLine(testToken, kindCall, `{"method":"status"}`, nowMs())); got == "" || served.Load() != 1 {
		t.Fatalf("its own frame: %q", got)
	}
	for name, key := range map[string]string{"asking": testToken, "operating": testKey} {
		p, before := connect(t, s), served.Load()
		writeBy(t, p.UnixConn, signedLine(key, kindCall, `{"method":"status"}`, nowMs()))
		if got := p.line(); got != "" || served.Load() != before {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestWriterOfAnswers: an answer counts from the process that listened.
func TestWriterOfAnswers(t *testing.T) {
	path := filepath.Join(shortDir(t), "s")
	l, err := net.Listen("unix", path)
	must(t, err)
	defer l.Close()
	nc, err := dialSocket(path)
	must(t, err)
	defer nc.Close()
	other, err := l.Accept()
	must(t, err)
	defer other.Close()
	who, err := peerOf(nc)
	must(t, err)
	b := make([]byte, 8)
	_, err = io.WriteString(other, "own\n")
	must(t, err)
	if n, err := readFrom(nc, who, b); string(b[:n]) != "own\n" || err != nil {
		t.Errorf("%q %v", b[:n], err)
	}
	writeBy(t, other.(*net.UnixConn), "not")
	if n, err := readFrom(nc, who, b); n != 0 || err != errWriter {
		t.Errorf("another's: %q %v", b[:n], err)
	}
}

// TestProveNamespace: a host in a user namespace of its own names programs and
// files as it likes.
func TestProveNamespace(t *testing.T) {
	socket := filepath.Join(shortDir(t), "s", "exec-approvals.sock")
	cmd := helperCommand(t, task{Host: true, Socket: socket})
	id := []syscall.SysProcIDMap{{ContainerID: os.Getuid(), HostID: os.Getuid(), Size: 1}}
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER, UidMappings: id, GidMappings: id}
	in, err := cmd.StdinPipe()
	must(t, err)
	if err := cmd.Start(); err != nil {
		t.Skip("no user namespaces here:", err)
	}
	eventually(t, "it listens", func() bool { // its name is there a little earlier
		nc, err := net.Dial("unix", socket)
		if err == nil {
			nc.Close()
		}
		return err == nil
	})
	p := place{state: paths.State{Dir: filepath.Dir(socket)}, wait: patience}
	if _, err := p.try(); !errors.Is(err, ErrUnproven) {
		t.Errorf("%v", err)
	}
	in.Close()
	cmd.Wait()
}

// TestChallenge: a call that operates, written before the host saw our program,
// does not carry what the host said then.
func TestChallenge(t *testing.T) {
	s := start(t, handler{})
	p := connect(t, s)
	for name, request := range map[string]string{"none": `{"method":"pause"}`, "made up": `{"method":"pause","challenge":"x"}`} {
		if got := p.ask(signedLine(testKey, kindCall, request, nowMs())); !strings.Contains(got, "FORBIDDEN") {
			t.Errorf("%s: %q", name, got)
		}
	}
	other := connect(t, s)
	if got := other.operate(testKey, "pause"); !strings.Contains(got, `"ok":true`) {
		t.Errorf("its own: %q", got)
	}
	p.ask(`{"type":"hello","id":"h"}`)
	if got := p.ask(signedLine(testKey, kindCall, `{"method":"pause","challenge":""}`, nowMs())); !strings.Contains(got, "FORBIDDEN") {
		t.Errorf("empty: %q", got)
	}
}
