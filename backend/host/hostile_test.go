//go:build linux || darwin

package host

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/proc"
)

// hostile are programs that behave badly.
var hostile = map[string]string{
	"deaf":    `trap "" TERM HUP INT; while :; do sleep 100; done`,
	"daemon":  `setsid sh -c 'trap "" TERM; (while :; do sleep 100; done) & exit' >/dev/null 2>&1; exec sleep 100`,
	"leaver":  `setsid sh -c 'setsid sleep 1000 & exit' >/dev/null 2>&1; exit 3`,
	"rabbit":  `n=${1:-6}; while [ $n -gt 0 ]; do n=$((n-1)); setsid "$0" $n >/dev/null 2>&1 & done; exec sleep 1000`,
	"shout":   `exec yes`,
	"grumble": `exec yes >&2`,
	"both":    `yes >&2 & exec yes`,
	"sleeper": `exec sleep 1000`,
	"stopped": `kill -STOP $$; sleep 1000`,
}

// TestHostileTexts sends what has no end or is too large. Each is stopped by a
// limit, its timeout, Stop or its caller; others are served before that.
func TestHostileTexts(t *testing.T) {
	allowed := []string{"/bin/cat", "/usr/bin/yes", "/usr/bin/head", "/bin/echo", "/bin/sleep", "/usr/bin/true", "/bin/ls", "/usr/bin/awk", "fifo", "zero"}
	for name := range hostile {
		allowed = append(allowed, name)
	}
	b := newBench(t, allowed...)
	for name, text := range hostile {
		b.script(name, text)
	}
	work := b.path("work")
	hostileFiles(t, b, work)

	const (
		byItself = "by itself"
		byTime   = "by its timeout"
		byStop   = "by Stop"
		byCaller = "by its caller"
	)
	deep := func(open, middle, end string, n int) string {
		return strings.Repeat(open, n) + middle + strings.Repeat(end, n)
	}
	// A host that closed while it read its login environment leaves an ended program,
	// which the next host takes in when something of a run was left behind.
	if got := b.ask(context.Background(), b.text("leaver")).String(); got != "code 3" {
		t.Fatal(got)
	}
	eventually(t, "nothing of earlier tests is left", func() bool { return len(offspring(t)) == 0 })
	for _, test := range []struct {
		name, text, ends, want string
	}{
		{"a loop", `while true; do :; done`, byItself, "refused too-complex"},
		{"a loop that prints", `until false; do echo x; done`, byItself, "refused too-complex"},
		{"a loop in a pipeline", `while true; do echo x; done | while true; do :; done`, byItself, "refused too-complex"},
		{"a loop of programs in the background", `cat one; while true; do sleeper & done`, byItself, "code 126"},
		{"a loop of nothing in the background", `while true; do { while true; do :; done; } & done`, byItself, "refused too-complex"},
		{"the background, left", `deaf & shout & rabbit & sleep 0.1`, byItself, "code 0"},
		{"the background, waited for", `deaf & daemon & wait`, byStop, "ended: the command was stopped"},
		{"the background of the background", `{ { deaf & wait; } & wait; } & wait`, byCaller, "lost"},
		{"the background of a loop", `while true; do sleeper & sleep 0.2; kill -9 $!; wait $!; done`, byTime, "timed out"},
		{"a loop that starts programs", `while true; do cat one; done`, byTime, "timed out"},
		{"a loop of substitutions", `while true; do x=$(cat one); done`, byStop, "ended: the command was stopped"},
		{"a loop of pipelines", `while true; do cat one | cat | cat; done`, byCaller, "lost"},
		{"loops in loops", `for a in {1..90}; do for b in {1..90}; do for c in {1..90}; do :; done; done; done`, byItself, "refused too-complex"},
		{"parentheses", deep("( ", "true", " )", 1000), byItself, "refused too-complex"},
		{"braces", deep("{ ", "true", "; }", 1000), byItself, "refused too-complex"},
		{"substitutions in each other", deep("echo $(", "true", ")", 1000), byItself, "refused too-complex"},
		{"conditions in each other", deep("if true; then ", "true", "; fi", 1000), byItself, "refused too-complex"},
		{"a chain of pipes", `true` + strings.Repeat(` | true`, 1000), byItself, "refused too-complex"},
		{"a chain of programs", `sleeper` + strings.Repeat(` | cat`, 40), byItself, "refused too-complex"},
		{"a substitution without end", `x=$(yes)`, byItself, "code 126"},
		{"a substitution of zeros", `x=$(head -c 100000000 /dev/zero)`, byItself, "code 126"},
		{"substitutions side by side", `echo $(yes) | echo $(yes) | echo $(yes) | echo $(yes)`, byItself, "code 126"},
		{"a substitution that waits", `x=$(sleeper); echo $x`, byStop, "ended: the command was stopped"},
		{"a value that doubles", `x=aaaaaaaaaaaaaaaa; for i in {1..40}; do x=$x$x; done`, byItself, "refused too-complex"},
		{"words that double", `x='a a a a'; for i in {1..40}; do x="$x $x"; done; for i in $x; do :; done`, byItself, "refused too-complex"},
		{"words of braces", `echo {1..999}{1..999}`, byItself, "refused too-complex"},
		{"patterns side by side", `echo` + strings.Repeat(` big/*`, 30), byItself, "refused too-complex"},
		{"a pattern on a large folder", `echo big/*`, byItself, "refused too-complex"},
		{"a pattern from a value", `x='big/*'; echo $x`, byItself, "refused too-complex"},
		{"a pattern over link loops", `echo loop/*/*/*/*/*/*/*/*`, byItself, "refused too-complex"},
		{"a pattern over a deep tree", `echo deep/*/*/*/*/*/*/*/*/*/*/*/*`, byItself, "code 0"},
		{"names that deceive", `for f in odd/*; do cat "$f"; done; ls odd`, byItself, "code 0"},
		{"deaf to TERM", `deaf`, byTime, "timed out"},
		{"deaf, stopped", `echo x | deaf | cat`, byStop, "ended: the command was stopped"},
		{"daemons", `daemon`, byCaller, "lost"},
		{"a daemon after the end", `leaver`, byItself, "code 3"},
		{"programs that multiply", `rabbit`, byStop, "ended: the command was stopped"},
		{"stops itself", `stopped`, byTime, "timed out"},
		{"output without end", `shout`, byTime, "timed out"},
		{"errors without end", `grumble`, byStop, "ended: the command was stopped"},
		{"both without end", `both`, byCaller, "lost"},
		{"a closed reader", `yes | head -1`, byItself, "code 0"},
		{"a reader that never reads", `yes | sleeper`, byStop, "ended: the command was stopped"},
		{"a reader of ours that never reads", `yes | { sleeper; }`, byTime, "timed out"},
		{"a writer of ours", `while true; do echo xxxxxxxxxxxxxxxx; done | sleeper`, byCaller, "lost"},
		{"a long text that nobody reads", "sleeper <<'E'\n" + strings.Repeat("x", 60_000) + "\nE", byStop, "ended: the command was stopped"},
		{"a long text in a pipeline", "cat <<'E' | sleeper\n" + strings.Repeat("x", 60_000) + "\nE", byCaller, "lost"},
		{"exit in odd places", `exit 9 | true; (exit 3); x=$(exit 4); { exit 7 | exit 8; }; if exit 5; then :; fi; echo no`, byItself, "code 5"},
		{"exit in a loop", `while exit 6; do :; done; echo no`, byItself, "code 6"},
		{"a pipe without a writer", `cat < pipe`, byItself, "refused *"},
		{"a device", `cat < /dev/zero`, byItself, "refused *"},
		{"a terminal", `cat < /dev/tty`, byItself, "refused *"},
		{"a file of the kernel", `cat < /proc/self/environ`, byItself, "refused *"},
		{"a file of the kernel by a link", `cat < kernel`, byItself, "refused *"},
		{"a link to itself", `cat < itself`, byItself, "refused *"},
		{"a file that is too large", `cat < huge`, byItself, "refused *"},
		{"a pipe as a program", `fifo`, byItself, "refused *"},
		{"a pipe as a program in a folder", `./pipe`, byItself, "refused *"},
		{"a device as a program", `./device`, byItself, "refused *"},
		{"a pipe as a program of awk", `awk -f pipe one`, byItself, "refused *"},
		{"a pipe as a pattern's file", `cat pip[e]`, byTime, "timed out"},
	} {
		t.Run(test.name, func(t *testing.T) {
			req := b.text(test.text)
			if test.ends == byTime {
				req.Timeout = 3 * time.Second
			}
			ctx, hangUp := context.WithTimeout(context.Background(), patience)
			defer hangUp()
			over := make(chan answer, 1)
			go func() { over <- b.ask(ctx, req) }()
			var id string
			if test.ends != byItself {
				eventually(t, "it runs", func() bool {
					for _, r := range b.runner.Running() {
						if len(r.Groups) > 0 {
							id = r.ID
						}
					}
					return id != "" || len(over) > 0
				})
			}
			b.serves(t)
			if len(over) > 0 && (test.ends == byStop || test.ends == byCaller) {
				t.Fatalf("it was over before it was ended: %v", <-over)
			}
			switch test.ends {
			case byStop:
				must(t, b.call("running.stop", map[string]string{"id": id}, nil))
			case byCaller:
				hangUp()
			}
			got := <-over
			if s := got.String(); s != test.want && !(test.want == "refused *" && got.refused != nil) {
				t.Errorf("got %v, want %s: %.300v %.300q", s, test.want, got.err, got.Stderr)
			}
			if strings.HasPrefix(test.want, "code 126") && !strings.Contains(got.Stderr, string(approval.ReasonTooComplex)) {
				t.Errorf("it does not say why: %.300q", got.Stderr)
			}
			t.Cleanup(func() {
				if t.Failed() {
					t.Logf("running %+v, processes %+v", b.runner.Running(), offspring(t))
				}
			})
			eventually(t, "nothing of it is left", func() bool { return len(b.runner.Running()) == 0 && len(offspring(t)) == 0 })
		})
	}
}

// hostileFiles makes files that are no files, and folders that are too much.
func hostileFiles(t *testing.T, b *bench, work string) {
	t.Helper()
	at := func(name string) string { return filepath.Join(work, name) }
	must(t, syscall.Mkfifo(at("pipe"), 0o700))
	must(t, syscall.Mkfifo(b.path("bin/fifo"), 0o700))
	must(t, os.Symlink("/dev/zero", at("device")))
	must(t, os.Symlink("/proc/self/environ", at("kernel")))
	must(t, os.Symlink("itself", at("itself")))
	must(t, os.WriteFile(at("one"), []byte("one\n"), 0o600))
	must(t, os.WriteFile(at("huge"), nil, 0o600))
	must(t, os.Truncate(at("huge"), 300<<20))
	for _, dir := range []string{"big", "odd", "loop/a", "loop/b", "deep" + strings.Repeat("/d", 12)} {
		must(t, os.MkdirAll(at(dir), 0o700))
	}
	must(t, os.Symlink("../..", at("loop/a/up")))
	must(t, os.Symlink(".", at("loop/here")))
	for i := range 60_000 {
		file, err := os.Create(at(fmt.Sprintf("big/%d", i)))
		must(t, err)
		file.Close()
	}
	for _, name := range []string{"new\nline", "bell\a\x1b[31m", "in\xffvalid\xc3", "-rf", "a b", "'\"$(reboot)`", "*", "\u202edrow", "tab\t"} {
		if err := os.WriteFile(at("odd/"+name), []byte("odd\n"), 0o600); err != nil {
			t.Logf("this file system has no %q: %v", name, err)
		}
	}
}

// offspring are the processes that descend from this one, ended ones too.
func offspring(t *testing.T) []proc.Info {
	t.Helper()
	list, err := proc.All()
	must(t, err)
	return proc.Descendants(os.Getpid(), list)
}
