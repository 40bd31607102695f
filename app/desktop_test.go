//go:build desktoptest && linux

// The production program in a real window, on a display and a session bus of
// its own (`make test` starts them), found and pressed as a screen reader
// would.

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/countersign-app/countersign/app/apptest"
	"github.com/countersign-app/countersign/backend/approvaltest"
)

// desk is one person's desktop with the app on it.
type desk struct {
	t *testing.T
	// program is the file of the app.
	program string
	home    string
	state   string
	tree    *apptest.Tree
	app     *exec.Cmd
	said    bytes.Buffer
	ended   chan error
}

func bin(t *testing.T, name string) string {
	t.Helper()
	at, err := filepath.Abs(filepath.Join("..", "build", "bin", name))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(at); err != nil {
		t.Fatalf("%v: run `make build` first", err)
	}
	return at
}

// newDesk starts the app with this policy and these further variables.
func newDesk(t *testing.T, policy string, env ...string) *desk {
	t.Helper()
	home, err := os.MkdirTemp("/tmp", "cs")
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, program: bin(t, "countersign-app"), home: home, state: filepath.Join(home, "s"), ended: make(chan error, 1)}
	t.Cleanup(func() { os.RemoveAll(home) })
	if policy != "" {
		if err := errors.Join(os.Mkdir(d.state, 0o700), os.WriteFile(filepath.Join(d.state, "exec-approvals.json"), []byte(policy), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if d.tree, err = apptest.Open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.tree.Close)
	d.start(env...)
	t.Cleanup(func() { d.end() })
	return d
}

// start starts the app and waits for its host.
func (d *desk) start(env ...string) {
	d.t.Helper()
	d.app = exec.Command(d.program, "--state-dir", d.state)
	d.app.Env = append(d.env(), env...)
	d.app.Stdout, d.app.Stderr = &d.said, &d.said
	if err := d.app.Start(); err != nil {
		d.t.Fatal(err)
	}
	app := d.app
	go func() { d.ended <- app.Wait() }()
	d.eventually("the host listens", func() bool {
		c, err := net.Dial("unix", filepath.Join(d.state, "exec-approvals.sock"))
		if err == nil {
			c.Close()
		}
		return err == nil
	})
}

func (d *desk) env() []string {
	env := []string{"HOME=" + d.home, "SHELL=/bin/sh"}
	for _, kv := range os.Environ() {
		if name, _, _ := strings.Cut(kv, "="); name != "HOME" && name != "SHELL" && name != "COUNTERSIGN_STATE_DIR" {
			env = append(env, kv)
		}
	}
	return env
}

// end ends the app, and tells what it said if the test failed.
func (d *desk) end() {
	_ = d.app.Process.Signal(syscall.SIGTERM)
	select {
	case <-d.ended:
	case <-time.After(patience):
		_ = d.app.Process.Kill()
		d.t.Error("the app does not end when it is told to")
	}
	if d.t.Failed() {
		d.t.Logf("the app said:\n%s", d.said.String())
	}
}

func (d *desk) eventually(what string, ok func() bool) {
	d.t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if ok() {
			return
		}
	}
	d.t.Fatalf("never: %s; the window holds:\n%s", what, d.tree.Text())
}

// ask runs a command as an agent would, from a terminal of its own, and gives
// its exit code and output to the channel.
func (d *desk) ask(ctx context.Context, command ...string) <-chan outcome {
	d.t.Helper()
	return d.askIn(ctx, "", command...)
}

// askIn is the same for an agent that works in another folder than this test.
func (d *desk) askIn(ctx context.Context, folder string, command ...string) <-chan outcome {
	d.t.Helper()
	done := make(chan outcome, 1)
	cmd := exec.CommandContext(ctx, bin(d.t, "countersign"), append([]string{"--state-dir", d.state, "run", "--agent", "main", "--wait", "10m", "--"}, command...)...)
	cmd.Dir, cmd.Env = folder, d.env()
	if _, err := approvaltest.InTerminal(cmd); err != nil {
		d.t.Fatal(err)
	}
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	go func() {
		_ = cmd.Run() // its exit code tells
		done <- outcome{cmd.ProcessState.ExitCode(), out.String()}
	}()
	return done
}

type outcome struct {
	code int
	out  string
}

func (d *desk) outcome(done <-chan outcome) outcome {
	d.t.Helper()
	select {
	case o := <-done:
		return o
	case <-time.After(patience):
		d.t.Fatalf("the request has no end; the window holds:\n%s", d.tree.Text())
		return outcome{}
	}
}

func (d *desk) wait(role apptest.Role, name string) apptest.Object {
	d.t.Helper()
	o, err := d.tree.Wait(role, name, patience)
	if err != nil {
		d.t.Fatal(err)
	}
	return o
}

// press presses a button until ok: what comes within half a second of the
// question does not count.
func (d *desk) press(name string, ok func() bool) {
	d.t.Helper()
	d.eventually(name+" counts", func() bool {
		if o, there := d.tree.Find(apptest.Button, name); there {
			_ = o.Press() // it may go away just now
		}
		time.Sleep(100 * time.Millisecond)
		return ok()
	})
}

func (d *desk) shows(text string) {
	d.t.Helper()
	d.eventually("the window says "+text, func() bool { return strings.Contains(d.tree.Text(), text) })
}

func watch(t *testing.T) *apptest.Watcher {
	t.Helper()
	w, err := apptest.Watch()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

func (d *desk) item(w *apptest.Watcher) apptest.Item {
	d.t.Helper()
	i, err := w.Item(patience)
	if err != nil {
		d.t.Fatal(err)
	}
	return i
}

// row presses a row of the menu.
func (d *desk) row(i apptest.Item, title string) {
	d.t.Helper()
	if err := i.Press(title); err != nil {
		d.t.Fatal(err)
	}
}

func TestWindowAllows(t *testing.T) {
	d := newDesk(t, askMe)
	proof := filepath.Join(d.home, "proof")
	done := d.ask(t.Context(), "touch", proof)
	once := d.wait(apptest.Button, "Allow once")
	d.shows("May main run")
	d.wait(apptest.Button, "Deny")
	if err := once.Press(); err != nil {
		t.Fatal(err)
	}
	d.press("Allow once", func() bool { _, there := d.tree.Find(apptest.Button, "Allow once"); return !there })
	if o := d.outcome(done); o.code != 0 {
		t.Errorf("%+v", o)
	}
	if _, err := os.Stat(proof); err != nil {
		t.Error(err)
	}
}

func TestWindowDenies(t *testing.T) {
	d := newDesk(t, askMe)
	proof := filepath.Join(d.home, "proof")
	done := d.ask(t.Context(), "touch", proof)
	d.wait(apptest.Button, "Deny")
	d.press("Deny", func() bool { return len(done) == 1 })
	if o := d.outcome(done); o.code != 126 || !strings.Contains(o.out, "user denied") {
		t.Errorf("%+v", o)
	}
	if _, err := os.Stat(proof); err == nil {
		t.Error("it ran")
	}
}

// What Always allow writes is shown before, holds after, is in the settings
// and can be taken back.
func TestWindowRemembers(t *testing.T) {
	watcher := watch(t)
	d := newDesk(t, askMe)
	item := d.item(watcher)
	proof, tool := filepath.Join(d.home, "proof"), filepath.Join(d.home, "tool")
	if err := os.WriteFile(tool, []byte("#!/bin/sh\ntouch "+proof+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	done := d.ask(t.Context(), tool)
	d.wait(apptest.Button, "Always allow")
	d.press("Always allow…", func() bool { return strings.Contains(d.tree.Text(), "from now on") })
	d.shows("~/tool")
	d.press("Always allow: ", func() bool { return len(done) == 1 })
	if o := d.outcome(done); o.code != 0 {
		t.Fatalf("%+v", o)
	}
	if o := d.outcome(d.ask(t.Context(), tool)); o.code != 0 {
		t.Errorf("it is asked again: %+v", o)
	}
	d.row(item, "Settings…")
	d.shows("~/tool")
	if err := d.wait(apptest.CheckBox, "In force: ~/tool").Focus(); err != nil {
		t.Fatal(err)
	}
	d.press("Delete", func() bool { return !strings.Contains(d.tree.Text(), "~/tool") })
	again := d.ask(t.Context(), tool)
	d.wait(apptest.Button, "Allow once")
	d.press("Deny", func() bool { return len(again) == 1 })
	if o := d.outcome(again); o.code != 126 {
		t.Errorf("%+v", o)
	}
}

func TestWindowSaysThatTheCallerHungUp(t *testing.T) {
	d := newDesk(t, askMe)
	ctx, hangUp := context.WithCancel(t.Context())
	done := d.ask(ctx, "touch", filepath.Join(d.home, "proof"))
	d.wait(apptest.Button, "Allow once")
	hangUp()
	d.outcome(done)
	d.shows("main stopped waiting")
	d.eventually("nothing can be allowed now", func() bool {
		for _, name := range []string{"Allow once", "Allow for", "Always allow"} {
			if _, there := d.tree.Find(apptest.Button, name); there {
				return false
			}
		}
		return true
	})
	d.wait(apptest.Button, "Allow if it asks again")
}

// The command line beside the app may deny, which takes the question away
// from the window, and may not allow.
func TestWindowWithdraws(t *testing.T) {
	d := newDesk(t, askMe)
	done := d.ask(t.Context(), "touch", filepath.Join(d.home, "proof"))
	d.wait(apptest.Button, "Allow once")
	var waiting []struct{ ID string }
	out, err := d.operate("--json", "approvals", "pending")
	if err != nil || json.Unmarshal(out, &waiting) != nil || len(waiting) != 1 {
		t.Fatalf("%v\n%s", err, out)
	}
	if out, err := d.operate("approvals", "approve", waiting[0].ID); err == nil || !strings.Contains(string(out), "the app is running") {
		t.Errorf("a yes from the command line: %v\n%s", err, out)
	}
	if out, err := d.operate("policy", "set", "security", "full"); err == nil || !strings.Contains(string(out), "the app is running") {
		t.Errorf("a loosening from the command line: %v\n%s", err, out)
	}
	if out, err := d.operate("approvals", "deny", waiting[0].ID); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if o := d.outcome(done); o.code != 126 {
		t.Errorf("%+v", o)
	}
	d.eventually("the question is gone", func() bool { _, there := d.tree.Find(apptest.Button, "Allow once"); return !there })
}

// operate runs the command line as the person does, in a session that asks
// for nothing.
func (d *desk) operate(args ...string) ([]byte, error) {
	cmd := exec.Command(bin(d.t, "countersign"), append([]string{"--state-dir", d.state}, args...)...)
	cmd.Env = d.env()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	return cmd.CombinedOutput()
}

// Nobody can attach to the page, even when the variables for that are set.
func TestWindowHasNoInspector(t *testing.T) {
	var ports []string
	for range 2 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ports = append(ports, l.Addr().String())
		l.Close()
	}
	d := newDesk(t, askMe, "WEBKIT_INSPECTOR_SERVER="+ports[0], "WEBKIT_INSPECTOR_HTTP_SERVER="+ports[1])
	done := d.ask(t.Context(), "touch", filepath.Join(d.home, "proof"))
	d.wait(apptest.Button, "Deny") // the page is there, and an inspector would be
	for _, at := range ports {
		if c, err := net.Dial("tcp", at); err == nil {
			c.Close()
			t.Errorf("an inspector listens at %s", at)
		}
	}
	processes := below(t, d.app.Process.Pid)
	if len(processes) < 2 {
		t.Errorf("only %d processes below the app: where is the page?", len(processes))
	}
	for _, pid := range processes {
		env, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
		if err == nil && bytes.Contains(env, []byte("WEBKIT_INSPECTOR")) {
			t.Errorf("process %d still has the variable", pid)
		}
	}
	d.press("Deny", func() bool { return len(done) == 1 })
}

// below lists the processes that a process started.
func below(t *testing.T, pid int) (list []int) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range stats {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if fields[1] == strconv.Itoa(pid) {
			child, _ := strconv.Atoi(filepath.Base(filepath.Dir(name)))
			list = append(append(list, child), below(t, child)...)
		}
	}
	return list
}

// The status item tells that a question waits, and leads to everything.
func TestStatusItem(t *testing.T) {
	watcher := watch(t)
	d := newDesk(t, `{"version":1,"defaults":{"security":"allowlist","ask":"on-miss","askFallback":"deny"},"agents":{"main":{"security":"allowlist"}}}`)
	item := d.item(watcher)
	quiet := item.Icon()
	done := d.ask(t.Context(), "touch", filepath.Join(d.home, "proof"))
	d.wait(apptest.Button, "Deny")
	d.eventually("the item tells it", func() bool {
		rows := item.Rows()
		return strings.Contains(rows, "main: touch") && strings.Contains(rows, "Waiting") && item.Icon() != quiet
	})
	rows := item.Rows()
	for _, title := range []string{"main", "Deny", "Ask always", "Ask when needed", "Only listed", "Allow all", "Pause", "15 minutes", "Stop everything now", "Settings…", "Open at login", "Quit Countersign"} {
		if !strings.Contains(rows, title) {
			t.Errorf("no row %q in\n%s", title, rows)
		}
	}
	d.press("Deny", func() bool { return len(done) == 1 })
	d.eventually("the item is quiet again", func() bool { return item.Icon() == quiet })

	running := d.ask(t.Context(), "sleep", "1000")
	d.press("Allow once", func() bool {
		return strings.Contains(item.Rows(), "main: sleep 1000") && strings.Contains(item.Rows(), "Running")
	})
	d.row(item, "Stop")
	if o := d.outcome(running); o.code == 0 {
		t.Errorf("%+v", o)
	}
	d.row(item, "Settings…")
	d.shows("What may run at all")
	d.row(item, "Quit Countersign")
	select {
	case err := <-d.ended:
		d.ended <- err
		if err != nil {
			t.Errorf("it ends with %v", err)
		}
	case <-time.After(patience):
		t.Error("it does not quit")
	}
}

// Another version in its place is offered, and started in the same process.
func TestStatusItemUpdates(t *testing.T) {
	watcher := watch(t)
	d := newDesk(t, askMe)
	d.item(watcher)
	d.end()
	text, err := os.ReadFile(d.program)
	if err != nil {
		t.Fatal(err)
	}
	d.program = filepath.Join(d.home, "countersign-app")
	upgrade := func() {
		t.Helper()
		if err := errors.Join(os.WriteFile(d.program+".new", text, 0o700), os.Rename(d.program+".new", d.program)); err != nil {
			t.Fatal(err)
		}
	}
	upgrade()
	d.start()
	item := d.item(watcher)
	const offer = "Restart to Finish the Update"
	if rows := item.Rows(); strings.Contains(rows, offer) {
		t.Error("before there is another version:", rows)
	}
	upgrade()
	d.eventually("the menu offers it", func() bool { return strings.Contains(item.Rows(), offer) })
	d.row(item, offer)
	d.wait(apptest.Button, "Restart")
	d.press("Restart", func() bool { _, there := d.tree.Find(apptest.Button, "Restart"); return !there })
	item = d.item(watcher)
	d.eventually("the new version runs", func() bool { return strings.Contains(item.Rows(), "Quit Countersign") })
	if rows := item.Rows(); strings.Contains(rows, offer) {
		t.Error("after the restart:", rows)
	}
}

// Pause and Stop everything act from the menu; Resume, which any program on
// the bus could press, leads to the settings.
func TestStatusItemHalts(t *testing.T) {
	watcher := watch(t)
	d := newDesk(t, `{"version":1,"defaults":{"security":"allowlist","ask":"on-miss","askFallback":"deny"},"agents":{"main":{"allowlist":[{"pattern":"sleep"},{"pattern":"true"}]}}}`)
	item := d.item(watcher)
	quiet := item.Icon()
	running := d.ask(t.Context(), "sleep", "1000")
	d.eventually("it runs", func() bool { return strings.Contains(item.Rows(), "main: sleep 1000") })
	d.row(item, "Until resumed")
	d.eventually("the item tells that it is paused", func() bool {
		return strings.Contains(item.Rows(), "Paused until resumed") && item.Icon() != quiet
	})
	held := d.ask(t.Context(), "true")
	waiting := d.ask(t.Context(), "touch", filepath.Join(d.home, "proof"))
	d.eventually("a question waits", func() bool { return strings.Contains(item.Rows(), "main: touch") })
	d.row(item, "Resume")
	d.shows("May main run touch?") // it covers the settings
	if rows := item.Rows(); !strings.Contains(rows, "Paused until resumed") || len(held) > 0 || len(running) > 0 {
		t.Errorf("it was resumed by a program: %s", rows)
	}
	d.row(item, "Stop everything now")
	for name, done := range map[string]<-chan outcome{"what ran": running, "what was held back": held, "what waited": waiting} {
		if o := d.outcome(done); o.code == 0 || !strings.Contains(o.out, "Stop everything") {
			t.Errorf("%s: %+v", name, o)
		}
	}
	d.eventually("the menu tells it", func() bool { return strings.Contains(item.Rows(), "main: touch "+d.home+"/proof — Denied by you") })
	if _, err := os.Stat(filepath.Join(d.home, "proof")); err == nil {
		t.Error("it ran")
	}
}

// A session that ends takes everything with it, also what will not go, and
// nothing is allowed by it.
func TestWindowAtLogOut(t *testing.T) {
	d := newDesk(t, askMe)
	stubborn := d.ask(t.Context(), "sh", "-c", `trap "" TERM HUP; while :; do sleep 0.1; done # not by itself`)
	d.wait(apptest.Button, "Allow once")
	d.press("Allow once", func() bool { _, there := d.tree.Find(apptest.Button, "Allow once"); return !there })
	proof := filepath.Join(d.home, "proof")
	waiting := d.ask(t.Context(), "touch", proof)
	d.shows("May main run touch?")
	began := time.Now()
	d.end()
	t.Logf("the app ended after %v", time.Since(began)) // a log-out waits for some seconds
	for name, done := range map[string]<-chan outcome{"what ran": stubborn, "what waited": waiting} {
		if o := d.outcome(done); o.code == 0 {
			t.Errorf("%s: %+v", name, o)
		}
	}
	if _, err := os.Stat(proof); err == nil {
		t.Error("what nobody answered ran")
	}
	if out, err := exec.Command("pgrep", "-f", "^sh -c trap").Output(); err == nil {
		t.Errorf("left: %s", out)
	}
	d.start() // for the end of the test
}

// Somebody who starts it again looks for its window.
func TestStartedTwice(t *testing.T) {
	d := newDesk(t, askMe)
	d.eventually("its settings open", func() bool {
		cmd := exec.Command(bin(t, "countersign-app"), "--state-dir", d.state)
		cmd.Env = d.env()
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		out, err := cmd.CombinedOutput()
		return err == nil && strings.Contains(string(out), "its settings are open")
	})
	d.shows("What may run at all")
}

// A page whose process dies is not the end: the app comes back with another.
func TestDeadPageComesBack(t *testing.T) {
	d := newDesk(t, askMe)
	first := d.ask(t.Context(), "touch", filepath.Join(d.home, "one"))
	d.wait(apptest.Button, "Deny")
	d.press("Deny", func() bool { return len(first) == 1 })
	pages := 0
	for _, pid := range below(t, d.app.Process.Pid) {
		if name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err == nil && strings.HasPrefix(string(name), "WebKitWebProces") {
			pages++
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
	if pages == 0 {
		t.Fatal("no process of the page was found")
	}
	if o := d.outcome(d.ask(t.Context(), "touch", filepath.Join(d.home, "two"))); o.code == 0 {
		t.Errorf("%+v", o)
	}
	d.eventually("it asks again", func() bool {
		done := d.ask(t.Context(), "touch", filepath.Join(d.home, "three"))
		for end := time.Now().Add(patience); len(done) == 0 && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
			if o, there := d.tree.Find(apptest.Button, "Deny"); there {
				_ = o.Press() // it may go away just now
			}
		}
		o := d.outcome(done)
		return o.code == 126 && strings.Contains(o.out, "user denied")
	})
}

// Without a screen it says in one sentence what to do.
func TestNoDisplay(t *testing.T) {
	for name, display := range map[string]string{"none": "", "one that is not there": ":4711"} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			cmd := exec.Command(bin(t, "countersign-app"), "--state-dir", filepath.Join(home, "s"))
			cmd.Env = []string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "DISPLAY=" + display}
			out, err := cmd.CombinedOutput()
			var exit *exec.ExitError
			if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(out), "countersign host run") || strings.Contains(string(out), "goroutine") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// A build for development is a door for every web page, and does not start.
func TestDevelopmentBuildRefuses(t *testing.T) {
	at := filepath.Join(t.TempDir(), "dev")
	if out, err := exec.Command("go", "build", "-tags", "dev,webkit2_41", "-o", at, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	cmd := exec.Command(at)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.ExitCode() != 1 || !strings.Contains(string(out), "development") {
		t.Errorf("%v\n%s", err, out)
	}
}
