package screen

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/prop"
)

const patience = time.Minute

// systemBus starts a bus of its own as the system's.
func systemBus(t *testing.T) (stop func()) {
	t.Helper()
	at, err := exec.LookPath("dbus-daemon")
	if err != nil {
		if os.Getenv("COUNTERSIGN_TEST") == "all" {
			t.Fatal("there is no dbus-daemon: run `make setup`")
		}
		t.Skip("skipped: there is no dbus-daemon (`make test` has it)")
	}
	bus := exec.Command(at, "--session", "--nofork", "--print-address")
	out, err := bus.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := bus.Start(); err != nil {
		t.Fatal(err)
	}
	stop = func() { bus.Process.Kill(); bus.Wait() }
	t.Cleanup(stop)
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", strings.TrimSpace(address))
	return stop
}

// logind answers for one session on the bus.
type logind struct{ *prop.Properties }

func (logind) GetSession(id string) (dbus.ObjectPath, *dbus.Error) {
	if id != "7" {
		return "", dbus.MakeFailedError(os.ErrNotExist)
	}
	return "/session/7", nil
}

func (logind) GetSessionByPID(pid uint32) (dbus.ObjectPath, *dbus.Error) {
	if pid != uint32(os.Getpid()) {
		return "", dbus.MakeFailedError(os.ErrNotExist)
	}
	return "/session/7", nil
}

func newLogind(t *testing.T) logind {
	t.Helper()
	conn, err := dbus.ConnectSystemBus()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	p, err := prop.Export(conn, "/session/7", prop.Map{session: {
		"LockedHint": {Value: false, Emit: prop.EmitTrue, Writable: true},
		"Active":     {Value: true, Emit: prop.EmitTrue, Writable: true},
		"IdleHint":   {Value: false, Emit: prop.EmitTrue, Writable: true},
	}})
	if err != nil {
		t.Fatal(err)
	}
	l := logind{p}
	if err := conn.Export(l, "/org/freedesktop/login1", manager+".Manager"); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.RequestName(manager, dbus.NameFlagDoNotQueue); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestWatch(t *testing.T) {
	stop := systemBus(t)
	l := newLogind(t)
	for _, id := range []string{"7", "other"} { // the second is found by its process
		t.Setenv("XDG_SESSION_ID", id)
		told, ended := make(chan bool, 100), make(chan error, 1)
		ctx, cancel := context.WithCancel(t.Context())
		go func() { ended <- Watch(ctx, func(away bool) { told <- away }) }()
		want := func(what string, away bool) {
			t.Helper()
			for end := time.After(patience); ; {
				select {
				case got := <-told:
					if got == away {
						return
					}
				case err := <-ended:
					t.Fatalf("%s: it ended: %v", what, err)
				case <-end:
					t.Fatalf("%s: away %v is not told", what, away)
				}
			}
		}
		want("at first", false)
		l.SetMust(session, "LockedHint", true)
		want("locked", true)
		l.SetMust(session, "IdleHint", true)
		want("still locked", true)
		l.SetMust(session, "LockedHint", false)
		want("unlocked", false)
		l.SetMust(session, "Active", false)
		want("another user in front", true)
		l.SetMust(session, "Active", true)
		want("back", false)
		if id == "7" {
			cancel()
			if err := <-ended; err != nil {
				t.Errorf("at the end: %v", err)
			}
			continue
		}
		l.SetMust(session, "LockedHint", true)
		want("locked again", true)
		stop()
		for end := time.After(patience); ; {
			select {
			case err := <-ended:
				if err == nil {
					t.Error("the bus went and nothing is said")
				}
				last := true
				for len(told) > 0 {
					last = <-told
				}
				if last {
					t.Error("it stays locked for ever")
				}
				cancel()
				return
			case <-end:
				t.Fatal("it does not end with the bus")
			}
		}
	}
}

func TestWatchWithoutLogind(t *testing.T) {
	systemBus(t)
	if err := Watch(t.Context(), func(bool) { t.Error("it tells of what it does not know") }); err == nil {
		t.Error("nothing is said")
	}
	t.Setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent")
	if err := Watch(t.Context(), func(bool) { t.Error("it tells of what it does not know") }); err == nil {
		t.Error("nothing is said")
	}
}
