//go:build linux || darwin

package ipc

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/proc"
)

// TestDoorJudges is the decision alone, with made-up processes: host 10,
// started by shell 5 in session 5.
func TestDoorJudges(t *testing.T) {
	p := func(pid, parent, session int) proc.Info {
		return proc.Info{PID: pid, Parent: parent, Session: session, Started: uint64(pid)}
	}
	first, shell, host := p(1, 0, 1), p(5, 1, 5), p(10, 5, 5)
	d := &Door{
		self:     process{10, 10},
		roots:    map[process]struct{}{{20, 20}: {}, {21, 21}: {}},
		sessions: map[int]struct{}{20: {}},
	}
	zombie := p(30, 1, 30)
	zombie.Zombie = true
	const cmd, family, program, ended = "command that Countersign ran", "asks for permissions", "own program", "has ended"
	for _, c := range []struct {
		name  string
		facts facts
		want  string
	}{
		{"own terminal", facts{[]proc.Info{p(30, 1, 30), first}, true, false, process{}}, ""},
		{"the host itself", facts{[]proc.Info{host, shell, first}, false, false, process{}}, ""},
		{"other program", facts{[]proc.Info{p(30, 1, 30), first}, false, false, process{}}, program},
		{"carries the mark", facts{[]proc.Info{p(30, 1, 30), first}, true, true, process{}}, cmd},
		{"child of the host", facts{[]proc.Info{p(30, 10, 30), host, shell, first}, true, false, process{}}, cmd},
		{"grandchild of the host", facts{[]proc.Info{p(31, 30, 31), p(30, 10, 30), host, shell, first}, true, false, process{}}, cmd},
		{"parent of the host", facts{[]proc.Info{shell, first}, true, false, process{}}, ""},
		{"the asker", facts{[]proc.Info{p(20, 1, 20), first}, true, false, process{}}, family},
		{"child of the asker", facts{[]proc.Info{p(30, 20, 30), p(20, 1, 20), first}, true, false, process{}}, family},
		{"later process with its id", facts{[]proc.Info{p(30, 20, 30), {PID: 20, Parent: 1, Session: 9, Started: 99}, first}, true, false, process{}}, ""},
		{"orphan in its session", facts{[]proc.Info{p(30, 1, 20), first}, true, false, process{}}, family},
		{"child of an orphan in its session", facts{[]proc.Info{p(31, 30, 31), p(30, 1, 20), first}, true, false, process{}}, family},
		{"dead", facts{[]proc.Info{zombie, first}, true, false, process{}}, ended},
	} {
		err := d.judge(process{c.facts.chain[0].PID, c.facts.chain[0].Started}, c.facts)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if err := d.judge(process{30, 1}, facts{[]proc.Info{p(30, 1, 30), first}, true, false, process{}}); err == nil {
		t.Error("a reused pid passed")
	}
	if err := d.judge(process{10, 1}, facts{[]proc.Info{host, shell, first}, true, false, process{}}); err == nil {
		t.Error("a reused pid of the host passed")
	}
}

// TestDoorInTheSessionOfTheSystem is a Mac as launchd makes it: everything that
// comes from the Dock or as a service is in session 1, and so is what that
// starts without a terminal. A terminal's window has a session of its own.
func TestDoorInTheSessionOfTheSystem(t *testing.T) {
	p := func(pid, parent, group, session int) proc.Info {
		return proc.Info{PID: pid, Parent: parent, Group: group, Session: session, Started: uint64(pid)}
	}
	later := func(p proc.Info) proc.Info { p.Started += 1000; return p }
	launchd := p(1, 0, 1, 1)
	app := p(10, 1, 10, 1) // Countersign
	terminal := p(20, 1, 20, 1)
	shell := func(pid int, above ...proc.Info) []proc.Info {
		return append([]proc.Info{p(pid, above[0].PID, pid, pid)}, append(above, launchd)...)
	}
	code := p(30, 1, 30, 1) // an editor with an agent in it
	helper := p(31, 30, 30, 1)
	hook := p(32, 31, 30, 1)
	service := p(40, 1, 40, 1) // a node service
	byCode := process{code.PID, code.Started}
	responsible := map[string]process{"an editor": byCode, "a service": {service.PID, service.Started}}
	asks := map[string][]proc.Info{
		"an editor":                      {hook, helper, code, launchd},
		"a service":                      {service, launchd},
		"an agent in a terminal":         shell(51, terminal),
		"the first process of a machine": {launchd},
	}
	for _, row := range []struct {
		asked, name string
		peer        []proc.Info
		by          process // whom macOS holds responsible
		passes      bool
	}{
		{"an editor", "a terminal", shell(21, terminal), process{}, true},
		{"an editor", "another service", []proc.Info{service, launchd}, process{}, true},
		{"an editor", "the hook again", []proc.Info{hook, helper, code, launchd}, process{}, false},
		{"an editor", "what the helper starts later", []proc.Info{p(33, 31, 30, 1), helper, code, launchd}, process{}, false},
		{"an editor", "its terminal, with a session", shell(34, helper, code), process{}, false},
		{"an editor", "an orphan in its group", []proc.Info{p(35, 1, 30, 1), launchd}, process{}, false},
		{"an editor", "a child of an orphan in its group", []proc.Info{p(36, 35, 36, 36), p(35, 1, 30, 1), launchd}, process{}, false},
		{"an editor", "a daemon of it, with a group and a session", []proc.Info{p(37, 1, 37, 37), launchd}, byCode, false}, // by who is responsible
		{"an editor", "a later app with its number", []proc.Info{later(code), launchd}, process{}, true},
		{"an editor", "a terminal of that app", shell(34, later(code)), process{}, true},
		{"a service", "a terminal", shell(21, terminal), process{}, true},
		{"a service", "an editor's terminal", shell(34, helper, code), process{}, true},
		{"a service", "its child", []proc.Info{p(41, 40, 40, 1), service, launchd}, process{}, false},
		{"an agent in a terminal", "that window", []proc.Info{p(52, 51, 52, 51), p(51, 20, 51, 51), terminal, launchd}, process{}, false},
		{"an agent in a terminal", "another window", shell(21, terminal), process{}, true},
		{"an agent in a terminal", "an editor", []proc.Info{helper, code, launchd}, process{}, true},
		{"the first process of a machine", "anybody", shell(21, terminal), process{}, false},
	} {
		d := &Door{self: process{app.PID, app.Started}, roots: map[process]struct{}{}, sessions: map[int]struct{}{}, groups: map[int]uint64{}}
		asker := family{chain: asks[row.asked]}
		if inSystemSession(asker.chain) {
			asker.leaders = map[int]uint64{30: 30, 40: 40}
			asker.by = responsible[row.asked]
		}
		d.remember(asker)
		err := d.judge(process{row.peer[0].PID, row.peer[0].Started}, facts{row.peer, true, false, row.by})
		if (err == nil) != row.passes {
			t.Errorf("%s asked, then %s: %v", row.asked, row.name, err)
		}
		if _, all := d.sessions[launchd.Session]; all {
			t.Errorf("%s asked: the session of the system is remembered", row.asked)
		}
	}
}

// TestDoorInAContainer is a machine whose first process is the program that
// somebody gave it: all is one session, and so one family.
func TestDoorInAContainer(t *testing.T) {
	p := func(pid, parent int) proc.Info {
		return proc.Info{PID: pid, Parent: parent, Group: 1, Session: 1, Started: uint64(pid)}
	}
	sh, agent := p(1, 0), p(10, 1)
	d := &Door{self: process{2, 2}, roots: map[process]struct{}{}, sessions: map[int]struct{}{}, groups: map[int]uint64{}}
	d.remember(family{chain: []proc.Info{agent, sh}})
	for name, peer := range map[string][]proc.Info{"the agent": {agent, sh}, "its child": {p(11, 10), agent, sh}, "an orphan": {p(12, 1), sh}, "another command": {p(13, 1), sh}} {
		if d.judge(process{peer[0].PID, peer[0].Started}, facts{peer, true, false, process{}}) == nil {
			t.Errorf("%s passes", name)
		}
	}
}

func TestDoorSeesItself(t *testing.T) {
	d, err := NewDoor()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	me := approval.Peer{UID: os.Geteuid(), PID: d.self.pid, Started: d.self.started}
	if err := d.Remember(me); err != nil || len(d.roots) != 0 {
		t.Errorf("we asked ourselves: %v, %d roots", err, len(d.roots))
	}
	if err := d.MayOperate(me); err != nil {
		t.Error(err)
	}
	for name, p := range map[string]approval.Peer{
		"another user":  {UID: me.UID + 1, PID: me.PID, Started: me.Started},
		"another start": {UID: me.UID, PID: me.PID, Started: me.Started + 1},
		"nobody":        {UID: me.UID, PID: 1 << 30},
		"no pid":        {UID: me.UID},
		"our parent":    {UID: me.UID, PID: os.Getppid()},
	} {
		if err := d.MayOperate(p); err == nil {
			t.Errorf("%s may operate", name)
		}
	}
	for name, p := range map[string]approval.Peer{"nobody": {PID: 1 << 30}, "another start": {PID: os.Getppid(), Started: 1}} {
		if err := d.Remember(p); err == nil {
			t.Errorf("%s may ask", name)
		}
	}
}

// Whom macOS holds us responsible for was started by us, whatever else it shows.
func TestDoorAndResponsibility(t *testing.T) {
	d, err := NewDoor()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	parent, err := proc.Stat(os.Getppid())
	if err != nil {
		t.Fatal(err)
	}
	peer := approval.Peer{UID: os.Geteuid(), PID: parent.PID, Started: parent.Started}
	for by, want := range map[int]bool{d.self.pid: true, parent.PID: false, 1: false} {
		d.responsible = func(pid int) (int, error) {
			if pid != peer.PID {
				t.Errorf("asked about %d", pid)
			}
			return by, nil
		}
		if f, err := d.facts(peer); err != nil || f.marked != want {
			t.Errorf("responsible is %d: %v, %v", by, f.marked, err)
		}
	}
	d.responsible = func(int) (int, error) { return 0, errors.New("it does not say") }
	if err := d.MayOperate(peer); err == nil || !strings.Contains(err.Error(), "responsible") {
		t.Errorf("where nobody says: %v", err)
	}
}

func TestDoorForgetsOnlyTheEnded(t *testing.T) {
	d, err := NewDoor()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	parent, err := proc.Stat(os.Getppid())
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Remember(approval.Peer{PID: parent.PID, Started: parent.Started}); err != nil {
		t.Fatal(err)
	}
	for i := range maxRoots {
		d.roots[process{1 << 30, uint64(i)}] = struct{}{}
	}
	d.mu.Lock()
	err = d.tidy()
	d.mu.Unlock()
	_, kept := d.roots[process{parent.PID, parent.Started}]
	_, session := d.sessions[parent.Session]
	if err != nil || !kept || !session || len(d.roots) > 100 {
		t.Errorf("%v: kept %v, session %v, %d roots", err, kept, session, len(d.roots))
	}
}

func TestProgramsStayWhatTheyWere(t *testing.T) {
	path := shortDir(t) + "/tool"
	if err := os.WriteFile(path, []byte("x"), 0o700); err != nil {
		t.Fatal(err)
	}
	ps, err := openPrograms([]string{path})
	if err != nil {
		t.Fatal(err)
	}
	defer ps.close()
	if !ps.run(os.Getpid()) {
		t.Error("our own program is not ours")
	}
	if ps.run(os.Getppid()) {
		t.Error("go test is ours")
	}
	if _, err := openPrograms([]string{path + "2"}); err == nil {
		t.Error("a program that is not there")
	}
}

func ExampleDoor_MayOperate() {
	d, err := NewDoor()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer d.Close()
	fmt.Println(d.MayOperate(approval.Peer{UID: -1}))
	// Output: this process belongs to another user
}
