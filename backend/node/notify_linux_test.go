package node

import (
	"bufio"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
)

// desktop is a service of notifications on a bus of its own.
type desktop struct{ shown chan string }

// Notify takes a notification, as every desktop does.
func (d desktop) Notify(app string, _ uint32, icon, title, body string, actions []string, hints map[string]dbus.Variant, _ int32) (uint32, *dbus.Error) {
	d.shown <- fmt.Sprintf("%s|%s|%s|%s|%d|%v", app, icon, title, body, len(actions), hints["urgency"].Value())
	return 1, nil
}

// TestNotify shows what a gateway says, as what it is, and not too often.
func TestNotify(t *testing.T) {
	daemon := exec.Command("dbus-daemon", "--session", "--nofork", "--print-address")
	out, err := daemon.StdoutPipe()
	must(t, err)
	if err := daemon.Start(); err != nil {
		t.Skipf("skipped: no bus can be started: %v", err)
	}
	t.Cleanup(func() {
		daemon.Process.Kill()
		daemon.Wait()
	})
	address, err := bufio.NewReader(out).ReadString('\n')
	must(t, err)
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", strings.TrimSpace(address))
	g := newGateway(t)
	at := newMachine(t, g).join(g)
	params := map[string]any{"title": "Build <b>done</b>", "body": "a & b\n<a href='x'>press</a> \u202e", "priority": "passive"}
	if got := at.invoke("0", "system.notify", params); !strings.Contains(got, "it cannot be shown") {
		t.Error(got)
	}
	bus, err := dbus.ConnectSessionBus()
	must(t, err)
	defer bus.Close()
	d := desktop{make(chan string, 100)}
	must(t, bus.Export(d, "/org/freedesktop/Notifications", "org.freedesktop.Notifications"))
	_, err = bus.RequestName("org.freedesktop.Notifications", dbus.NameFlagDoNotQueue)
	must(t, err)
	if got := at.invoke("1", "system.notify", params); got != `{"ok":true}` {
		t.Error(got)
	}
	host := strings.TrimPrefix(g.url(), "ws://")
	if got, want := <-d.shown, `Countersign||From `+host+`: Build <b>done</b>|a &amp; b &lt;a href=&#39;x&#39;&gt;press&lt;/a&gt; \u{202E}|0|0`; got != want {
		t.Errorf("\n got %s\nwant %s", got, want)
	}
	for i, row := range []struct {
		params any
		want   string
	}{
		{map[string]string{}, "needs a title or a body"}, {map[string]string{"title": " \n"}, "needs a title or a body"}, {7, "cannot be read"},
		{map[string]string{"title": strings.Repeat("x", 1000), "body": strings.Repeat("y", 1000)}, `{"ok":true}`},
	} {
		if got := at.invoke(fmt.Sprint("p", i), "system.notify", row.params); !strings.Contains(got, row.want) {
			t.Errorf("%v: %s", row.params, got)
		}
	}
	if got := <-d.shown; len(got) > maxTitle+maxBody+100 || !strings.Contains(got, "…") {
		t.Error(got)
	}
	for i := range 2 * maxNotes {
		at.invoke(fmt.Sprint("more", i), "system.notify", params)
	}
	if got := at.invoke("last", "system.notify", params); !strings.Contains(got, "notifications a minute") {
		t.Error(got)
	}
	if n := len(d.shown) + 3; n != maxNotes {
		t.Error(n, "were shown")
	}
}

func TestNotes(t *testing.T) {
	var n notes
	now := time.Now()
	for i := range 3 * maxNotes {
		if got, want := n.room(now.Add(time.Duration(i)*time.Second)), i < maxNotes; got != want {
			t.Errorf("%d: %v", i, got)
		}
	}
	if !n.room(now.Add(noteWindow)) {
		t.Error("none is shown a minute later")
	}
}
