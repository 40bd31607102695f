//go:build linux || darwin

package ipc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/paths"
)

// helperEnv makes the test binary another process of a test: it holds what
// to do, as JSON.
const helperEnv = "COUNTERSIGN_IPC_TEST_HELPER"

// task is what one helper process does, from top to bottom.
type task struct {
	Socket string
	// Host: listen at Socket, and for each exec start a helper with the task
	// that is the second word of its command. It ends when its input does.
	Host bool
	// Still: a host that puts back nothing.
	Still bool
	// Ask: send one exec frame, write a file whose name begins with "asked",
	// and keep the connection.
	Ask bool
	// Method: ask by calling this instead of running a command.
	Method string
	// Idle: open so many connections, write a file with the name "idle" and
	// the process id, and keep those that stay open.
	Idle int
	// Flood: take so many places (see flood), after the kids were started.
	Flood int
	// Kids are started one after another, in the same session.
	Kids []task
	// Wait for the kids; else they become orphans.
	Wait bool
	// Operate: when a file of this name with ".go" is there, call a method of
	// the operator and write into it what came of it.
	Operate string
	// Session: be started as the leader of a session of its own.
	Session bool
	// Terminal: the same, with a terminal of its own.
	Terminal bool
	// Mark: be started with the mark of a run.
	Mark bool
	// Exe: be started from this copy of the program, and Hostile, which that
	// implies: speak to whoever answers.
	Exe     string
	Hostile bool
	// Foreign: send this line and print the answer.
	Foreign string
	// Write: write this line to descriptor 3.
	Write string
	// Prove: dial as a client and write into this file what came of it.
	Prove string
	// Trap: listen at Socket for one connection and print what it says.
	Trap bool
	// Stay until this file is there, or its folder gone.
	Stay string
	// Dir is where the files are; kids get it from their parents.
	Dir string
}

func helper(text string) int {
	var k task
	if err := json.Unmarshal([]byte(text), &k); err != nil {
		fmt.Fprintln(os.Stderr, "helper:", err)
		return 1
	}
	if err := k.do(); err != nil {
		fmt.Fprintln(os.Stderr, "helper:", err)
		return 1
	}
	return 0
}

func (k task) do() error {
	if k.Host {
		return k.host()
	}
	if k.Foreign != "" {
		return foreign(k.Socket, k.Foreign)
	}
	if k.Write != "" {
		_, err := io.WriteString(os.NewFile(3, "given"), k.Write+"\n")
		return err
	}
	if k.Prove != "" {
		return os.WriteFile(k.Prove, []byte(proven(k.Socket)), 0o600)
	}
	if k.Trap {
		return trap(k.Socket)
	}
	if k.Ask {
		c, err := k.dial()
		if err != nil {
			return err
		}
		defer c.Close()
		x := command("true")
		x.Request.Claim.Gateway = "gw:1" // which is not its to say
		if k.Method != "" {
			err = c.Call(context.Background(), []byte(testToken), k.Method, struct{}{}, nil)
		} else {
			_, err = c.Exec(context.Background(), testToken, x)
		}
		if err != nil {
			return err
		}
		if k.Dir != "" {
			if err := os.WriteFile(filepath.Join(k.Dir, fmt.Sprint("asked", os.Getpid())), nil, 0o600); err != nil {
				return err
			}
		}
	}
	for range k.Idle {
		nc, err := net.Dial("unix", k.Socket)
		if err != nil {
			return err
		}
		defer nc.Close()
	}
	if k.Idle > 0 {
		if err := os.WriteFile(filepath.Join(k.Dir, fmt.Sprint("idle", os.Getpid())), nil, 0o600); err != nil {
			return err
		}
	}
	for _, kid := range k.Kids {
		cmd, err := kid.in(k.Dir).start(k.Socket)
		if err != nil {
			return err
		}
		if k.Wait {
			cmd.Wait()
		}
	}
	if k.Flood > 0 {
		return k.flood()
	}
	if k.Operate != "" {
		path := filepath.Join(k.Dir, k.Operate)
		waitFile(path + ".go")
		outcome := k.operate()
		if err := os.WriteFile(path+".tmp", []byte(outcome), 0o600); err != nil {
			return err
		}
		return os.Rename(path+".tmp", path)
	}
	if k.Stay != "" {
		waitFile(filepath.Join(k.Dir, k.Stay))
	}
	return nil
}

// helperEnviron is clean but for the task; a helper built with the race
// detector would sleep a second at its end.
func helperEnviron(text []byte) []string {
	return []string{helperEnv + "=" + string(text), "GORACE=atexit_sleep_ms=0"}
}

func (k task) in(dir string) task { k.Dir = dir; return k }

func (k task) operate() string {
	c, err := k.dial()
	if err != nil {
		return err.Error()
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(context.Background(), generous)
	defer cancel()
	if k.Hostile {
		_ = place{state: paths.State{Dir: filepath.Dir(k.Socket)}, wait: generous}.greet(c) // gets a challenge, or none
	}
	if err := c.Call(ctx, []byte(testKey), "pause", nil, nil); err != nil {
		return err.Error()
	}
	return "may"
}

func (k task) dial() (*Client, error) {
	if k.Hostile {
		return dialAny(k.Socket)
	}
	return dialAt(k.Socket)
}

// dialAny connects to whoever listens at a socket.
func dialAny(socket string) (*Client, error) {
	nc, err := dialSocket(socket)
	if err != nil {
		return nil, err
	}
	who, err := peerOf(nc)
	if err != nil {
		return nil, err
	}
	c := &Client{nc: nc, at: who, done: make(chan struct{}), waiting: map[string]waiter{}}
	go c.hear()
	return c, nil
}

// proven is in a word what comes of dialling a host, and why.
func proven(socket string) string {
	c, err := dialAt(socket)
	if err == nil {
		c.Close()
		return "proven"
	}
	for word, is := range map[string]error{"absent": ErrAbsent, "silent": ErrSilent, "unproven": ErrUnproven, "replaced": ErrReplaced} {
		if errors.Is(err, is) {
			return word + ": " + err.Error()
		}
	}
	return "failed: " + err.Error()
}

func waitFile(path string) {
	for end := time.Now().Add(generous); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(path); err == nil {
			return
		}
		if _, err := os.Stat(filepath.Dir(path)); err != nil {
			return
		}
	}
}

// start starts the test binary with a task.
func (k task) start(socket string) (*exec.Cmd, error) {
	k.Socket, k.Hostile = socket, k.Hostile || k.Exe != ""
	text, err := json.Marshal(k)
	if err != nil {
		return nil, err
	}
	exe := k.Exe
	if exe == "" {
		if exe, err = os.Executable(); err != nil {
			return nil, err
		}
	}
	cmd := exec.Command(exe)
	cmd.Env = helperEnviron(text)
	if k.Mark {
		cmd.Env = append(cmd.Env, runMark+"=1")
	}
	cmd.Stderr = os.Stderr
	if k.Session {
		ownSession(cmd)
	}
	if k.Terminal {
		if _, err := approvaltest.InTerminal(cmd); err != nil {
			return nil, err
		}
	}
	return cmd, cmd.Start()
}

// host is a host of its own, so that the test and its other helpers are not
// what it started.
func (k task) host() error {
	becomeSubreaper()
	s, err := Listen(Options{
		Path: k.Socket, Lock: k.Socket + ".lifecycle.lock",
		Token: func() string { return testToken }, OperatorKey: func() []byte { return []byte(testKey) },
		Handler: handler{exec: func(_ context.Context, x Exec) ExecAnswer {
			if len(x.Request.Command) > 1 {
				var kid task
				if err := json.Unmarshal([]byte(x.Request.Command[1]), &kid); err != nil {
					return ExecAnswer{Refused: &Error{CodeInvalid, err.Error(), approval.ReasonInvalid, nil, nil}}
				}
				if _, err := kid.start(k.Socket); err != nil {
					return ExecAnswer{Refused: &Error{CodeUnavailable, err.Error(), "", nil, nil}}
				}
			}
			return ExecAnswer{Success: true}
		}},
	})
	if err != nil {
		return err
	}
	if k.Still {
		s.watcher.every = time.Hour
	}
	go s.Serve(context.Background())
	fmt.Println("listening")
	io.Copy(io.Discard, os.Stdin)
	s.Close()
	return nil
}
