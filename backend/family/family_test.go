package family

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/proc"
)

// The people of the vectors: the host's user, and root.
const me, root = 501, 0

// tree is a machine of a test: its processes and what they run.
type tree struct {
	infos    map[int]proc.Info
	programs map[int]Program
	mu       sync.Mutex // a book looks once a second by itself
}

// grown makes a machine from lines "pid ppid pgrp sid tty uid program words". A
// program that begins with + is root's file, and words are joined by spaces. tty
// is 0 for none.
func grown(lines string) *tree {
	t := &tree{infos: map[int]proc.Info{}, programs: map[int]Program{}}
	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); line != "" {
			t.add(line)
		}
	}
	return t
}

func (t *tree) add(line string) {
	f := strings.Fields(line)
	num := func(i int) (n int) { fmt.Sscan(f[i], &n); return n }
	p := proc.Info{PID: num(0), Parent: num(1), Group: num(2), Session: num(3), Terminal: num(4), UID: num(5), Started: uint64(1000 + num(0))}
	path, byRoot := strings.CutPrefix(f[6], "+")
	name := path[strings.LastIndex(path, "/")+1:]
	program := Program{Path: path, Argv: f[7:], ByRoot: byRoot, Shell: byRoot && slices.Contains(usualShells, name), Ours: name == "countersign"}
	if program.Shell {
		program.Input = p.Terminal
	}
	if len(program.Argv) == 0 {
		program.Argv = []string{name}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.infos[p.PID], t.programs[p.PID] = p, program
}

// end takes a process away.
func (t *tree) end(pid int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.infos, pid)
}

func (t *tree) id(pid int) proc.ID { return t.infos[pid].ID() }

func (t *tree) look() Look {
	return Look{
		Stat: func(pid int) (proc.Info, error) {
			t.mu.Lock()
			defer t.mu.Unlock()
			p, there := t.infos[pid]
			if !there {
				return proc.Info{}, proc.ErrGone
			}
			return p, nil
		},
		All: func() (list []proc.Info, err error) {
			t.mu.Lock()
			defer t.mu.Unlock()
			for _, p := range t.infos {
				list = append(list, p)
			}
			return list, nil
		},
		Path: func(pid int) (string, error) {
			t.mu.Lock()
			defer t.mu.Unlock()
			return t.programs[pid].Path, nil
		},
		Program: func(p proc.Info) (Program, error) {
			t.mu.Lock()
			defer t.mu.Unlock()
			program, there := t.programs[p.PID]
			if !there {
				return Program{}, proc.ErrGone
			}
			return program, nil
		},
	}
}

func (t *tree) book(host int) *Book {
	b := New(t.look(), t.id(host), me)
	b.now = func() time.Time { return time.Unix(1_800_000_000, 0) }
	return b
}

// The part of a machine that every tree has: host 10.
const macOS = `
	1 0 1 1 0 0 +/sbin/launchd
	10 1 10 1 0 501 /Applications/Countersign.app/Contents/MacOS/Countersign
	20 1 20 1 0 501 +/System/Applications/Utilities/Terminal.app/Contents/MacOS/Terminal
	21 20 21 21 16 0 +/usr/bin/login login -pf mara
	22 21 22 21 16 501 +/bin/zsh -zsh
	23 20 23 23 17 0 +/usr/bin/login login -pf mara
	24 23 24 23 17 501 +/bin/zsh -zsh`

const linux = `
	1 0 1 1 0 0 +/usr/lib/systemd/systemd
	5 1 5 5 0 501 +/usr/lib/systemd/systemd systemd --user
	10 5 10 10 0 501 /usr/bin/countersign countersign host run
	20 5 20 20 0 501 +/usr/bin/tmux tmux new-session -d
	21 20 21 21 34816 501 +/usr/bin/bash bash --norc
	22 20 22 22 34817 501 +/usr/bin/bash -bash
	30 1 30 30 0 0 +/usr/sbin/sshd
	31 30 31 31 0 0 +/usr/lib/openssh/sshd-session sshd-session: mara
	32 31 31 31 0 501 +/usr/lib/openssh/sshd-session sshd-session: mara@pts/9
	33 32 33 33 34825 501 +/usr/bin/bash -bash`

// TestTrees is the table of process trees: who asks, who belongs to it and may
// not operate, and who may. Those of Claude Code and Codex were seen with the
// real programs on Linux.
func TestTrees(t *testing.T) {
	for _, row := range []struct {
		name, base, tree string
		asks             int
		members          []int // at once
		refused, passes  []int
	}{
		{"claude in Terminal, hook in its own session", macOS, `
			100 22 100 21 16 501 /Users/mara/.local/bin/claude claude
			101 100 101 101 0 501 +/bin/sh /bin/sh -c hook
			102 101 101 101 0 501 /opt/homebrew/bin/countersign countersign hook claude-code
			110 100 110 110 0 501 +/bin/zsh /bin/zsh -c countersign
			111 110 110 110 0 501 /opt/homebrew/bin/countersign countersign policy set security full
			120 22 120 21 16 501 /opt/homebrew/bin/countersign countersign policy set security full
			121 24 121 23 17 501 /opt/homebrew/bin/countersign countersign approvals list`,
			102, []int{100, 101, 102}, []int{100, 102, 110, 111}, []int{120, 121, 22, 24}},
		{"claude -p in tmux, auto", linux, `
			14608 21 14608 21 34816 501 /home/mara/claude claude -p
			14630 14608 14630 14630 0 501 +/usr/bin/dash /bin/sh -c hook
			14634 14630 14630 14630 0 501 /usr/bin/countersign countersign hook claude-code
			14640 14608 14640 14640 0 501 +/usr/bin/bash /bin/bash -c source
			14641 14640 14640 14640 0 501 /usr/bin/countersign countersign pause
			14650 21 14650 21 34816 501 /usr/bin/countersign countersign pause
			14651 22 14651 22 34817 501 /usr/bin/countersign countersign pause
			14652 33 14652 33 34825 501 /usr/bin/countersign countersign pause`,
			14634, []int{14608, 14630, 14634}, []int{14641, 14640, 14608}, []int{14650, 14651, 14652, 20, 21}},
		{"codex exec", linux, `
			14704 21 14704 21 34816 501 /home/mara/codex codex exec
			14805 14704 14805 14805 0 501 /usr/bin/countersign countersign hook codex
			14811 14704 14811 14811 0 501 /usr/bin/countersign countersign policy set security full
			14850 21 14850 21 34816 501 /usr/bin/countersign countersign policy set`,
			14805, []int{14704, 14805}, []int{14811, 14704}, []int{14850}},
		{"an agent as the only program of a tmux window", linux, `
			40 20 40 40 34820 501 /home/mara/claude claude
			41 40 41 41 0 501 /usr/bin/countersign countersign hook claude-code
			42 1 42 40 34820 501 /usr/bin/countersign countersign pause
			43 22 43 22 34817 501 /usr/bin/countersign countersign pause`,
			41, []int{40, 41}, []int{42}, []int{43}},
		{"an editor's terminal", linux, `
			50 5 50 50 0 501 /usr/share/code/code code
			51 50 50 50 0 501 /usr/share/code/code code --type=utility
			52 51 52 52 34821 501 +/usr/bin/bash /usr/bin/bash --init-file /usr/share/code/shellIntegration-bash.sh
			53 52 53 52 34821 501 /home/mara/claude claude
			54 53 54 54 0 501 /usr/bin/countersign countersign hook claude-code
			55 52 55 52 34821 501 /usr/bin/countersign countersign policy set
			56 53 56 56 0 501 /usr/bin/countersign countersign policy set`,
			54, []int{53, 54}, []int{56}, []int{55}},
		{"an editor that is an agent", linux, `
			50 5 50 50 0 501 /opt/cursor/cursor cursor
			51 50 50 50 0 501 /opt/cursor/cursor cursor --type=utility
			52 51 50 50 0 501 /usr/bin/countersign countersign hook cursor
			53 51 53 53 34821 501 +/usr/bin/zsh /usr/bin/zsh -i
			54 53 54 53 34821 501 /usr/bin/countersign countersign policy set
			55 22 55 22 34817 501 /usr/bin/countersign countersign policy set`,
			52, []int{50, 51, 52}, []int{54, 53, 50}, []int{55}},
		{"an app that launchd started", macOS, `
			60 1 60 1 0 501 /Applications/Claude.app/Contents/MacOS/Claude
			61 60 60 1 0 501 /Applications/Claude.app/Contents/Helpers/countersign countersign mcp
			62 1 62 1 0 501 /opt/homebrew/bin/countersign countersign pause
			63 60 63 1 0 501 /opt/homebrew/bin/countersign countersign pause
			64 1 60 1 0 501 /opt/homebrew/bin/countersign countersign pause
			65 22 65 21 16 501 /opt/homebrew/bin/countersign countersign pause`,
			61, []int{60, 61}, []int{63, 64}, []int{62, 65, 20, 22}},
		{"cron", linux, `
			70 1 70 70 0 0 +/usr/sbin/cron
			71 70 70 70 0 0 +/usr/sbin/cron
			72 71 72 72 0 501 +/usr/bin/dash /bin/sh -c agent
			73 72 72 72 0 501 /home/mara/agent agent
			74 73 72 72 0 501 /usr/bin/countersign countersign run ls
			75 22 75 22 34817 501 /usr/bin/countersign countersign pause`,
			74, []int{72, 73, 74}, []int{73}, []int{75, 33}},
		{"a terminal that an agent started", linux, `
			80 22 80 22 34817 501 /home/mara/claude claude
			81 80 81 81 0 501 +/usr/bin/xterm xterm
			82 81 82 82 34822 501 +/usr/bin/bash bash
			83 82 83 82 34822 501 /home/mara/codex codex
			84 83 84 84 0 501 /usr/bin/countersign countersign hook codex
			85 82 85 82 34822 501 /usr/bin/countersign countersign pause`,
			84, []int{83, 84}, []int{83}, []int{85, 80}},
		{"the agent that started it", linux, `
			80 22 80 22 34817 501 /home/mara/claude claude
			81 80 81 81 0 501 +/usr/bin/xterm xterm
			82 81 82 82 34822 501 +/usr/bin/bash bash
			85 82 85 82 34822 501 /usr/bin/countersign countersign pause
			86 80 86 86 0 501 /usr/bin/countersign countersign hook claude-code`,
			86, []int{80, 86}, []int{85, 82}, []int{22}},
		{"a command that a person types", linux, `
			90 22 90 22 34817 501 /usr/bin/countersign countersign run ls
			91 22 91 22 34817 501 /usr/bin/countersign countersign pause`,
			90, []int{90}, nil, []int{91, 22}},
		{"npm in between", linux, `
			90 22 90 22 34817 501 /usr/bin/node npm exec claude
			91 90 90 22 34817 501 +/usr/bin/dash sh -c claude
			92 91 90 22 34817 501 /home/mara/claude claude
			93 92 93 93 0 501 /usr/bin/countersign countersign hook claude-code
			94 1 90 22 34817 501 /usr/bin/countersign countersign pause
			95 22 95 22 34817 501 /usr/bin/countersign countersign pause`,
			93, []int{90, 91, 92, 93}, []int{94}, []int{95}},
		{"a person's script", linux, `
			90 22 90 22 34817 501 +/usr/bin/bash bash ./agent.sh
			91 90 90 22 34817 501 /usr/bin/countersign countersign run ls
			92 22 92 22 34817 501 /usr/bin/countersign countersign pause`,
			91, []int{90, 91}, []int{90}, []int{92}},
		{"a shell that reads a file", linux, `
			90 22 90 22 34817 501 +/usr/bin/bash bash -lc agent
			91 90 90 22 34817 501 /usr/bin/countersign countersign run ls`,
			91, []int{90, 91}, []int{90}, []int{22}},
		{"a copy of a shell", linux, `
			90 22 90 22 34817 501 /tmp/bash bash
			91 90 91 22 34817 501 /usr/bin/countersign countersign run ls`,
			91, []int{90, 91}, []int{90}, []int{22}},
		{"a file of the agent's with the name of a terminal", linux, `
			90 22 90 22 34817 501 /home/mara/claude claude
			91 90 91 91 0 501 /tmp/systemd systemd
			92 91 92 92 0 501 /usr/bin/countersign countersign run ls`,
			92, []int{90, 91, 92}, []int{90}, []int{22}},
		{"the program of a container", "1 0 1 1 0 501 /app/agent agent\n10 1 10 10 0 501 /usr/bin/countersign", `
			11 1 1 1 0 501 /usr/bin/countersign countersign run ls
			12 0 12 12 34816 501 +/bin/bash bash
			13 12 13 12 34816 501 /usr/bin/countersign countersign pause
			14 11 1 1 0 501 /usr/bin/countersign countersign pause`,
			11, []int{11}, []int{14}, []int{13}},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := grown(row.base + row.tree)
			b := m.book(10)
			defer b.Close()
			if _, err := b.Take(m.id(row.asks), "an agent"); err != nil {
				t.Fatal(err)
			}
			if got := b.List()[0].Members; !slices.Equal(got, row.members) {
				t.Errorf("the family is %v, want %v", got, row.members)
			}
			for _, pid := range append(row.refused, row.asks) {
				var member *Member
				if err := b.Check(m.id(pid)); !errors.As(err, &member) {
					t.Errorf("%d may operate: %v", pid, err)
				}
			}
			for _, pid := range row.passes {
				if err := b.Check(m.id(pid)); err != nil {
					t.Errorf("%d: %v", pid, err)
				}
			}
		})
	}
}

// TestOrphans: who was seen below a member stays one when its parents end.
func TestOrphans(t *testing.T) {
	const agent = `
		100 21 100 21 34816 501 /home/mara/claude claude
		101 100 101 101 0 501 /usr/bin/countersign countersign hook claude-code`
	for _, row := range []struct {
		name    string
		before  string // processes that are seen
		seen    bool   // by a look at all, before
		ended   []int
		after   string
		peer    int
		refused bool
	}{
		{"group kept", "110 100 110 110 0 501 +/usr/bin/bash bash -c x", true, []int{110}, "111 1 110 110 0 501 /usr/bin/countersign", 111, true},
		{"session kept, seen as a child", "110 100 110 110 0 501 +/usr/bin/bash bash -c x\n111 110 111 110 0 501 /tmp/x x", true, []int{110}, "111 1 111 110 0 501 /usr/bin/countersign", 111, true},
		{"own session, seen", "110 100 110 110 0 501 /tmp/x x", true, nil, "110 1 110 110 0 501 /usr/bin/countersign", 110, true},
		{"its child", "110 100 110 110 0 501 /tmp/x x", true, nil, "110 1 110 110 0 501 /tmp/x\n120 110 120 120 0 501 /usr/bin/countersign", 120, true},
		{"the agent has ended", "110 100 110 110 0 501 /tmp/x x", true, []int{100, 101}, "110 1 110 110 0 501 /usr/bin/countersign", 110, true},
		{"own session, never seen", "", true, nil, "110 1 110 110 0 501 /usr/bin/countersign", 110, false},
		{"another process with a number of the family", "110 100 110 110 0 501 /tmp/x x", true, []int{110}, "110 22 110 22 34817 501 /usr/bin/countersign", 110, false},
		{"the shell after the agent has ended", "", true, []int{100, 101}, "120 21 120 21 34816 501 /usr/bin/countersign", 120, false},
	} {
		t.Run(row.name, func(t *testing.T) {
			m := grown(linux + agent)
			b := m.book(10)
			defer b.Close()
			root, err := b.Take(m.id(101), "")
			if err != nil || root != m.id(100) {
				t.Fatalf("the root is %v, %v", root, err)
			}
			for line := range strings.Lines(row.before) {
				m.add(line)
			}
			b.Lost()
			for _, pid := range row.ended {
				m.end(pid)
			}
			if slices.Contains(row.ended, row.peer) {
				b.Lost() // it is seen to be gone
			}
			for line := range strings.Lines(row.after) {
				m.add(line)
			}
			err = b.Check(m.id(row.peer))
			if (err != nil) != row.refused {
				t.Errorf("%v, want refused %v", err, row.refused)
			}
			// What it takes is counted as the agent's then, also once it asks itself.
			looked, err := b.Root(m.id(row.peer))
			asked, failed := b.Take(m.id(row.peer), "another name")
			again, still := b.Take(m.id(row.peer), "a third")
			if err := errors.Join(err, failed, still); err != nil || (asked == root) != row.refused || looked != asked || again != asked {
				t.Errorf("the roots are %v, %v and %v, that of the agent %v: %v", looked, asked, again, root, err)
			}
		})
	}
}

// TestBirths: who is born of a member belongs to it at once, also where nobody
// could look in time, and a first thread that ends alone changes nothing.
func TestBirths(t *testing.T) {
	m := grown(linux + `
		100 21 100 21 34816 501 /home/mara/claude claude
		101 100 101 101 0 501 /usr/bin/countersign countersign hook claude-code`)
	b := m.book(10)
	defer b.Close()
	if _, err := b.Take(m.id(101), ""); err != nil {
		t.Fatal(err)
	}
	b.Born(100, 110) // gone before we look
	b.Born(110, 111)
	b.Ended(110)
	m.add("111 1 111 111 0 501 /usr/bin/countersign countersign pause")
	b.Born(21, 120) // of the shell
	m.add("120 21 120 21 34816 501 /usr/bin/countersign countersign pause")
	b.Born(100, 10) // the host
	for pid, refused := range map[int]bool{111: true, 120: false} {
		if err := b.Check(m.id(pid)); (err != nil) != refused {
			t.Errorf("%d: %v", pid, err)
		}
	}
	b.Ended(100) // its first thread
	b.Born(100, 130)
	m.add("130 1 130 130 0 501 /usr/bin/countersign countersign pause")
	if b.Check(m.id(130)) == nil {
		t.Error("what another thread starts passes")
	}
	m.end(111)
	b.Ended(111)
	if slices.Contains(b.List()[0].Members, 111) {
		t.Error("the ended stay")
	}
}

// TestBounds: a full family refuses whoever could be of it.
func TestBounds(t *testing.T) {
	m := grown(linux + `
		100 21 100 21 34816 501 /home/mara/claude claude`)
	b := m.book(10)
	defer b.Close()
	if _, err := b.Take(m.id(100), ""); err != nil {
		t.Fatal(err)
	}
	for i := range maxMembers + 5 {
		m.add(fmt.Sprintf("%d 100 100 21 34816 501 /tmp/x x", 10_000+i))
	}
	m.add("200 1 200 200 0 501 /usr/bin/countersign")
	m.add("201 22 201 22 34817 501 /usr/bin/countersign")
	m.add("202 33 202 33 34825 501 /usr/bin/countersign")
	for pid, refused := range map[int]bool{200: true, 201: true, 202: false} {
		if err := b.Check(m.id(pid)); (err != nil) != refused {
			t.Errorf("%d: %v", pid, err)
		}
	}
	for i := range maxMembers + 5 {
		m.end(10_000 + i)
	}
	if b.Check(m.id(200)) == nil {
		t.Error("births that nobody knows are forgotten")
	}

	many := grown(linux)
	b = many.book(10)
	defer b.Close()
	for i := range maxFamilies {
		many.add(fmt.Sprintf("%d 22 %d 22 34817 501 /usr/bin/countersign countersign run", 10_000+i, 10_000+i))
		if _, err := b.Take(many.id(10_000+i), ""); err != nil {
			t.Fatal(err)
		}
	}
	many.add("200 22 200 22 34817 501 /usr/bin/countersign countersign run")
	if _, err := b.Take(many.id(200), ""); err == nil {
		t.Error("no bound on families")
	}
	many.end(10_000)
	if _, err := b.Take(many.id(200), ""); err != nil {
		t.Errorf("after one has ended: %v", err)
	}
}

// TestUnseen: what cannot be looked at is refused, but above another user.
func TestUnseen(t *testing.T) {
	m := grown(linux + `
		100 21 100 21 34816 501 /home/mara/claude claude
		110 99 110 110 0 501 /usr/bin/countersign`)
	b := m.book(10)
	defer b.Close()
	if _, err := b.Take(m.id(100), ""); err != nil {
		t.Fatal(err)
	}
	if b.Check(m.id(110)) == nil {
		t.Error("a process whose parent cannot be seen passes")
	}
	m.end(30) // above root's sshd-session
	if err := b.Check(m.id(33)); err != nil {
		t.Error(err)
	}
	refused := func(id proc.ID) bool {
		_, err := b.Take(id, "")
		return err != nil
	}
	if !refused(m.id(110)) || !refused(proc.ID{PID: 100, Started: 1}) || b.Check(proc.ID{PID: 22, Started: 1}) == nil {
		t.Error("a process that cannot be seen asks or operates")
	}
	if _, err := b.Take(m.id(10), ""); err != nil || len(b.List()) != 1 {
		t.Errorf("the host asks itself: %v", err)
	}
}

// TestRefusal names who belongs to whom, with nothing that a terminal acts on.
func TestRefusal(t *testing.T) {
	m := grown(linux + `
		100 21 100 21 34816 501 /home/mara/claude claude
		101 100 101 101 0 501 +/usr/bin/dash sh -c x
		102 101 101 101 0 501 /usr/bin/countersign countersign hook claude-code`)
	m.programs[100] = Program{Path: "/usr/bin/node", Argv: []string{"node", "/opt/claude/cli.js", "-p"}}
	m.programs[101] = Program{Path: "/usr/bin/dash", Argv: []string{"s\x1b[31mh"}}
	b := m.book(10)
	defer b.Close()
	if _, err := b.Take(m.id(102), "main\u202e"); err != nil {
		t.Fatal(err)
	}
	a := b.List()[0]
	if a.Name != "s\x1b[31mh" || a.In != "bash" || a.Agent != "main\u202e" {
		t.Errorf("%+v", a)
	}
	var member *Member
	if err := b.Check(m.id(101)); !errors.As(err, &member) || member.Of != 101 || !strings.Contains(err.Error(), "as agent main") || strings.ContainsAny(err.Error(), "\x1b\u202e") {
		t.Errorf("%q", err)
	}
}

func TestNames(t *testing.T) {
	for want, p := range map[string]Program{
		"":        {}, // a process of the kernel, or one that nobody may look at
		"claude":  {Path: "/home/mara/.local/share/claude/versions/2.1.331", Argv: []string{"claude", "-p"}},
		"zsh":     {Path: "/bin/zsh", Argv: []string{"-zsh"}},
		"cli.js":  {Path: "/usr/bin/node", Argv: []string{"node", "/opt/gemini/cli.js"}},
		"node":    {Path: "/usr/bin/node", Argv: []string{"node", "--eval", "x"}},
		"2.1.331": {Path: "/home/mara/.local/share/claude/versions/2.1.331"},
		"codex":   {Path: "/usr/bin/codex", Argv: []string{"codex: working on it"}},
	} {
		if got := p.name(); strings.TrimSuffix(got, ":") != want {
			t.Errorf("%+v: %q", p, got)
		}
	}
}

func TestOnlyOptions(t *testing.T) {
	for words, want := range map[string]bool{
		"-zsh": true, "zsh -l": true, "bash --norc": true, "bash --login -i": true, "zsh -i +o x": false, "bash --init-file /x": true,
		"bash -c x": false, "bash -lc x": false, "bash script": false, "bash -s": true, "bash -": false, "bash --": false,
		"fish --command x": false, "fish --command=x": false, "fish -C x": false, "bash --rcfile": true, "bash --rcfile x script": false, "": false,
	} {
		if got := onlyOptions(strings.Fields(words)); got != want {
			t.Errorf("%q: %v", words, got)
		}
	}
}
