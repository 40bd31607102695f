//go:build linux || darwin

package runner

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/proc"
)

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	if out, err := exec.Command("cp", "-p", from, to).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
}

// spoil is what happens to a file between the judgement and the start.
var spoil = map[string]func(t *testing.T, path string){
	"replaced": func(t *testing.T, path string) {
		copyFile(t, approvaltest.Program(t, "true"), path+".new")
		must(t, os.Rename(path+".new", path))
	},
	"written": func(t *testing.T, path string) { script(t, path, "#!/bin/sh\necho evil\n") },
	"removed": func(t *testing.T, path string) { must(t, os.Remove(path)) },
	"mode":    func(t *testing.T, path string) { must(t, os.Chmod(path, 0o700)) },
	"a link": func(t *testing.T, path string) {
		must(t, os.Remove(path))
		must(t, os.Symlink("/bin/echo", path))
	},
	"a folder": func(t *testing.T, path string) {
		must(t, os.Remove(path))
		must(t, os.Mkdir(path, 0o755))
	},
	"touched": func(t *testing.T, path string) {
		info, err := os.Stat(path)
		must(t, err)
		must(t, os.Chtimes(path, info.ModTime(), info.ModTime())) // the same times, but a change
	},
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestDriftedFilesDoNotStart(t *testing.T) {
	for name, change := range spoil {
		for _, kind := range []string{"binary", "script", "interpreter"} {
			t.Run(kind+" "+name, func(t *testing.T) {
				r, dir := newRunner(t), scratch(t)
				prog, shell := filepath.Join(dir, "prog"), filepath.Join(dir, "shell")
				copyFile(t, approvaltest.Program(t, "sh"), shell)
				at := map[string]string{"binary": prog, "script": prog, "interpreter": shell}[kind]
				if kind == "binary" {
					copyFile(t, approvaltest.Program(t, "cat"), prog)
				} else {
					script(t, prog, "#!"+shell+"\necho started\n")
				}
				job := argvJob(t, dir, prog, "/etc/hostname")
				change(t, at)
				got := run1(t, r, job)
				if got.Denied == nil || got.Denied.Reason != approval.ReasonDrifted || len(got.Stdout)+len(got.Stderr) > 0 {
					t.Errorf("got %+v", got)
				}
			})
		}
	}
}

func TestFolderDrift(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, dir string){
		"gone":     func(t *testing.T, dir string) { must(t, os.Remove(dir)) },
		"another":  func(t *testing.T, dir string) { must(t, os.Rename(dir, dir+".old")); must(t, os.Mkdir(dir, 0o755)) },
		"a link":   func(t *testing.T, dir string) { must(t, os.Remove(dir)); must(t, os.Symlink("/", dir)) },
		"a file":   func(t *testing.T, dir string) { must(t, os.Remove(dir)); must(t, os.WriteFile(dir, nil, 0o600)) },
		"no entry": func(t *testing.T, dir string) { must(t, os.Chmod(dir, 0)) },
	} {
		t.Run(name, func(t *testing.T) {
			if name == "no entry" && os.Geteuid() == 0 {
				t.Skip("skipped: root enters every folder")
			}
			dir := filepath.Join(scratch(t), "work")
			must(t, os.Mkdir(dir, 0o755))
			r, job := newRunner(t), argvJob(t, dir, "pwd")
			change(t, dir)
			if got := run1(t, r, job); got.Denied == nil || got.Denied.Reason != approval.ReasonCwdUnavailable || len(got.Stdout) > 0 {
				t.Errorf("got %+v", got)
			}
		})
	}
}

func TestKernelRefuses(t *testing.T) {
	r, dir := newRunner(t), scratch(t)
	plain, empty := filepath.Join(dir, "plain"), filepath.Join(dir, "empty")
	script(t, plain, "echo interpreted\n")
	script(t, empty, "")
	closed := filepath.Join(dir, "closed")
	copyFile(t, approvaltest.Program(t, "cat"), closed)
	must(t, os.Chmod(closed, 0o644))
	for _, path := range []string{plain, empty, closed} {
		got := run1(t, r, argvJob(t, dir, path))
		if code(got) != 126 || got.Error == "" || got.Success() || len(got.Stdout) > 0 {
			t.Errorf("%s: got %+v", path, got)
		}
		got = run1(t, r, textJob(t, dir, path+" || cat /dev/null"))
		if code(got) != 0 || !strings.HasPrefix(string(got.Stderr), path+": cannot execute: ") {
			t.Errorf("%s in a plan: got %+v", path, got)
		}
	}
}

// A script that was judged as if it were a program must not lead to an
// interpreter that nobody judged.
func TestUnjudgedInterpreter(t *testing.T) {
	r, dir := newRunner(t), scratch(t)
	prog := filepath.Join(dir, "prog")
	script(t, prog, "#!/bin/echo interpreted\n")
	job := argvJob(t, dir, prog)
	job.Plan.Segments[0].Program.Interpreter = nil
	if got := run1(t, r, job); got.Denied == nil || len(got.Stdout) > 0 {
		t.Errorf("got %+v", got)
	}
}

func TestInterpreters(t *testing.T) {
	r, dir := newRunner(t), scratch(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	script(t, at("1"), "#!/bin/sh\necho $0 $*\n")
	for i := 2; i <= 6; i++ {
		script(t, at(strconv.Itoa(i)), "#!"+at(strconv.Itoa(i-1))+" opt"+strconv.Itoa(i)+"\n")
	}
	if got := run1(t, r, argvJob(t, dir, at("3"), "x")); string(got.Stdout) != at("1")+" opt2 "+at("2")+" opt3 "+at("3")+" x\n" {
		t.Errorf("got %q", got.Stdout)
	}
	if got := run1(t, r, argvJob(t, dir, at("6"))); got.Denied == nil || got.Denied.Reason != approval.ReasonTooComplex {
		t.Errorf("got %+v", got)
	}
	must(t, os.Symlink(at("1"), at("link")))
	if got := run1(t, r, argvJob(t, dir, at("link"), "y")); string(got.Stdout) != at("link")+" y\n" {
		t.Errorf("got %q", got.Stdout)
	}
}

// A script sees the name that it was called by where the link is no easier to
// change than the script, and else its real path.
func TestNameOfAScript(t *testing.T) {
	r, dir := newRunner(t), scratch(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"own", "open", "private"} {
		must(t, os.Mkdir(at(name), 0o755))
		script(t, at(name+"/script"), "#!/bin/sh\necho $0\n")
		for _, link := range []string{"link", "wide"} {
			must(t, os.Symlink("../own/script", at(name+"/"+link)))
		}
	}
	must(t, os.Chmod(at("open"), 0o777))
	must(t, os.Chmod(at("private"), 0o700))
	must(t, os.Symlink("own", at("folder")))
	must(t, os.Symlink("open/link", at("chain")))
	must(t, os.Symlink("../open/script", at("private/out")))
	must(t, os.Symlink(at("own/script"), at("interpreter")))
	script(t, at("odd"), "#!"+at("interpreter")+"\n")
	for word, want := range map[string]string{
		"own/script":    "own/script",
		"own/../odd":    "interpreter",
		"own/link":      "own/link",
		"private/link":  "private/link",
		"folder/link":   "folder/link",
		"folder/script": "folder/script",
		"open/link":     "own/script",
		"chain":         "own/script",
		"private/out":   "private/out",
		"odd":           "interpreter",
	} {
		if got := run1(t, r, argvJob(t, dir, dir+"/"+word)); string(got.Stdout) != at(want)+"\n" {
			t.Errorf("%s: $0 is %q, want %s (%+v)", word, got.Stdout, want, got.Denied)
		}
	}
}

// A link to a script that is replaced, or leads elsewhere, is seen before the
// start, and right after it, also when it leads back to what was judged.
func TestScriptLinkSwapIsNoticed(t *testing.T) {
	for _, when := range []string{"before", "after"} {
		for _, to := range []string{"good", "evil"} {
			r, dir := newRunner(t), scratch(t)
			at := func(name string) string { return filepath.Join(dir, name) }
			script(t, at("good"), "#!/bin/sh\nsleep 100\n")
			script(t, at("evil"), "#!/bin/sh\necho evil\n")
			must(t, os.Symlink("good", at("link")))
			job := argvJob(t, dir, at("link"))
			swap := func() {
				must(t, os.Symlink(to, at("new")))
				must(t, os.Rename(at("new"), at("link")))
			}
			if when == "after" {
				job.Started = func(int, *approval.Segment, Process) { swap() }
			} else if to == "evil" {
				swap()
			} else {
				continue // it leads to what was judged
			}
			got := run1(t, r, job)
			if got.Denied == nil || got.Denied.Reason != approval.ReasonDrifted || when == "before" && len(got.Stdout) > 0 {
				t.Errorf("%s, %s: got %+v", when, to, got)
			}
			mustBeGone(t, job.ID)
		}
	}
}

// A link to a script, in a folder that more can write to than to the script's
// own, leads to another one just while the interpreter opens its script, and
// back again before anybody looks: what was judged runs.
func TestLinkSwappedForTheInterpreter(t *testing.T) {
	r, dir := newRunner(t), scratch(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	script(t, at("slow"), "#!/bin/sh\nwhile ! test -e go; do :; done\n. \"$1\"\necho >opened\n")
	script(t, at("good"), "#!"+at("slow")+"\necho good\n")
	script(t, at("evil"), "#!"+at("slow")+"\necho evil\n")
	lead := func(to string) {
		must(t, os.Symlink(at(to), at("new")))
		must(t, os.Rename(at("new"), at("open/link")))
	}
	must(t, os.Mkdir(at("open"), 0o755))
	must(t, os.Chmod(at("open"), 0o777))
	for _, name := range []string{at("open/link"), "open/link"} {
		lead("good")
		job := argvJob(t, dir, name)
		job.Started = func(int, *approval.Segment, Process) {
			lead("evil")
			must(t, os.WriteFile(at("go"), nil, 0o600))
			eventually(t, "the script was opened", func() bool { return exists(at("opened")) })
			lead("good")
		}
		if got := run1(t, r, job); string(got.Stdout) != "good\n" || got.Denied != nil {
			t.Errorf("%s: got %q, %+v", name, got.Stdout, got.Denied)
		}
		must(t, errors.Join(os.Remove(at("go")), os.Remove(at("opened"))))
	}
}

// While somebody swaps the file, the folder or a link as fast as they can,
// only what was judged ever starts.
func TestSwapRace(t *testing.T) {
	rounds := approvaltest.Rounds(t, 300, 30)
	for _, kind := range []string{"binary", "script", "folder"} {
		t.Run(kind, func(t *testing.T) {
			r, dir := newRunner(t), scratch(t)
			good, evil, now := filepath.Join(dir, "good"), filepath.Join(dir, "evil"), filepath.Join(dir, "now")
			switch kind {
			case "binary":
				copyFile(t, approvaltest.Program(t, "true"), good)
				copyFile(t, approvaltest.Program(t, "false"), evil)
			case "script":
				script(t, good, "#!/bin/sh\nexit 0\n")
				script(t, evil, "#!/bin/sh\nexit 1\n")
			case "folder":
				must(t, os.Mkdir(good, 0o755))
				must(t, os.Mkdir(evil, 0o755))
				must(t, os.WriteFile(filepath.Join(good, "mark"), nil, 0o600))
			}
			must(t, os.Rename(good, now))
			var job Job
			if kind == "folder" {
				job = argvJob(t, now, "test", "-e", "mark")
			} else {
				job = argvJob(t, dir, now)
			}
			var swapper sync.WaitGroup
			stop := make(chan bool)
			swapper.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
						// The inode stays the same one, so that it is not a
						// change that can be seen at the file itself.
						_ = os.Rename(now, good)
						_ = os.Rename(evil, now)
						_ = os.Rename(now, evil)
						_ = os.Rename(good, now)
					}
				}
			})
			started := 0
			for range rounds {
				got := run1(t, r, job)
				if got.ExitCode != nil {
					started++
				}
				if got.ExitCode != nil && *got.ExitCode != 0 {
					if kind == "script" {
						continue // its interpreter opens it by path: see TestScriptSwapIsNoticed
					}
					t.Fatalf("the other one ran: %+v", got)
				}
			}
			close(stop)
			swapper.Wait()
			t.Logf("%d of %d started", started, rounds)
		})
	}
}

// A script starts by path. Who swaps it after the last comparison is noticed
// right after the start, and the run ends as a denial.
func TestScriptSwapIsNoticed(t *testing.T) {
	r, dir := newRunner(t), scratch(t)
	path := filepath.Join(dir, "script")
	script(t, path, "#!/bin/sh\nsleep 100\n")
	script(t, path+".evil", "#!/bin/sh\nsleep 100; echo evil\n")
	job := argvJob(t, dir, path)
	job.Started = func(int, *approval.Segment, Process) { must(t, os.Rename(path+".evil", path)) }
	if got := run1(t, r, job); got.Denied == nil || got.Denied.Reason != approval.ReasonDrifted {
		t.Errorf("got %+v", got)
	}
	mustBeGone(t, job.ID)
}

func TestChildHasOnlyWhatItShould(t *testing.T) {
	needs(t, "sh", "ls")
	if _, err := os.Stat("/proc/self/fd"); err != nil {
		t.Skip("skipped: descriptors are counted in /proc")
	}
	r, dir := newRunner(t), scratch(t)
	// More open files move the numbers of ours around. Those of libraries are
	// not marked as ours alone.
	for range 40 {
		fd, err := unix.Open(os.DevNull, unix.O_RDONLY, 0)
		must(t, err)
		defer unix.Close(fd)
		for _, job := range []Job{argvJob(t, dir, "ls", "/proc/self/fd"), textJob(t, dir, `ls /proc/self/fd 2>&1 | cat`)} {
			got := run1(t, r, job)
			if want := "0\n1\n2\n3\n"; string(got.Stdout) != want || got.Denied != nil { // 3 is the folder ls reads
				t.Fatalf("got %q, %+v", got.Stdout, got)
			}
		}
	}
}

func TestChildSeesItsName(t *testing.T) {
	r, dir := newRunner(t), scratch(t)
	must(t, os.Symlink("/bin/sh", filepath.Join(dir, "mysh")))
	got := run1(t, r, argvJob(t, dir, filepath.Join(dir, "mysh"), "-c", "echo $0; echo $PWD; echo $COUNTERSIGN_RUN"))
	if want := filepath.Join(dir, "mysh") + "\n" + dir + "\n" + t.Name() + "\n"; string(got.Stdout) != want {
		t.Errorf("got %q, want %q", got.Stdout, want)
	}
}

func openFiles(t *testing.T) []string {
	var names []string
	for _, name := range approvaltest.Descriptors(t) {
		to, _ := os.Readlink("/dev/fd/" + name)
		names = append(names, name+" "+to)
	}
	return names
}

// Many runs leave nothing behind: no descriptor, no goroutine, no zombie.
func TestManyRuns(t *testing.T) {
	rounds := approvaltest.Rounds(t, 10_000, 1_000)
	r, dir := newRunner(t), scratch(t)
	job := argvJob(t, dir, "/usr/bin/true")
	run1(t, r, job)
	files, routines := openFiles(t), runtime.NumGoroutine()
	var all sync.WaitGroup
	for caller := range 8 {
		all.Go(func() {
			mine := job
			mine.ID = t.Name() + strconv.Itoa(caller)
			mine.Env = testEnv(mine.ID, dir)
			for range rounds / 8 {
				if got := r.Run(context.Background(), mine); !got.Success() || len(got.Left) > 0 {
					t.Errorf("got %+v", got)
					return
				}
			}
		})
	}
	all.Wait()
	if now := openFiles(t); len(now) != len(files) {
		t.Errorf("open files before:\n%s\nafter:\n%s", files, now)
	}
	eventually(t, "goroutines have ended", func() bool { return runtime.NumGoroutine() <= routines })
	mustBeGone(t, t.Name())
}

// Short runs and runs that leave things behind, up to 64 at once: each gets its
// own output and status, and ends what is its own.
func TestManyCallers(t *testing.T) {
	needs(t, "setsid")
	r, dir := newRunner(t), scratch(t)
	var all sync.WaitGroup
	for caller := range approvaltest.Rounds(t, 64, 16) {
		all.Go(func() {
			name := strconv.Itoa(caller)
			text := `echo ` + name + ` | cat | cat; exit ` + name
			if caller%4 == 0 {
				text = `sh -c 'setsid sleep 100 & sleep 100 & echo ` + name + `'; exit ` + name
			}
			job := textJob(t, dir, text)
			job.ID = t.Name() + name
			job.Env = testEnv(job.ID, dir)
			got := r.Run(context.Background(), job)
			if string(got.Stdout) != name+"\n" || code(got) != caller || got.Error != "" {
				t.Errorf("caller %d: got %+v", caller, got)
			}
			if wants := caller%4 == 0; wants != (len(got.Left) > 0) {
				t.Errorf("caller %d: left %v", caller, got.Left)
			}
		})
	}
	all.Wait()
	mustBeGone(t, t.Name())
}

func TestCloseWhileRunning(t *testing.T) {
	r, dir := newRunner(t), scratch(t)
	var all sync.WaitGroup
	for caller := range 16 {
		all.Go(func() {
			job := textJob(t, dir, `sleep 100 | sleep 100; echo never`)
			job.ID = t.Name() + strconv.Itoa(caller)
			job.Env = testEnv(job.ID, dir)
			got := r.Run(context.Background(), job)
			if got.Error != errClosed.Error() || len(got.Stdout) > 0 {
				t.Errorf("got %+v", got)
			}
		})
	}
	eventually(t, "some run", func() bool { return len(r.Running()) > 4 })
	r.Close()
	all.Wait()
	mustBeGone(t, t.Name())
}

// The processes of an earlier host are found by their mark and by the groups
// that it wrote down, and nothing else is touched.
func TestEndLeftovers(t *testing.T) {
	if !approvaltest.Apart(t) {
		return
	}
	needs(t, "setsid", "sleep")
	r, dir := newRunner(t), scratch(t)
	start := exec.Command("/bin/sh", "-c", `
COUNTERSIGN_RUN=tag1-a setsid sh -c 'echo $$ >a; exec sleep 100' &
COUNTERSIGN_RUN=tag1-b setsid sh -c 'trap "" TERM; echo $$ >b; sleep 100; sleep 100' &
COUNTERSIGN_RUN=tag2-c setsid sh -c 'echo $$ >c; exec sleep 100' &
env -i setsid /bin/sh -c 'echo $$ >d; exec /bin/sleep 100' &
env -i setsid /bin/sh -c 'echo $$ >e; exec /bin/sleep 100' &
`)
	start.Dir = dir
	must(t, start.Run())
	pid := func(name string) int {
		var n int
		eventually(t, name+" is written", func() bool {
			b, _ := os.ReadFile(filepath.Join(dir, name))
			n, _ = strconv.Atoi(strings.TrimSpace(string(b)))
			return n != 0
		})
		return n
	}
	info := func(name string) proc.Info {
		p, err := proc.Stat(pid(name))
		must(t, err)
		return p
	}
	a, b, c, d, e := info("a"), info("b"), info("c"), info("d"), info("e")
	known := []Process{{d.PID, d.PID, d.Started}, {e.PID, e.PID, e.Started + 1}}
	// They are below this process, which EndLeftovers spares.
	names, err := r.EndLeftovers(context.Background(), "tag1", known)
	if err != nil || len(names) > 0 && subreaper {
		t.Errorf("got %v, %v", names, err)
	}
	names, err = endLeftovers(context.Background(), "tag1", known, map[int]bool{os.Getpid(): true})
	if err != nil || len(names) < 3 {
		t.Errorf("got %v, %v", names, err)
	}
	lives := func(p proc.Info) bool {
		now, err := proc.Stat(p.PID)
		return err == nil && now.Started == p.Started && !now.Zombie
	}
	got := []bool{lives(a), lives(b), lives(c), lives(d), lives(e)}
	if want := []bool{false, false, true, false, true}; !slices.Equal(got, want) {
		t.Errorf("living: %v, want %v", got, want)
	}
	for _, p := range []proc.Info{c, e} {
		must(t, signalExactly(p, 9))
	}
	eventually(t, "they are reaped", func() bool { ours.reapOrphans(); return len(living(t, "tag1-a")) == 0 })
	if _, err := r.EndLeftovers(context.Background(), "", nil); err == nil {
		t.Error("an empty prefix would be everybody")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := r.EndLeftovers(ctx, "tag1", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
