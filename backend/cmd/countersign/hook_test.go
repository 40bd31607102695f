//go:build linux || darwin

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign-app/countersign/backend/agents/hook"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/ipc"
)

const hookToken = "hook-test-token"

// hookHost answers the calls of hooks in the place of a host.
type hookHost func(ctx context.Context, call approval.ToolCall) (any, *ipc.Error)

func (hookHost) Exec(context.Context, ipc.Exec) ipc.ExecAnswer { return ipc.ExecAnswer{} }

func (hookHost) Decide(context.Context, ipc.DecisionRequest) (approval.Decision, bool) {
	return "", false
}

func (j hookHost) Call(ctx context.Context, c ipc.Call) ipc.CallAnswer {
	var call approval.ToolCall
	if err := json.Unmarshal(c.Params, &call); err != nil || c.Method != "tool.decide" {
		return ipc.CallAnswer{Refused: &ipc.Error{Code: ipc.CodeInvalid, Message: fmt.Sprint(c.Method, err)}}
	}
	payload, refused := j(ctx, call)
	return ipc.CallAnswer{Payload: payload, Refused: refused}
}

// hookPolicy is a policy file that asks, with this about the socket.
func hookPolicy(socket string) string {
	return `{"version": 1, "socket": {` + socket + `}, "defaults": {"security": "allowlist", "ask": "on-miss"}}`
}

// hookWorld is a home with a policy file and no host.
func hookWorld(t *testing.T) *world {
	w := testWorld(t)
	w.policy(t, hookPolicy(`"token": "`+hookToken+`"`))
	return w
}

// judges listens at the socket of a world.
func (w *world) judges(t *testing.T, j hookHost) {
	t.Helper()
	s, err := ipc.Listen(ipc.Options{Path: w.state.Socket(), Lock: w.state.Lock(), Token: func() string { return hookToken }, Handler: j})
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	serving.Go(func() { s.Serve(context.Background()) })
	t.Cleanup(func() { s.Close(); serving.Wait() })
}

// ended is what came of a hook.
type ended struct {
	stdout, stderr string
	code           int
}

// hook runs a hook to its end.
func (w *world) hook(t *testing.T, input string, words ...string) ended {
	t.Helper()
	return finish(t, w.command(append([]string{"hook"}, words...)...), input)
}

func finish(t *testing.T, cmd *exec.Cmd, input string) ended {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(input), &stdout, &stderr
	err := cmd.Run()
	var exited *exec.ExitError
	// A hook that has read enough does not read on.
	if err != nil && !errors.As(err, &exited) && !errors.Is(err, syscall.EPIPE) {
		t.Error(err)
	}
	return ended{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// claudeAsks is an event of Claude Code about a command.
func claudeAsks(event, command string) string {
	text, _ := json.Marshal(map[string]any{
		"session_id": "s", "cwd": "/", "hook_event_name": event, "tool_name": "Bash", "permission_mode": "default",
		"tool_input": map[string]any{"command": command, "description": "x"},
	})
	return string(text)
}

// genericAsks is the same in our own contract.
const genericAsks = `{"version": 1, "tool": "bash_execute", "args": {"command": "make"}, "cwd": "/"}`

func allowed(id string) approval.Outcome {
	return approval.Outcome{Verdict: approval.VerdictAllow, Approved: id, Receipt: approval.Receipt{Verdict: approval.VerdictAllow}}
}

func refusal(message string) approval.Outcome {
	return approval.Outcome{Verdict: approval.VerdictDeny, Receipt: approval.Receipt{
		Verdict: approval.VerdictDeny, Reason: approval.ReasonUserDenied, Message: message,
	}}
}

func countersignPath(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("countersign")
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A hundred hooks wait at once, and each gets its own answer.
func TestHundredHooks(t *testing.T) {
	const n = 100
	w := hookWorld(t)
	var waiting atomic.Int64
	all := make(chan struct{})
	w.judges(t, func(ctx context.Context, call approval.ToolCall) (any, *ipc.Error) {
		if waiting.Add(1) == n {
			close(all)
		}
		select {
		case <-all:
		case <-ctx.Done():
		}
		var args struct{ Command string }
		if err := json.Unmarshal(call.Args, &args); err != nil {
			return nil, &ipc.Error{Message: err.Error()}
		}
		number := strings.TrimPrefix(args.Command, "job ")
		if strings.HasSuffix(number, "7") {
			return refusal("not " + number), nil
		}
		return allowed("id-" + number), nil
	})
	var hooks sync.WaitGroup
	for i := range n {
		hooks.Go(func() {
			want := fmt.Sprintf(`{"hookSpecificOutput":{"decision":{"behavior":"allow","updatedInput":{"command":"%s run --approved id-%d","description":"x"}},"hookEventName":"PermissionRequest"}}`,
				countersignPath(t), i) + "\n"
			if i%10 == 7 {
				want = fmt.Sprintf(`{"hookSpecificOutput":{"decision":{"behavior":"deny","message":"not %d"},"hookEventName":"PermissionRequest"}}`, i) + "\n"
			}
			if got := w.hook(t, claudeAsks("PermissionRequest", fmt.Sprint("job ", i)), "claude-code"); got != (ended{want, "", 0}) {
				t.Errorf("hook %d: %+v, want %s", i, got, want)
			}
		})
	}
	hooks.Wait()
	if waiting.Load() != n {
		t.Errorf("the host was asked %d times", waiting.Load())
	}
}

// What the host is asked holds all of a command, however long, for whom it is
// and how long the agent waits.
func TestHookCall(t *testing.T) {
	w := hookWorld(t)
	got := make(chan approval.ToolCall, 1)
	w.judges(t, func(_ context.Context, call approval.ToolCall) (any, *ipc.Error) {
		got <- call
		return allowed("1"), nil
	})
	for _, command := range []string{"make", strings.Repeat("<&>é", 37_000), strings.Repeat(`\"`, 25_000)} {
		before := time.Now()
		out := w.hook(t, claudeAsks("PermissionRequest", command), "claude-code", "--agent=robot", "--timeout", "10m")
		if out.code != 0 || out.stderr != "" {
			t.Fatalf("%d bytes: %+v", len(command), out)
		}
		call := <-got
		var args map[string]string
		if err := json.Unmarshal(call.Args, &args); err != nil || args["command"] != command {
			t.Errorf("another command of %d bytes arrived: %v", len(args["command"]), err)
		}
		left := time.UnixMilli(call.Deadline).Sub(before)
		if left > 10*time.Minute-2*time.Second+patience || left < 10*time.Minute-3*time.Second {
			t.Errorf("the host has %v", left)
		}
		call.Args, call.Deadline = nil, 0
		want := approval.ToolCall{Tool: "bash_execute", Cwd: "/", AgentID: "robot", SessionKey: "s", Source: "hook", Who: approval.Ours}
		if diff := cmp.Diff(want, call); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

// The command line that runs what was allowed finds the same host, and a shell
// reads it as it is meant.
func TestHookRewrites(t *testing.T) {
	w := hookWorld(t)
	w.judges(t, func(context.Context, approval.ToolCall) (any, *ipc.Error) { return allowed("it's"), nil })
	linked := filepath.Join(w.home, "a b$(id)'s")
	if err := os.Symlink(w.state.Dir, linked); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		words []string
		env   string
		want  []string
	}{
		{"the usual folder is not named", []string{"hook", "claude-code"}, "", []string{"run", "--approved", "it's"}},
		{"one of a flag is", []string{"hook", "claude-code", "--state-dir", linked}, "", []string{"--state-dir", linked, "run", "--approved", "it's"}},
		{"a flag may come first", []string{"--state-dir=" + linked, "hook", "claude-code"}, "", []string{"--state-dir", linked, "run", "--approved", "it's"}},
		{"one of the environment is", []string{"hook", "claude-code"}, "COUNTERSIGN_STATE_DIR=~/.openclaw", []string{"--state-dir", w.state.Dir, "run", "--approved", "it's"}},
		{"the long way says it always", []string{"--json", "hook", "run", "claude-code"}, "", []string{"--state-dir", w.state.Dir, "run", "--approved", "it's"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			cmd := w.command(test.words...)
			cmd.Env = append(cmd.Env, test.env)
			got := finish(t, cmd, claudeAsks("PermissionRequest", "make"))
			var out struct {
				HookSpecificOutput struct {
					Decision struct{ UpdatedInput struct{ Command string } }
				}
			}
			if err := json.Unmarshal([]byte(got.stdout), &out); err != nil {
				t.Fatalf("%v: %+v", err, got)
			}
			line := out.HookSpecificOutput.Decision.UpdatedInput.Command
			shell := w.program("/bin/sh", "-c", `for word in `+line+`; do printf '%s\0' "$word"; done`)
			words, err := shell.Output()
			if err != nil {
				t.Fatal(err)
			}
			want := strings.Join(append([]string{countersignPath(t)}, test.want...), "\x00") + "\x00"
			if string(words) != want {
				t.Errorf("a shell reads %q in %s, want %q", words, line, want)
			}
		})
	}
}

// hostileInputs are inputs that no agent writes, and what is wrong with each.
func hostileInputs() map[string]string {
	deep := strings.Repeat(`{"a":`, 5000) + "1" + strings.Repeat("}", 5000)
	return map[string]string{
		"":                                      "the input is not one JSON value",
		"\x00":                                  "the input is not one JSON value",
		`{"hook_event_name":"PreToolUse","tool`: "the input is not one JSON value",
		`{"version":1} {"version":1}`:           "the input is not one JSON value",
		"{\"tool_name\":\"\xff\xfe\"}":          "the input is not UTF-8",
		"[]":                                    "the input is no JSON object",
		"null":                                  "the input is no JSON object",
		deep:                                    "the input is nested more than 64 deep",
		strings.Repeat("[", 50_000) + strings.Repeat("]", 50_000): "the input is not one JSON value",
		`{"a":1,"a":2}`: `the input holds "a" twice`,
		`{"a":[` + strings.Repeat("1,", 200_000) + `1]}`: "the input holds more than 100000 values",
		`{"a":"` + strings.Repeat("x", 9<<20) + `"}`:     "the input is larger than 8 MiB",
	}
}

// Input that cannot be read is refused in the words of each agent, with its exit
// code, and nobody is asked.
func TestHookHostileInput(t *testing.T) {
	w := hookWorld(t)
	w.judges(t, func(_ context.Context, call approval.ToolCall) (any, *ipc.Error) {
		t.Errorf("the host is asked: %+v", call)
		return nil, &ipc.Error{}
	})
	for _, agent := range hook.Agents() {
		t.Run(agent.Name, func(t *testing.T) {
			t.Parallel()
			for input, problem := range hostileInputs() {
				a := agent.Refuse(errors.New(problem))
				want := ended{string(a.Stdout), a.Stderr, a.Code}
				if got := w.hook(t, input, agent.Name); got != want {
					t.Errorf("%.40q: %+v, want %+v", input, got, want)
				}
			}
		})
	}
}

// The same for three agents in full.
func TestHookRefusals(t *testing.T) {
	w := hookWorld(t)
	const cannot = "Countersign cannot read what the hook was given, so it does not run: "
	for _, test := range []struct{ agent, input, stdout, problem string }{
		{"claude-code", `{"cwd":"/","tool_name":"Bash"}`, "", "hook_event_name is missing"},
		{"claude-code", `{"hook_event_name":"PermissionRequest"`, "", "the input is not one JSON value"},
		{"codex", `{"hook_event_name":"PermissionRequest","tool_name":"apply_patch","tool_input":{"command":"x"},"cwd":"/"}`, "", "the patch has no *** Begin Patch and *** End Patch around it"},
		{"codex", `{"hook_event_name":7}`, "", "hook_event_name is no text"},
		{"generic", `{"version":2,"tool":"x","args":{},"cwd":"/"}`, `{"version":1,"decision":"deny","reason":"invalid","message":"` + cannot + `version must be 1"}` + "\n", "version must be 1"},
		{"generic", `{"version":1,"tool":"x","args":{},"cwd":"/","allow":true}`, `{"version":1,"decision":"deny","reason":"invalid","message":"` + cannot + `\"allow\" is not a field of version 1"}` + "\n", `"allow" is not a field of version 1`},
	} {
		if got, want := w.hook(t, test.input, test.agent), (ended{test.stdout, cannot + test.problem + "\n", 2}); got != want {
			t.Errorf("%s, %s: %+v, want %+v", test.agent, test.input, got, want)
		}
	}
}

// noHost is what our own contract says where nobody could be asked.
func noHost(why string) string {
	return `{"version":1,"decision":"none","reason":"companion-unavailable","message":"Countersign: ` + why +
		`. You may ask again later, or continue without it."}` + "\n"
}

// Without a host that answers, Claude Code is told nothing, so that it asks by
// itself, and others what is the matter.
func TestHookWithoutHost(t *testing.T) {
	for _, test := range []struct {
		name string
		make func(t *testing.T, w *world)
		why  string
	}{
		{"no state folder", func(*testing.T, *world) {}, "Countersign is not running"},
		{"no socket", func(t *testing.T, w *world) { w.policy(t, hookPolicy(`"token":"t"`)) }, "Countersign is not running"},
		{"a socket that nobody listens at", func(t *testing.T, w *world) {
			w.policy(t, hookPolicy(`"token":"t"`))
			l, err := net.ListenUnix("unix", &net.UnixAddr{Name: w.state.Socket()})
			if err != nil {
				t.Fatal(err)
			}
			l.SetUnlinkOnClose(false)
			l.Close()
		}, "Countersign is not running"},
		{"another token", func(t *testing.T, w *world) {
			w.policy(t, hookPolicy(`"token":"wrong"`))
			w.judges(t, func(context.Context, approval.ToolCall) (any, *ipc.Error) { return allowed("1"), nil })
		}, "the host of Countersign refused: invalid auth"},
		{"no token", func(t *testing.T, w *world) {
			w.policy(t, hookPolicy(""))
			w.judges(t, func(context.Context, approval.ToolCall) (any, *ipc.Error) { return allowed("1"), nil })
		}, "the host of Countersign refused: invalid auth"},
		{"a host that refuses", func(t *testing.T, w *world) {
			w.policy(t, hookPolicy(`"token":"`+hookToken+`"`))
			w.judges(t, func(context.Context, approval.ToolCall) (any, *ipc.Error) {
				return nil, &ipc.Error{Code: ipc.CodeUnavailable, Message: "it is closing."}
			})
		}, "the host of Countersign refused: it is closing"},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := testWorld(t)
			test.make(t, w)
			silentHooks(t, w, test.why)
		})
	}
}

// silentHooks checks that nothing is allowed in a world, whoever asks, and that
// it is said in time.
func silentHooks(t *testing.T, w *world, why string, flags ...string) {
	t.Helper()
	for _, event := range []string{"PermissionRequest", "PreToolUse"} {
		if got := w.hook(t, claudeAsks(event, "make"), append([]string{"claude-code"}, flags...)...); got != (ended{}) {
			t.Errorf("%s: %+v", event, got)
		}
	}
	if got := w.hook(t, genericAsks, append([]string{"generic"}, flags...)...); got != (ended{noHost(why), "", 0}) {
		t.Errorf("generic: %+v, want %s", got, noHost(why))
	}
}

// A host that hangs does not make the agent hang: the answer comes before the
// agent stops waiting, the question is withdrawn, and the answer is no: a host that
// is there and silent is not absent.
func TestHookHostHangs(t *testing.T) {
	w := hookWorld(t)
	gone := make(chan struct{}, 3)
	w.judges(t, func(ctx context.Context, _ approval.ToolCall) (any, *ipc.Error) {
		<-ctx.Done()
		gone <- struct{}{}
		return allowed("late"), nil
	})
	deniedHooks(t, w, approval.ReasonTimeout, "--timeout=1s")
	for range 3 {
		select {
		case <-gone:
		case <-time.After(patience):
			t.Fatal("a question was not withdrawn")
		}
	}
	short := strings.Replace(genericAsks, `"version": 1`, `"version": 1, "timeoutMs": 500`, 1)
	if got := w.hook(t, short, "generic"); !got.denies("generic", "tool", approval.ReasonTimeout) {
		t.Errorf("a time that the caller names: %+v", got)
	}
}

// The same where nobody takes the connection, and where the input never ends.
func TestHookNothingMoves(t *testing.T) {
	w := hookWorld(t)
	w.holds(t)
	l, err := net.Listen("unix", w.state.Socket())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	deniedHooks(t, w, approval.ReasonTimeout, "--timeout=1s")

	cmd := w.command("hook", "claude-code", "--timeout=1s")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	never, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer never.Close()
	p, err := start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-p.over:
	case <-time.After(patience):
		p.Process.Kill()
		t.Fatal("it waits for input without end")
	}
	if want := "Countersign cannot read what the hook was given, so it does not run: it did not end in time\n"; stderr.String() != want || p.ProcessState.ExitCode() != 2 {
		t.Errorf("code %d, %q", p.ProcessState.ExitCode(), stderr.String())
	}
}

// A host that answers something else is there all the same, so nothing runs.
func TestHookGarbage(t *testing.T) {
	for name, answer := range map[string]string{
		"nothing":                "",
		"no JSON":                "yes\n",
		"half an answer":         `{"type":"call-res","id":"ID","ok":true,"payload":{"verdict":"allow"`,
		"an answer to another":   `{"type":"call-res","id":"x","ok":true,"payload":{"verdict":"allow"}}` + "\n",
		"another kind of answer": `{"type":"decision","id":"ID","decision":"allow-once"}` + "\n",
		"no payload":             `{"type":"call-res","id":"ID","ok":true}` + "\n",
		"null":                   `{"type":"call-res","id":"ID","ok":true,"payload":null}` + "\n",
		"no verdict":             `{"type":"call-res","id":"ID","ok":true,"payload":{"approved":"x"}}` + "\n",
		"an unknown verdict":     `{"type":"call-res","id":"ID","ok":true,"payload":{"verdict":"ALLOW"}}` + "\n",
		"a verdict of its type":  `{"type":"call-res","id":"ID","ok":true,"payload":{"verdict":true}}` + "\n",
		"an endless line":        strings.Repeat("x", 17<<20),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := hookWorld(t)
			answers(t, w, answer)
			deniedHooks(t, w, approval.ReasonCompanion)
		})
	}
	// A refusal is an answer: it could not be asked there.
	w := hookWorld(t)
	answers(t, w, `{"type":"call-res","id":"ID","ok":false,"payload":{"verdict":"allow"}}`+"\n")
	if got, want := w.hook(t, genericAsks, "generic"), noHost("the host of Countersign refused: the host refused without a reason"); got != (ended{want, "", 0}) {
		t.Errorf("generic: %+v, want %s", got, want)
	}
}

// holds takes the lock of a world's state folder, as its host would.
func (w *world) holds(t *testing.T) {
	t.Helper()
	lock, err := ipc.Hold(w.state.Lock())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(lock.Close)
}

// answers is a host that says which folder it serves, answers one frame with
// this text, in which ID is the id of the frame, and hangs up.
func answers(t *testing.T, w *world, text string) {
	t.Helper()
	w.holds(t)
	var folder syscall.Stat_t
	if err := syscall.Stat(w.state.Dir, &folder); err != nil {
		t.Fatal(err)
	}
	hello := fmt.Sprintf(`{"type":"hello","id":"ID","folder":{"dev":%d,"ino":%d}}`+"\n", folder.Dev, folder.Ino)
	l, err := net.Listen("unix", w.state.Socket())
	if err != nil {
		t.Fatal(err)
	}
	var serving sync.WaitGroup
	t.Cleanup(func() { l.Close(); serving.Wait() })
	serving.Go(func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			in := bufio.NewReader(nc)
			for _, answer := range []string{hello, text} {
				line, _ := in.ReadBytes('\n')
				var frame struct{ ID string }
				_ = json.Unmarshal(line, &frame)
				_, _ = io.WriteString(nc, strings.Replace(answer, "ID", frame.ID, 1))
			}
			nc.Close()
		}
	})
}

// An agent that takes its hook away withdraws the question.
func TestHookIsEnded(t *testing.T) {
	w := hookWorld(t)
	asked, gone := make(chan struct{}), make(chan struct{})
	w.judges(t, func(ctx context.Context, _ approval.ToolCall) (any, *ipc.Error) {
		close(asked)
		<-ctx.Done()
		close(gone)
		return allowed("late"), nil
	})
	cmd := w.command("hook", "claude-code", "--timeout=1h")
	var out bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(claudeAsks("PermissionRequest", "make")), &out, &out
	p, err := start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		what string
		done <-chan struct{}
		then func()
	}{
		{"the host is asked", asked, func() { p.Process.Signal(syscall.SIGTERM) }},
		{"the hook ends", p.over, func() {}},
		{"the question is withdrawn", gone, func() {}},
	} {
		select {
		case <-step.done:
			step.then()
		case <-time.After(patience):
			p.Process.Kill()
			t.Fatalf("it does not happen that %s", step.what)
		}
	}
	if status := p.ProcessState.Sys().(syscall.WaitStatus); !status.Signaled() || status.Signal() != syscall.SIGTERM || out.Len() > 0 {
		t.Errorf("it ended as %v and said %q", p.ProcessState, out.String())
	}
}

// Events about nothing ask nobody.
func TestHookIgnores(t *testing.T) {
	w := hookWorld(t)
	w.judges(t, func(_ context.Context, call approval.ToolCall) (any, *ipc.Error) {
		t.Errorf("the host is asked: %+v", call)
		return nil, &ipc.Error{}
	})
	for _, agent := range []string{"claude-code", "codex"} {
		if got := w.hook(t, `{"hook_event_name":"SessionStart","session_id":"s"}`, agent); got != (ended{}) {
			t.Errorf("%s: %+v", agent, got)
		}
	}
}

func TestHookWords(t *testing.T) {
	for _, test := range []struct {
		line string
		want hookCommand
		ok   bool
	}{
		{"hook codex", hookCommand{For: "codex"}, true},
		{"hook codex --agent x --timeout 23h59m55s --state-dir /s", hookCommand{For: "codex", Agent: "x", Timeout: 24*time.Hour - 5*time.Second, stateDir: "/s"}, true},
		{"--state-dir=/s hook --agent=x codex", hookCommand{For: "codex", Agent: "x", stateDir: "/s"}, true},
		{"hook", hookCommand{}, false},
		{"codex hook", hookCommand{}, false},
		{"hook codex more", hookCommand{}, false},
		{"hook codex --agent", hookCommand{}, false},
		{"hook codex --agent=", hookCommand{}, false},
		{"hook codex --timeout -1s", hookCommand{}, false},
		{"hook codex --timeout soon", hookCommand{}, false},
		{"hook codex --json", hookCommand{}, false},
		{"hook codex -h", hookCommand{}, false},
		{"run -- hook codex", hookCommand{}, false},
		{"", hookCommand{}, false},
	} {
		got, ok := hookWords(strings.Fields(test.line))
		if ok != test.ok || ok && got != test.want {
			t.Errorf("%q: %+v, %v", test.line, got, ok)
		}
	}
	if _, ok := shortHook([]string{"hook", "install", "--all"}); ok {
		t.Error("install is taken for an agent")
	}
}

// After an upgrade the host is the former file of the program: what is asked is
// denied, and said why, until it is started again.
func TestHookAfterUpgrade(t *testing.T) {
	w := hookWorld(t)
	program := filepath.Join(w.home, "countersign")
	install := func() {
		t.Helper()
		text, err := os.ReadFile(countersignPath(t))
		if err == nil {
			err = errors.Join(os.WriteFile(program+".new", text, 0o700), os.Rename(program+".new", program))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	install()
	host := w.program(program, "host", "run", "--ask=command-line")
	background(t, host)
	ask := func() ended {
		return finish(t, w.program(program, "hook", "claude-code"), claudeAsks("PreToolUse", "make"))
	}
	if !eventually(func() bool { _, err := os.Lstat(w.state.Socket()); return err == nil }) {
		t.Fatal("no host")
	}
	install()
	if got := ask(); !strings.Contains(got.stdout, `"deny"`) || !strings.Contains(got.stdout, "restart Countersign") {
		t.Errorf("%+v", got)
	}
}
