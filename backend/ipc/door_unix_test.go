//go:build linux || darwin

package ipc

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/proc"
)

func ownSession(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// startHost starts a host that is not this process and returns its socket.
func startHost(t *testing.T) (socket string, host *exec.Cmd) {
	t.Helper()
	socket = filepath.Join(shortDir(t), "s", "exec-approvals.sock")
	return socket, startHostAt(t, socket, "")
}

// startHostAt starts a host from this program, "" for the one of the test.
func startHostAt(t *testing.T, socket, program string) (host *exec.Cmd) {
	t.Helper()
	return startTask(t, task{Host: true, Socket: socket}, program)
}

func startTask(t *testing.T, k task, program string) (host *exec.Cmd) {
	t.Helper()
	host = helperCommand(t, k)
	if program != "" {
		host.Path = program
	}
	in, err := host.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := host.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); host.Wait() })
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "listening\n" {
		t.Fatalf("the host says %q (%v)", line, err)
	}
	return host
}

func helperCommand(t *testing.T, k task) *exec.Cmd {
	t.Helper()
	text, err := json.Marshal(k)
	if err != nil {
		t.Fatal(err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = helperEnviron(text)
	cmd.Stderr = os.Stderr
	ownSession(cmd)
	return cmd
}

func copyExe(t *testing.T, to string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	from, err := os.Open(exe)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, from); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestDoorWithRealProcesses has a host, askers, and one process that tries to
// operate, each where a hostile one could stand. Each begins in a terminal of its
// own: else this test, which starts them all, would be of the family that asks.
func TestDoorWithRealProcesses(t *testing.T) {
	dir := shortDir(t)
	const op = "outcome" // in a folder of each case
	otherExe := filepath.Join(dir, "copy")
	copyExe(t, otherExe)
	const cmd, family, program = "command that Countersign ran", "asked Countersign at", "own program"
	for _, c := range []struct {
		name   string
		byHost bool // the task is a command that the host runs
		tasks  []task
		want   string
	}{
		{"own terminal, nobody asked", false, []task{{Terminal: true, Operate: op}}, "may"},
		{"own terminal, somebody else asked", false, []task{{Terminal: true, Ask: true}, {Terminal: true, Operate: op}}, "may"},
		{"another program", false, []task{{Terminal: true, Operate: op, Exe: otherExe}}, program},
		{"marked as a run", false, []task{{Terminal: true, Operate: op, Mark: true}}, cmd},
		{"child of the host", true, []task{{Operate: op}}, cmd},
		{"child of the host in its own session", true, []task{{Operate: op, Session: true}}, cmd},
		{"child of the host in its own terminal", true, []task{{Operate: op, Terminal: true}}, cmd},
		{"daemon of a command", true, []task{{Session: true, Kids: []task{{Session: true, Kids: []task{{Session: true, Operate: op}}}}}}, cmd},
		{"the asker", false, []task{{Terminal: true, Ask: true, Operate: op}}, family},
		{"who asked about a tool", false, []task{{Terminal: true, Ask: true, Method: "tool.decide", Operate: op}}, family},
		{"who ran what was allowed", false, []task{{Terminal: true, Ask: true, Method: "approved.run", Operate: op}}, family},
		{"who only read", false, []task{{Terminal: true, Ask: true, Method: "status", Operate: op}}, "may"},
		{"child of the asker", false, []task{{Terminal: true, Ask: true, Wait: true, Kids: []task{{Operate: op}}}}, family},
		{"child of the asker in its own session", false, []task{{Terminal: true, Ask: true, Wait: true, Kids: []task{{Session: true, Operate: op}}}}, family},
		{"child of the asker in its own terminal", false, []task{{Terminal: true, Ask: true, Wait: true, Kids: []task{{Terminal: true, Operate: op}}}}, family},
		{"sibling of the asker", false, []task{{Terminal: true, Wait: true, Kids: []task{{Ask: true}, {Operate: op}}}}, family},
		{"parent of the asker", false, []task{{Terminal: true, Wait: true, Kids: []task{{Ask: true}}, Operate: op}}, family},
		// An agent whose hooks lead sessions of their own, as those of Claude Code
		// and Codex do, and so do its commands.
		{"the agent behind a hook", false, []task{{Terminal: true, Wait: true, Kids: []task{{Session: true, Ask: true}}, Operate: op}}, family},
		{"a command of the agent behind a hook", false, []task{{Terminal: true, Wait: true, Kids: []task{{Session: true, Ask: true}, {Session: true, Operate: op}}}}, family},
		{"a terminal that the agent behind a hook opened", false, []task{{Terminal: true, Wait: true, Kids: []task{{Session: true, Ask: true}, {Terminal: true, Operate: op}}}}, family},
		{"an agent without a terminal", false, []task{{Terminal: true, Wait: true, Kids: []task{{Session: true, Wait: true, Kids: []task{{Session: true, Ask: true}}, Operate: op}}}}, family},
		{"who started the terminal in which an agent runs", false, []task{{Terminal: true, Wait: true, Kids: []task{{Terminal: true, Ask: true}}, Operate: op}}, "may"},
		{"orphan in the asker's session, asker gone", false, []task{{Terminal: true, Wait: true, Kids: []task{{Session: true, Ask: true, Kids: []task{{Operate: op}}}}}}, family},
		{"orphan of the agent, seen before", false, []task{{Terminal: true, Ask: true, Kids: []task{{Session: true, Operate: op}}}}, family},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.name == "daemon of a command" && !subreapers {
				t.Skip("this platform has no child subreaper: a daemon leaves its family")
			}
			op := filepath.Join(shortDir(t), op)
			socket, _ := startHost(t)
			for i, k := range c.tasks {
				k.Dir = filepath.Dir(op)
				if c.byHost {
					runByHost(t, socket, k)
					continue
				}
				p, err := k.start(socket)
				if err != nil {
					t.Fatal(err)
				}
				if last := i == len(c.tasks)-1; !last || k.Operate == "" && !k.Wait {
					p.Wait()
				} else {
					defer p.Wait()
				}
			}
			eventually(t, "all have asked", func() bool {
				asked, _ := filepath.Glob(filepath.Join(filepath.Dir(op), "asked*"))
				return len(asked) == askers(c.tasks)
			})
			time.Sleep(50 * time.Millisecond) // let orphans become such
			os.WriteFile(op+".go", nil, 0o600)
			eventually(t, "an outcome", func() bool { _, err := os.Stat(op); return err == nil })
			if got, _ := os.ReadFile(op); !strings.Contains(string(got), c.want) {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

func askers(tasks []task) (n int) {
	for _, k := range tasks {
		if k.Ask {
			n++
		}
		n += askers(k.Kids)
	}
	return n
}

func runByHost(t *testing.T, socket string, k task) {
	t.Helper()
	text, err := json.Marshal(k)
	if err != nil {
		t.Fatal(err)
	}
	c, err := dialAt(socket)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Exec(t.Context(), testToken, command("helper", string(text))); err != nil {
		t.Fatal(err)
	}
}

// A process may ask over a connection whose program changed since; it may
// not operate over it.
func TestProgramAtConnectCounts(t *testing.T) {
	s := start(t, handler{})
	p := connect(t, s)
	if got := p.operate(testKey, "pause"); !strings.Contains(got, `"ok":true`) {
		t.Errorf("ours: %q", got)
	}
	c := &conn{s: s, peer: approval.Peer{UID: s.uid, PID: os.Getpid(), Started: s.door.self.Started}}
	if err := c.operates(""); err == nil || !strings.Contains(err.Error(), "when it connected") {
		t.Errorf("not ours at connect: %v", err)
	}
	if err := c.passesOn(""); err == nil || !strings.Contains(err.Error(), "when it connected") {
		t.Errorf("not ours at connect, and says what others said: %v", err)
	}
}

// What somebody said at a gateway or an MCP client only our own programs may
// say, and none that we run.
func TestBridges(t *testing.T) {
	var served atomic.Int32
	s := start(t, handler{call: func(context.Context, Call) CallAnswer {
		served.Add(1)
		return CallAnswer{Payload: struct{}{}}
	}})
	dir := shortDir(t)
	exe := filepath.Join(dir, "other")
	copyExe(t, exe)
	p := connect(t, s)
	for _, method := range []string{"pending.escalated", "pending.own", "pending.elicited"} {
		before := served.Load()
		for name, k := range map[string]task{"another program": {Exe: exe}, "a command of ours": {Mark: true}} {
			k.Ask, k.Method, k.Dir = true, method, dir
			cmd, err := k.start(s.sockets[0].path)
			if err != nil {
				t.Fatal(err)
			}
			if cmd.Wait() == nil || served.Load() != before {
				t.Errorf("%s: %s is served", method, name)
			}
		}
		if got := p.operate(testToken, method); !strings.Contains(got, `"ok":true`) || served.Load() != before+1 {
			t.Errorf("%s: ours: %q", method, got)
		}
	}
}

// What operates must be what connected: where the kernel says who holds the
// other end now, a connection that was passed on and a process that became
// another program do not operate, also if that happens while the door looks.
func TestHolderMustStay(t *testing.T) {
	for name, c := range map[string]struct {
		after int // looks that find the same
		other func(*holder)
		want  bool
	}{
		"the same all the time":           {100, func(*holder) {}, true},
		"another process":                 {1, func(h *holder) { h.pid++ }, false},
		"another program":                 {1, func(h *holder) { h.program++ }, false},
		"another user":                    {1, func(h *holder) { h.uid++ }, false},
		"another program, while we look":  {2, func(h *holder) { h.program++ }, false},
		"another process, once we looked": {3, func(h *holder) { h.pid++ }, true},
	} {
		t.Run(name, func(t *testing.T) {
			var looks atomic.Int32
			s := start(t, handler{}, func(s *Server) {
				s.peerOf = func(nc *net.UnixConn) (holder, error) {
					h, err := peerOf(nc)
					if int(looks.Add(1)) > c.after {
						c.other(&h)
					}
					return h, err
				}
			})
			p := connect(t, s)
			got := p.operate(testKey, "pause")
			if strings.Contains(got, `"ok":true`) != c.want || !c.want && !strings.Contains(got, "does not hold this connection") {
				t.Errorf("got %q", got)
			}
			if want := min(c.after+1, 3); int(looks.Load()) != want {
				t.Errorf("looked %d times, want %d", looks.Load(), want)
			}
		})
	}
}

// Processes that do not run our program and take all the places they get do
// not lock the operator out.
func TestPlacesForOurOwnProgram(t *testing.T) {
	s := start(t, handler{exec: echo}, func(s *Server) { s.maxConns = reservedConns + 10 })
	dir := shortDir(t)
	exe := filepath.Join(dir, "other")
	copyExe(t, exe)
	for i := range 2 {
		k, err := task{Exe: exe, Idle: 2 * s.maxConns, Stay: "end", Dir: dir}.start(s.sockets[0].path)
		if err != nil {
			t.Fatal(err)
		}
		defer k.Wait()
		defer os.WriteFile(filepath.Join(dir, "end"), nil, 0o600)
		eventually(t, "they are all connected", func() bool {
			_, err := os.Stat(filepath.Join(dir, fmt.Sprint("idle", k.Process.Pid)))
			return err == nil
		})
		p := connect(t, s) // it comes after them
		if got := p.operate(testKey, "pause"); !strings.Contains(got, `"ok":true`) {
			t.Errorf("the operator after %d: %q", i+1, got)
		}
		if n := s.count(); n != 10+i+1 {
			t.Errorf("%d connections, want 10 of others and %d of ours", n, i+1)
		}
	}
}

func TestForeignUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	s := start(t, forbidden(t))
	// The modes alone keep others out; open them to see what else does.
	open := func(path string, mode fs.FileMode) {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
	dir := shortDir(t)
	exe := filepath.Join(dir, "foreign")
	copyExe(t, exe)
	say := func(line string) string {
		t.Helper()
		k, err := json.Marshal(task{Foreign: line, Socket: s.sockets[0].path})
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(exe)
		cmd.Env = helperEnviron(k)
		cmd.Dir = "/"
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		cmd.Stderr = os.Stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		return string(out)
	}
	open(dir, 0o755)
	open(filepath.Dir(filepath.Dir(s.sockets[0].path)), 0o755)
	ask := `{"type":"request","token":"` + testToken + `","id":"i1","request":{"command":"ls"}}`
	if got := say(ask); !strings.Contains(got, "permission denied") {
		t.Errorf("through the modes: %q", got)
	}
	open(filepath.Dir(s.sockets[0].path), 0o755)
	open(s.sockets[0].path, 0o666)
	for name, c := range map[string]struct{ line, want string }{
		"exec":    {execLine(good), ""},
		"call":    {signedLine(testKey, kindCall, `{"method":"pause"}`, nowMs()), ""},
		"request": {ask, deny},
		"noise":   {"x", ""},
	} {
		if got := say(c.line); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A client tells nothing to a host of another user.
func TestHostOfAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	dir := shortDir(t)
	if err := os.Chmod(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	exe, path := filepath.Join(dir, "foreign"), filepath.Join(dir, "exec-approvals.sock")
	copyExe(t, exe)
	k, err := json.Marshal(task{Trap: true, Socket: path})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = helperEnviron(k)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Wait()
	in := bufio.NewReader(out)
	if line, err := in.ReadString('\n'); line != "listening\n" {
		t.Fatalf("%q %v", line, err)
	}
	if _, err := dialAt(path); err == nil || !strings.Contains(err.Error(), "another user") {
		t.Errorf("%v", err)
	}
	if rest, _ := io.ReadAll(in); string(rest) != "" {
		t.Errorf("it was told %q", rest)
	}
}

func TestTakeover(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), generous)
	defer cancel()
	socket, host := startHost(t)
	lock := socket + ".lifecycle.lock"
	if err := host.Process.Signal(syscall.SIGSTOP); err != nil { // it hangs
		t.Fatal(err)
	}
	o := testOptions(shortDir(t), handler{exec: echo})
	o.Path, o.Lock = socket, lock
	if err := listenOnce(o); !errors.Is(err, ErrLive) {
		t.Fatalf("while it hangs: %v", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- host.Wait() }()
	if err := takeover(ctx, lock, nil, 50*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err == nil {
		t.Error("the host ended well")
	}
	serve(t, o)
}

func TestTakeoverEndsOnlyOurs(t *testing.T) {
	victim := exec.Command("sleep", "60")
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	defer victim.Wait()
	defer victim.Process.Kill()
	info, err := proc.Stat(victim.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	lock := filepath.Join(shortDir(t), "lock")
	if err := Takeover(t.Context(), lock); err != nil {
		t.Errorf("nobody holds it: %v", err)
	}
	held, err := holdLock(lock)
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	ownLine, err := os.ReadFile(lock) // it says that we hold it
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"", "x\n", "1 0\n", "999999999 1\n",
		fmt.Sprintf("%d %d\n", victim.Process.Pid, info.Started),
		fmt.Sprintf("%d 0\n", -victim.Process.Pid),
		string(ownLine),
	} {
		held.Truncate(0)
		held.WriteAt([]byte(text), 0)
		if err := Takeover(t.Context(), lock); err == nil {
			t.Errorf("lock text %q: took it over", text)
		}
	}
	if err := victim.Process.Signal(syscall.Signal(0)); err != nil {
		t.Errorf("a bystander was ended: %v", err)
	}
}

// trap listens for one connection and prints what it is told.
func trap(path string) error {
	l, err := net.Listen("unix", path)
	if err != nil {
		return err
	}
	defer l.Close()
	os.Chmod(path, 0o777)
	os.Stdout.WriteString("listening\n")
	nc, err := l.Accept()
	if err != nil {
		return err
	}
	defer nc.Close()
	nc.SetReadDeadline(time.Now().Add(generous))
	_, err = io.Copy(os.Stdout, nc)
	return err
}

// foreign sends one line and prints the answer, or why it could not.
func foreign(path, line string) error {
	nc, err := net.Dial("unix", path)
	if err != nil {
		os.Stdout.WriteString(err.Error())
		return nil
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(generous))
	io.WriteString(nc, line+"\n")
	io.Copy(os.Stdout, nc)
	return nil
}

// What a gateway is said to have answered comes from our own program, which no
// command of ours started, or is nothing.
func TestGatewayClaim(t *testing.T) {
	said := make(chan string, 1)
	s := start(t, handler{exec: func(ctx context.Context, x Exec) ExecAnswer {
		said <- x.Request.Claim.Gateway
		return echo(ctx, x)
	}})
	x := command("true")
	x.Request.Claim.Gateway = "gw:1"
	if _, err := dialServer(t, s).Exec(t.Context(), testToken, x); err != nil || <-said != "gw:1" {
		t.Error("it does not come through", err)
	}
	exe := filepath.Join(shortDir(t), "other")
	copyExe(t, exe)
	for name, k := range map[string]task{"started by us": {Ask: true}, "another program": {Ask: true, Exe: exe}} {
		k.Dir = shortDir(t)
		cmd, err := k.start(s.sockets[0].path)
		if err != nil {
			t.Fatal(err)
		}
		if got := <-said; got != "" {
			t.Errorf("%s: %q is believed", name, got)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(name, err)
		}
	}
}
