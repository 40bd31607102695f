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

// TestOurs is the decision alone, with made-up processes: host 10, started by
// shell 5 in session 5. Who belongs to whom is tested in package family.
func TestOurs(t *testing.T) {
	p := func(pid, parent, session int) proc.Info {
		return proc.Info{PID: pid, Parent: parent, Session: session, Started: uint64(pid)}
	}
	first, shell, host := p(1, 0, 1), p(5, 1, 5), p(10, 5, 5)
	d := &Door{self: host.ID()}
	zombie := p(30, 1, 30)
	zombie.Zombie = true
	const cmd, program, ended = "command that Countersign ran", "own program", "has ended"
	for _, c := range []struct {
		name  string
		facts facts
		want  string
	}{
		{"own terminal", facts{[]proc.Info{p(30, 1, 30), first}, true, false, process{}, proc.Aside{}}, ""},
		{"the host itself", facts{[]proc.Info{host, shell, first}, false, false, process{}, proc.Aside{}}, ""},
		{"other program", facts{[]proc.Info{p(30, 1, 30), first}, false, false, process{}, proc.Aside{}}, program},
		{"carries the mark", facts{[]proc.Info{p(30, 1, 30), first}, true, true, process{}, proc.Aside{}}, cmd},
		{"child of the host", facts{[]proc.Info{p(30, 10, 30), host, shell, first}, true, false, process{}, proc.Aside{}}, cmd},
		{"grandchild of the host", facts{[]proc.Info{p(31, 30, 31), p(30, 10, 30), host, shell, first}, true, false, process{}, proc.Aside{}}, cmd},
		{"parent of the host", facts{[]proc.Info{shell, first}, true, false, process{}, proc.Aside{}}, ""},
		{"traced", facts{[]proc.Info{p(30, 1, 30), first}, true, false, process{}, proc.Aside{Traced: true}}, "looks into"},
		{"in another namespace", facts{[]proc.Info{p(30, 1, 30), first}, true, false, process{}, proc.Aside{Namespace: true}}, "namespace"},
		{"the host itself, in a debugger", facts{[]proc.Info{host, shell, first}, false, false, process{}, proc.Aside{Traced: true}}, ""},
		{"dead", facts{[]proc.Info{zombie, first}, true, false, process{}, proc.Aside{}}, ended},
	} {
		err := d.ours(c.facts.chain[0].ID(), c.facts)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	if err := d.ours(process{PID: 30, Started: 1}, facts{[]proc.Info{p(30, 1, 30), first}, true, false, process{}, proc.Aside{}}); err == nil {
		t.Error("a reused pid passed")
	}
	if err := d.ours(process{PID: 10, Started: 1}, facts{[]proc.Info{host, shell, first}, true, false, process{}, proc.Aside{}}); err == nil {
		t.Error("a reused pid of the host passed")
	}
}

func TestDoorSeesItself(t *testing.T) {
	d, err := NewDoor()
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	me := approval.Peer{UID: os.Geteuid(), PID: d.self.PID, Started: d.self.Started}
	if _, err := d.Remember(me, ""); err != nil || len(d.families.List()) != 0 {
		t.Errorf("we asked ourselves: %v, %v", err, d.families.List())
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
		if _, err := d.Remember(p, ""); err == nil {
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
	for by, want := range map[int]bool{d.self.PID: true, parent.PID: false, 1: false} {
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
