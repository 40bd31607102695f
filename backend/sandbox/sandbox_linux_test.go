package sandbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-app/countersign/backend/config"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// world is a machine with a workspace, and with what no box may see.
type world struct {
	*Sandbox
	t      *testing.T
	home   string
	state  string
	config config.Sandbox
}

func newWorld(t *testing.T, engine config.Engine) *world {
	t.Helper()
	home, err := os.MkdirTemp("/var/tmp", "csw") // not in /tmp, which a box has for itself
	must(t, err)
	t.Cleanup(func() { os.RemoveAll(home) })
	w := &world{t: t, home: home, state: filepath.Join(home, ".openclaw")}
	for _, dir := range []string{w.state, filepath.Join(home, "work/deep"), filepath.Join(home, "tools")} {
		must(t, os.MkdirAll(dir, 0o755))
	}
	for name, text := range map[string]string{".openclaw/operator.key": "the key", "secret": "the secret", "tools/read": "a tool"} {
		must(t, os.WriteFile(filepath.Join(home, name), []byte(text), 0o644))
	}
	must(t, os.Symlink(home, filepath.Join(home, "work/out")))
	w.config = config.Sandbox{
		Engine: engine, Image: testImage, Workspace: filepath.Join(home, "work"), Mounts: []string{filepath.Join(home, "tools")}, Memory: 64 << 20, CPUs: 1, Processes: 64,
	}
	must(t, os.Mkdir(filepath.Join(home, "run"), 0o755))
	opt := Options{Owner: w.state, Home: home, Private: []string{w.state}, Sockets: []string{filepath.Join(home, "run/docker.sock")}, Log: slog.New(slog.DiscardHandler)}
	switch engine {
	case config.Docker:
		w.config.Socket = docker(t)
	case config.Bubblewrap:
		if _, err := exec.LookPath("bwrap"); err != nil {
			t.Skip("skipped: bubblewrap is not installed")
		}
		if text, err := exec.Command("bwrap", "--unshare-user", "--disable-userns", "--unshare-all", "--ro-bind", "/", "/", "true").CombinedOutput(); err != nil {
			t.Skipf("skipped: bubblewrap cannot make a box here: %v: %s", err, text)
		}
	}
	w.Sandbox = New(opt)
	t.Cleanup(w.Close)
	return w
}

func (w *world) job(argv ...string) Job {
	return Job{Session: "main", ID: uuid.NewString(), Argv: argv, Timeout: time.Minute}
}

// sh runs a script and returns what it printed and how it ended.
func (w *world) sh(script string) string {
	w.t.Helper()
	return told(w.Run(w.t.Context(), w.config, w.job("/bin/sh", "-c", script)))
}

func told(r Result, err error) string {
	text := fmt.Sprintf("%s%s[%d]", r.Stdout, r.Stderr, r.ExitCode)
	if r.TimedOut {
		text += " timed out"
	}
	if err != nil {
		text += " " + err.Error()
	}
	return text
}

// each runs a test with every engine.
func each(t *testing.T, test func(t *testing.T, w *world)) {
	for _, engine := range []config.Engine{config.Docker, config.Bubblewrap} {
		t.Run(string(engine), func(t *testing.T) { test(t, newWorld(t, engine)) })
	}
}

// TestBox is what a command in a box sees, and what it does not.
func TestBox(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		for _, row := range []struct{ script, want string }{
			{`echo hello; echo problem >&2; exit 3`, "hello\nproblem\n[3]"},
			{`pwd; echo $HOME $COUNTERSIGN`, "WORK\nWORK 1\n[0]"},
			{`echo kept > file; cat WORK/file`, "kept\n[0]"},
			{`cat HOME/tools/read`, "a tool[0]"},
			{`(echo changed > HOME/tools/read) 2>/dev/null || echo refused`, "refused\n[0]"},
			{`cat HOME/secret 2>/dev/null || echo none`, "none\n[0]"},
			{`cat WORK/out/secret 2>/dev/null || echo none`, "none\n[0]"},
			{`ls -A HOME/.openclaw 2>/dev/null || echo none`, "none\n[0]"},
			{`ls -A /root /home 2>/dev/null; echo over`, "over\n[0]"},
			{`(echo x > /usr/x || echo x > /x.txt || mkdir /etc/x || echo x > WORK/../x) 2>/dev/null || echo read only`, "read only\n[0]"},
			{`cat /proc/net/dev | while read name rest; do case $name in *:) echo $name;; esac; done`, "lo:\n[0]"},
			{`while read name value; do case $name in CapEff:|CapBnd:|NoNewPrivs:) echo $name $value;; esac; done < /proc/self/status`, "CapEff: 0000000000000000\nCapBnd: 0000000000000000\nNoNewPrivs: 1\n[0]"},
			{`ls -d /proc/[0-9]* | while read p; do echo process; done | head -n 9`, "FEW"},
			{`ls /var/run/docker.sock SOCKET 2>/dev/null || echo none`, "none\n[0]"},
			{`busybox mount -t tmpfs x /tmp 2>&1 || echo refused`, "REFUSED"},
			{`echo mine > /tmp/x && cat /tmp/x`, "mine\n[0]"},
			{`kill -9 $$`, "[137]"},
			{`nothing-of-that-name 2>/dev/null`, "[127]"},
		} {
			named := strings.NewReplacer("HOME/", w.home+"/", "WORK", w.config.Workspace, "SOCKET", cmp.Or(w.config.Socket, w.home+"/run/docker.sock"))
			got := w.sh(named.Replace(row.script))
			if row.want == "REFUSED" { // by the kernel, and not because there is no such program
				if !strings.Contains(got, "ermi") || !strings.Contains(got, "refused\n[0]") {
					t.Errorf("%s: %q", row.script, got)
				}
				continue
			}
			if row.want == "FEW" {
				if n := strings.Count(got, "process"); n == 0 || n > 8 {
					t.Errorf("it sees %d processes", n)
				}
				continue
			}
			if want := named.Replace(row.want); got != want {
				t.Errorf("%s\n got %q\nwant %q", row.script, got, want)
			}
		}
		if text, err := os.ReadFile(filepath.Join(w.config.Workspace, "file")); string(text) != "kept\n" {
			t.Errorf("%q %v", text, err)
		}
		if text, err := os.ReadFile(filepath.Join(w.home, "tools/read")); string(text) != "a tool" {
			t.Errorf("%q %v", text, err)
		}
	})
}

// TestWords hands over words and variables as they are.
func TestWords(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		j := w.job("/bin/sh", "-c", `printf '[%s]' "$@"; printf '<%s>' "$A" "$B"; pwd; echo ${PATH%:/usr/local/sbin*}`, "sh", "a b", "", "$(id)", "new\nline", "--", "ümläut", "-x")
		j.Path = []string{"/opt/first", "/second"}
		j.Env, j.Dir = map[string]string{"A": "x y; z", "B": "line\nline", "PWD": "/lie"}, "deep"
		if got, want := told(w.Run(t.Context(), w.config, j)), "[a b][][$(id)][new\nline][--][ümläut][-x]<x y; z><line\nline>"+w.config.Workspace+"/deep\n/opt/first:/second\n[0]"; got != want {
			t.Errorf("\n got %q\nwant %q", got, want)
		}
	})
}

// TestNetwork: nothing of this machine answers, not even on loopback, unless a
// box has the machine's own network.
func TestNetwork(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		defer l.Close()
		_, port, err := net.SplitHostPort(l.Addr().String())
		must(t, err)
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				fmt.Fprint(c, "reached")
				c.Close()
			}
		}()
		script := "busybox nc -w 5 127.0.0.1 " + port + " </dev/null 2>&1 || echo failed"
		if got := w.sh(script); strings.Contains(got, "reached") || !strings.Contains(got, "nc: ") {
			t.Errorf("%q", got)
		}
		if w.config.Engine == config.Bubblewrap {
			w.config.Network = true
			if got := w.sh(script); !strings.Contains(got, "reached") {
				t.Errorf("with a network: %q", got)
			}
		}
	})
}

// TestLimits: a box has no more than its options say.
func TestLimits(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		if w.config.Engine == config.Docker {
			for _, row := range []struct{ two, one, want string }{
				{"memory.max", "memory/memory.limit_in_bytes", "67108864\n"},
				{"pids.max", "pids/pids.max", "64\n"},
				{"cpu.max", "cpu/cpu.cfs_quota_us", "100000"},
			} {
				got := w.sh("cd /sys/fs/cgroup; cat " + row.two + " 2>/dev/null || cat " + row.one) // versions 2 and 1
				if !strings.HasPrefix(got, row.want) || !strings.HasSuffix(got, "[0]") {
					t.Errorf("%s %q", row.two, got)
				}
			}
			return
		}
		got := w.sh(`while read -r line; do case $line in "Max data"*|"Max processes"*|"Max core"*) echo $line;; esac; done < /proc/self/limits`)
		if want := "Max data size 67108864 67108864 bytes\nMax core file size 0 0 bytes\nMax processes 64 64 processes\n[0]"; got != want {
			t.Errorf("\n got %q\nwant %q", got, want)
		}
	})
}

// TestEnds: a command whose time is over, that is cancelled, or whose session
// ends leaves nothing behind, and the box goes on where it can.
func TestEnds(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		const hangs = `echo begun; sleep 1000 & trap "" TERM; while :; do sleep 1; done`
		j := w.job("/bin/sh", "-c", hangs)
		j.Timeout = time.Second
		if got := told(w.Run(t.Context(), w.config, j)); got != "begun\n[0] timed out" {
			t.Error(got)
		}
		ctx, cancel := context.WithCancel(t.Context())
		j = w.job("/bin/sh", "-c", hangs)
		j.Started = cancel
		if _, err := w.Run(ctx, w.config, j); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
		if got := w.sh(`for p in /proc/[0-9]*; do case $(cat $p/comm 2>/dev/null) in sleep) cat $p/cmdline; echo; esac; done`); strings.Contains(got, "1000") {
			t.Error("something was left:", got)
		}
		begun := make(chan struct{})
		j = w.job("/bin/sh", "-c", "sleep 1000")
		j.Started = func() { close(begun) }
		over := make(chan error)
		go func() {
			_, err := w.Run(t.Context(), w.config, j)
			over <- err
		}()
		select {
		case <-begun:
			w.End("main")
			if err := <-over; !errors.Is(err, errEnded) {
				t.Error(err)
			}
		case err := <-over:
			t.Error("it did not begin:", err)
		}
		if got := w.sh("echo again"); got != "again\n[0]" {
			t.Error(got)
		}
		w.Close()
		if got := w.sh("echo never"); !strings.Contains(got, "the gateway stops") {
			t.Error(got)
		}
	})
}

// TestOutput: what is too much is dropped, and said.
func TestOutput(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		r, err := w.Run(t.Context(), w.config, w.job("/bin/sh", "-c", "yes ä | head -c 3000000; exit 5"))
		if err != nil || r.ExitCode != 5 || len(r.Stdout) > keep+100 || !strings.HasSuffix(r.Stdout, truncated) {
			t.Errorf("%d %d %v", r.ExitCode, len(r.Stdout), err)
		}
	})
}

// TestSessions: each has its own box, and many commands of one run at once.
func TestSessions(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		var all sync.WaitGroup
		for i := range 12 {
			all.Go(func() {
				j := w.job("/bin/sh", "-c", fmt.Sprintf("echo %d > /tmp/mine; sleep 0.2; echo /tmp/* $X", i))
				j.Session, j.Env = fmt.Sprint("session ", i%3), map[string]string{"X": fmt.Sprint(i)}
				if got, want := told(w.Run(t.Context(), w.config, j)), fmt.Sprintf("/tmp/mine %d\n[0]", i); got != want {
					t.Errorf("%d: %q", i, got)
				}
			})
		}
		all.Wait()
		w.sh("echo 1 > /tmp/seen")
		j := w.job("/bin/sh", "-c", "ls /tmp")
		j.Session = "another"
		if got := told(w.Run(t.Context(), w.config, j)); got != "[0]" {
			t.Errorf("a session sees what another one keeps: %q", got)
		}
	})
}

// TestChanged: a box that was made for other options is not used on.
func TestChanged(t *testing.T) {
	each(t, func(t *testing.T, w *world) {
		if got := w.sh("cat " + w.home + "/tools/read"); got != "a tool[0]" {
			t.Fatal(got)
		}
		w.config.Mounts = nil
		if got := w.sh("cat " + w.home + "/tools/read 2>/dev/null || echo none"); got != "none\n[0]" {
			t.Error(got)
		}
	})
}

// TestRefused: what would open the machine is no box.
func TestRefused(t *testing.T) {
	w := newWorld(t, config.Bubblewrap)
	link := filepath.Join(w.home, "link")
	must(t, os.Symlink(w.state, link))
	for _, row := range []struct {
		workspace, mount, dir string
		argv                  []string
		want                  string
	}{
		{workspace: "/", want: "it holds"},
		{workspace: "/usr", want: "the system's own"},
		{workspace: "/tmp", want: "the system's own"},
		{workspace: w.home, want: "it holds " + w.home},
		{workspace: "~", want: "it holds"},
		{workspace: filepath.Dir(w.home), want: "it holds"},
		{workspace: w.state, want: "it holds"},
		{workspace: link, want: "it holds"},
		{workspace: filepath.Join(w.home, "nothing"), want: "no such file"},
		{workspace: filepath.Join(w.home, "secret"), want: "no folder"},
		{mount: w.state, want: "it holds"},
		{mount: "/", want: "it holds"},
		{mount: filepath.Join(w.home, "run"), want: "it holds " + w.home + "/run/docker.sock"},
		{mount: filepath.Join(w.home, "work/out"), want: "could put another folder in its place"},
		{dir: "/", want: "its workspace is"},
		{dir: "..", want: "its workspace is"},
		{dir: "out", want: "its workspace is"},
		{dir: "nothing", want: "its workspace is"},
		{dir: w.config.Workspace + "/../secret", want: "its workspace is"},
		{argv: []string{"a\x00b"}, want: "a zero byte"},
		{argv: []string{"/bin/echo", strings.Repeat("x", maxArgs)}, want: "too long"},
	} {
		c, j := w.config, w.job("/bin/echo", "ran")
		if row.workspace != "" {
			c.Workspace = row.workspace
		}
		if row.mount != "" {
			c.Mounts = []string{row.mount}
		}
		if j.Dir = row.dir; row.argv != nil {
			j.Argv = row.argv
		}
		if got := told(w.Run(t.Context(), c, j)); !strings.Contains(got, row.want) || strings.Contains(got, "ran") {
			t.Errorf("%+v: %s", row, got)
		}
	}
	for _, env := range []map[string]string{{"": "x"}, {"A=B": "x"}, {"A": "\x00--bind\x00/\x00/"}, {"A": strings.Repeat("x", maxEnv)}} {
		j := w.job("/bin/echo", "ran")
		j.Env = env
		if got := told(w.Run(t.Context(), w.config, j)); strings.Contains(got, "ran") {
			t.Errorf("%.20q: %s", env, got)
		}
	}
	c := w.config
	c.Engine, c.Socket = config.Docker, filepath.Join(w.home, "no.sock")
	if got := told(w.Run(t.Context(), c, w.job("/bin/echo", "ran"))); !strings.Contains(got, "no Docker engine answers at "+c.Socket) {
		t.Error(got)
	}
}

// TestVanished makes a new box where somebody else ended the one of a session.
func TestVanished(t *testing.T) {
	w := newWorld(t, config.Docker)
	e := newEngine(w.config.Socket)
	for _, act := range []string{"kill", "stop?t=0"} {
		w.sh("echo x > /tmp/x")
		list, err := e.mine(t.Context(), labelOwner+"="+label(w.state))
		must(t, err)
		if len(list) != 1 {
			t.Fatal(list)
		}
		if act == "kill" {
			must(t, e.remove(t.Context(), list[0].ID))
		} else {
			must(t, e.do(t.Context(), "POST", "/containers/"+list[0].ID+"/"+act, nil, nil))
		}
		if got := w.sh("ls /tmp; echo again"); got != "again\n[0]" {
			t.Errorf("%s: %q", act, got)
		}
	}
	list, err := e.mine(t.Context(), labelOwner+"="+label(w.state))
	must(t, err)
	if len(list) != 1 {
		t.Error("a box that was stopped is still there:", len(list))
	}
}

// TestNoImage says what to do.
func TestNoImage(t *testing.T) {
	w := newWorld(t, config.Docker)
	w.config.Image = "countersign/nothing:test"
	if got := w.sh("true"); !strings.Contains(got, `run "docker pull countersign/nothing:test"`) {
		t.Error(got)
	}
}

// TestSweep removes what an earlier life left, and nothing of others.
func TestSweep(t *testing.T) {
	w := newWorld(t, config.Docker)
	e := newEngine(w.config.Socket)
	make := func(owner, of string) string {
		var made struct {
			ID string `json:"Id"`
		}
		must(t, e.do(t.Context(), "POST", "/containers/create", map[string]any{"Image": testImage, "Cmd": []string{"sh"}, "Labels": map[string]string{labelOwner: owner, labelLife: of}}, &made))
		t.Cleanup(func() { _ = e.remove(context.Background(), made.ID) })
		return made.ID
	}
	mine := label(w.state)
	left, other, now := make(mine, "earlier"), make(label("another"), "earlier"), make(mine, life())
	// It is found where nothing is configured any more, too.
	opt := w.opt
	opt.Sockets = []string{filepath.Join(w.home, "away.sock"), w.config.Socket}
	New(opt).Sweep(t.Context(), nil)
	for id, want := range map[string]int{left: 404, other: 0, now: 0} {
		err := e.do(t.Context(), "GET", "/containers/"+id+"/json", nil, nil)
		var refusal *engineError
		if got := 0; errors.As(err, &refusal) {
			if got = refusal.Status; got != want {
				t.Errorf("%d, want %d", got, want)
			}
		} else if want != 0 || err != nil {
			t.Errorf("%v, want %d", err, want)
		}
	}
	if w.sh("true"); !holdsMine(t, e, mine) {
		t.Error("no box of ours was made")
	}
	w.Close()
	must(t, e.remove(t.Context(), now))
	if holdsMine(t, e, mine) {
		t.Error("a box lives on")
	}
}

func holdsMine(t *testing.T, e *engine, owner string) bool {
	t.Helper()
	list, err := e.mine(t.Context(), labelOwner+"="+owner)
	must(t, err)
	return len(list) > 0
}
