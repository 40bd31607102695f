package family_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/family"
	"github.com/countersign-app/countersign/backend/proc"
)

// nobody is a user that is not ours where we are root.
const nobody = 65534

// A stage has real processes, each a shell with a script of its own. A script may
// start others by name: `sh NAME &`. Each is then known by its name.
type stage struct {
	*testing.T
	dir  string
	told bool // of births, which only some kernels do
	losses
}

// losses counts how often the kernel had more births to tell than it has room for:
// on a busy machine a test cannot know that it was told of one then.
type losses struct{ n atomic.Int32 }

type counted struct {
	family.Births
	*losses
}

func (c counted) Lost() {
	c.n.Add(1)
	c.Births.Lost()
}

// late ends a test that was told nothing of a birth in time.
func (l *losses) late(t *testing.T) {
	t.Helper()
	if l.n.Load() > 0 {
		t.Skip("the machine is too busy: the kernel lost births")
	}
	t.Fatal("it may operate")
}

// play makes a stage from lines "NAME: what its script does".
func play(t *testing.T, lines string) *stage {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "cs") // tmux wants a short name
	if err == nil {
		err = os.Chmod(dir, 0o777)
	}
	if err != nil {
		t.Fatal(err)
	}
	s := &stage{T: t, dir: dir}
	t.Cleanup(func() {
		for _, file := range s.pidFiles() {
			if pid := readPID(file); pid > 1 {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		}
		os.RemoveAll(dir)
	})
	for line := range strings.Lines(lines) {
		name, does, found := strings.Cut(strings.TrimSpace(line), ": ")
		if !found {
			continue
		}
		// A shell with a command behind it stays the process that it is.
		text := fmt.Sprintf("echo $$ >%[1]s/%[2]s.new; mv %[1]s/%[2]s.new %[1]s/%[2]s.pid\n%[3]s\nsleep 300\n:\n", dir, name, does)
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *stage) pidFiles() []string {
	files, _ := filepath.Glob(filepath.Join(s.dir, "*.pid"))
	return files
}

func readPID(file string) (pid int) {
	text, _ := os.ReadFile(file)
	fmt.Sscan(string(text), &pid)
	return pid
}

// shell is an interactive one in a terminal, which is typed into.
func (s *stage) shell() (typed *os.File, pid int) { return s.shellOf(os.Getuid()) }

func (s *stage) shellOf(uid int) (typed *os.File, pid int) {
	s.Helper()
	master, slave, _, err := approvaltest.OpenTerminal()
	if err != nil {
		s.Fatal(err)
	}
	cmd := exec.Command(approvaltest.Find(s, "bash"), "--norc")
	cmd.Dir, cmd.Env = s.dir, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + s.dir, "TERM=dumb", "TMUX_TMPDIR=" + s.dir}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if uid != os.Getuid() {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}
	}
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	go func() { // what it shows
		for buf := make([]byte, 4096); ; {
			if _, err := master.Read(buf); err != nil {
				return
			}
		}
	}()
	s.Cleanup(func() { cmd.Process.Kill(); cmd.Wait(); slave.Close(); master.Close() })
	return master, cmd.Process.Pid
}

func (s *stage) types(to *os.File, line string) {
	s.Helper()
	if _, err := to.WriteString(line + "\n"); err != nil {
		s.Fatal(err)
	}
}

// id waits for a process to be there.
func (s *stage) id(name string) proc.ID {
	s.Helper()
	for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if pid := readPID(filepath.Join(s.dir, name+".pid")); pid > 0 {
			if info, err := proc.Stat(pid); err == nil {
				return info.ID()
			}
		}
		if time.Now().After(end) {
			s.Fatalf("%s is not there", name)
		}
	}
}

// book remembers families of a user. Without births it is told of none.
func (s *stage) book(uid int, births bool) *family.Book {
	look := family.System()
	forks := look.Forks
	look.Forks = nil
	if births {
		look.Forks = func(b family.Births) (func(), error) {
			stop, err := forks(counted{b, &s.losses})
			s.told = err == nil
			return stop, err
		}
	}
	b := family.New(look, proc.ID{}, uid)
	s.Cleanup(b.Close)
	return b
}

func (s *stage) takes(b *family.Book, asker string) {
	s.Helper()
	if _, err := b.Take(s.id(asker), "an agent"); err != nil {
		s.Fatal(err)
	}
}

// check has processes refused, and others pass.
func (s *stage) check(b *family.Book, refused, passes string) {
	s.Helper()
	for _, name := range append(strings.Fields(refused), strings.Fields(passes)...) {
		err := b.Check(s.id(name))
		var member *family.Member
		if want := slices.Contains(strings.Fields(refused), name); errors.As(err, &member) != want || !want && err != nil {
			s.Errorf("%s: %v, want refused %v", name, err, want)
		}
	}
}

// hook is how agents start one: it leads a session of its own.
const hook = "setsid sh hook & setsid sh command &"

func TestRowJobsOfOneShell(t *testing.T) {
	s := play(t, "one: "+hook+"\nhook: :\ncommand: :\ntwo: :\ntyped: :")
	typed, pid := s.shell()
	s.types(typed, "sh one &")
	s.types(typed, "sh two &")
	s.id("one")
	s.id("two")
	s.types(typed, "sh typed &")
	b := s.book(os.Getuid(), true)
	s.takes(b, "hook")
	s.check(b, "hook one command", "two typed")
	if info, err := proc.Stat(pid); err != nil || b.Check(info.ID()) != nil {
		t.Errorf("the shell is refused: %v", b.Check(info.ID()))
	}
	if list := b.List(); len(list) != 1 || list[0].In != "bash" {
		t.Errorf("%+v", list)
	}
}

func TestRowStarterInBetween(t *testing.T) {
	s := play(t, "npm: sh agent &\nagent: "+hook+"\nhook: :\ncommand: :\ntyped: :")
	typed, _ := s.shell()
	s.types(typed, "sh npm &")
	s.id("command")
	s.types(typed, "sh typed &")
	b := s.book(os.Getuid(), true)
	s.takes(b, "hook")
	s.check(b, "hook agent npm command", "typed")
}

// A terminal that an agent opens and another agent runs in.
func TestRowTerminalOfAnAgent(t *testing.T) {
	if _, err := exec.LookPath("script"); err != nil {
		t.Skip("no program opens a terminal here: script of util-linux is missing")
	}
	const inner = `SHELL=/bin/sh script -qfc "bash --norc" /dev/null <keys >/dev/null 2>&1 & exec 3>keys; echo "sh agent2 &" >&3; echo "sh typed2 &" >&3; `
	s := play(t, "agent: "+inner+"\nagent2: setsid sh hook2 &\nhook2: :\ntyped2: :\ntyped: :\nhook: :")
	if err := syscall.Mkfifo(filepath.Join(s.dir, "keys"), 0o600); err != nil {
		t.Fatal(err)
	}
	typed, _ := s.shell()
	s.types(typed, "sh agent &")
	s.id("typed2")
	s.types(typed, "sh typed &")
	b := s.book(os.Getuid(), true)
	s.takes(b, "hook2")
	s.check(b, "hook2 agent2", "typed2 agent typed")
	s.takes(b, "agent")
	s.check(b, "hook2 agent2 typed2 agent", "typed")
}

// An editor's terminals are its own where an agent in one of them asks, and the
// agent's where a part of the editor asks: then a terminal elsewhere is left.
func TestRowEditors(t *testing.T) {
	if _, err := exec.LookPath("script"); err != nil {
		t.Skip("no program opens a terminal here: script of util-linux is missing")
	}
	const window = `SHELL=/bin/sh script -qfc "bash --norc" /dev/null <keys%[1]s >/dev/null 2>&1 & exec 3>keys%[1]s; echo "sh %[2]s &" >&3; `
	s := play(t, "editor: sh extensions & sh terminals &\nextensions: setsid sh exthook &\nexthook: :\n"+
		"terminals: "+fmt.Sprintf(window, "1", "claude")+fmt.Sprintf(window, "2", "beside")+"\n"+
		"claude: "+hook+"\nhook: :\ncommand: :\nbeside: :\ntyped: :")
	for _, keys := range []string{"keys1", "keys2"} {
		if err := syscall.Mkfifo(filepath.Join(s.dir, keys), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	typed, _ := s.shell()
	s.types(typed, "sh editor &")
	for _, name := range []string{"exthook", "command", "beside"} {
		s.id(name)
	}
	s.types(typed, "sh typed &")
	b := s.book(os.Getuid(), true)
	s.takes(b, "hook")
	s.check(b, "hook claude command", "beside terminals editor exthook typed")
	s.takes(b, "exthook")
	s.check(b, "hook claude command exthook extensions editor terminals beside", "typed")
}

func TestRowTmux(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	// An agent that types into tmux makes the very tree of a person who types.
	const sends = "tmux new-window 'bash --norc'; tmux send-keys \"cd $PWD; sh sent &\" Enter;"
	s := play(t, "agent: "+hook+" "+sends+"\nhook: :\ncommand: :\nsent: :\nalone: setsid sh hook3 &\nhook3: :\npane: :\ntyped: :")
	typed, _ := s.shell()
	s.types(typed, "tmux -f /dev/null new-session -d 'bash --norc'; tmux send-keys 'cd "+s.dir+"; sh agent &' Enter; echo")
	t.Cleanup(func() {
		end := exec.Command("tmux", "kill-server")
		end.Env = []string{"PATH=" + os.Getenv("PATH"), "TMUX_TMPDIR=" + s.dir}
		end.Run()
	})
	s.id("command")
	s.id("sent")
	s.types(typed, "tmux new-window 'cd "+s.dir+"; exec sh alone'; tmux new-window 'bash --norc'; tmux send-keys 'cd "+s.dir+"; sh pane &' Enter; sh typed &")
	s.id("hook3")
	b := s.book(os.Getuid(), true)
	s.takes(b, "hook")
	s.check(b, "hook agent command", "pane typed alone sent")
	s.takes(b, "hook3") // of an agent that is the only program of its window
	s.check(b, "hook agent command hook3 alone", "pane typed")
}

// Rows whose family begins below root: cron, and the shim of a container.
func TestRowBelowRoot(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can become another user")
	}
	const become = "setpriv --reuid 65534 --regid 65534 --clear-groups "
	for name, start := range map[string]string{
		"cron":      become + "sh agent &",
		"container": "unshare --pid --fork " + become + "sh agent &",
	} {
		t.Run(name, func(t *testing.T) {
			// In a namespace of its own a shell has another number. The files of its
			// child tell its real one: /proc is the one from before.
			s := play(t, "cron: "+start+"\nagent: sh hook & setsid sh command &\nhook: :\ncommand: :\nother: :")
			for _, script := range []string{"agent", "hook", "command"} {
				text, _ := os.ReadFile(filepath.Join(s.dir, script))
				os.WriteFile(filepath.Join(s.dir, script), []byte(strings.Replace(string(text), "echo $$", "cut -d' ' -f4 /proc/self/stat", 1)), 0o644)
			}
			cron := exec.Command("setsid", "sh", "cron")
			other := exec.Command("setsid", "setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "sh", "other")
			for _, cmd := range []*exec.Cmd{cron, other} {
				cmd.Dir = s.dir
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				defer cmd.Wait()
				defer cmd.Process.Kill()
			}
			b := s.book(nobody, true)
			s.takes(b, "hook")
			s.check(b, "hook agent command", "other cron")
		})
	}
}

// An orphan is refused in a group of its agent, where it was seen below the agent
// before, and where births are told.
func TestRowOrphans(t *testing.T) {
	for _, row := range []struct {
		name, between, orphan string
		births, seen          bool // births are told; it was seen below the agent
	}{
		{"group kept", "sh between &", "sh orphan &", false, false},
		{"own session, seen", "setsid sh between &", "setsid sh orphan &", false, true},
		{"own session, births told", "setsid sh between &", "setsid sh orphan &", true, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			s := play(t, "agent: while ! [ -e go ]; do sleep 0.01; done; "+row.between+"\nbetween: "+row.orphan+" while ! [ -e end ]; do sleep 0.01; done; exit\norphan: :")
			cmd := exec.Command("setsid", "sh", "agent")
			cmd.Dir = s.dir
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			defer cmd.Wait()
			defer cmd.Process.Kill()
			b := s.book(os.Getuid(), row.births)
			s.takes(b, "agent")
			if row.births && !s.told {
				t.Skip("the kernel tells nobody of births here")
			}
			os.WriteFile(filepath.Join(s.dir, "go"), nil, 0o600)
			it, between := s.id("orphan"), s.id("between")
			if row.seen {
				b.Lost() // it looks at all
			}
			os.WriteFile(filepath.Join(s.dir, "end"), nil, 0o600)
			for end := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
				if p, err := proc.Stat(between.PID); err != nil || p.Zombie {
					break
				}
				if time.Now().After(end) {
					t.Fatal("it has a parent still")
				}
			}
			// The kernel tells of births beside what we do.
			for end := time.Now().Add(10 * time.Second); b.Check(it) == nil; time.Sleep(5 * time.Millisecond) {
				if !row.births {
					t.Fatal("it may operate")
				}
				if time.Now().After(end) {
					s.late(t)
				}
			}
		})
	}
}

// Who becomes root in a terminal operates, and what an agent starts that way does
// not: the walk goes on above root.
func TestRowSudo(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("only root can make a program that becomes root")
	}
	s := play(t, "agent: "+hook+" ./sudo --reuid 0 --regid 0 --clear-groups sh taken &\nhook: :\ncommand: :\ntaken: :\nroots: :")
	program, err := os.ReadFile(approvaltest.Find(t, "setpriv"))
	if err != nil {
		t.Fatal(err)
	}
	sudo := filepath.Join(s.dir, "sudo")
	if err := errors.Join(os.WriteFile(sudo, program, 0o700), os.Chmod(sudo, 0o755|os.ModeSetuid)); err != nil {
		t.Fatal(err)
	}
	typed, _ := s.shellOf(nobody)
	s.types(typed, "sh agent &")
	s.types(typed, "./sudo --reuid 0 --regid 0 --clear-groups sh roots &")
	b := s.book(nobody, true)
	s.takes(b, "hook")
	for _, name := range []string{"taken", "roots"} {
		if info, err := proc.Stat(s.id(name).PID); err != nil || info.UID != 0 {
			t.Fatalf("%s did not become root: %+v, %v", name, info, err)
		}
	}
	s.check(b, "hook agent command taken", "roots")
}

// An agent that starts itself anew is an orphan until births are told of, or
// until it asks again.
func TestRowAgentStartsAnew(t *testing.T) {
	for _, births := range []bool{false, true} {
		t.Run(fmt.Sprint("births told ", births), func(t *testing.T) {
			s := play(t, "agent: while ! [ -e go ]; do sleep 0.01; done; setsid sh between & exit\nbetween: setsid sh anew & exit\nanew: sh hook & setsid sh command &\nhook: :\ncommand: :\ntyped: :")
			typed, _ := s.shell()
			s.types(typed, "sh agent &")
			s.types(typed, "sh typed &")
			b := s.book(os.Getuid(), births)
			s.takes(b, "agent")
			if births && !s.told {
				t.Skip("the kernel tells nobody of births here")
			}
			os.WriteFile(filepath.Join(s.dir, "go"), nil, 0o600)
			hook := s.id("hook")
			s.id("command")
			if births {
				for end := time.Now().Add(10 * time.Second); b.Check(hook) == nil; time.Sleep(5 * time.Millisecond) {
					if time.Now().After(end) {
						s.late(t)
					}
				}
			}
			s.takes(b, "hook")
			s.check(b, "hook anew command", "typed")
		})
	}
}
