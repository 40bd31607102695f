package menubar

import (
	"bufio"
	"bytes"
	"image"
	"image/color"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/godbus/dbus/v5"
	"github.com/google/go-cmp/cmp"
)

// patience is far more than anything here takes.
const patience = 20 * time.Second

// sessionBus starts a bus of the test's own and returns how to end it early.
func sessionBus(t *testing.T) (end func()) {
	t.Helper()
	program, err := exec.LookPath("dbus-daemon")
	if err != nil {
		t.Skip("skipped: dbus-daemon is not installed")
	}
	cmd := exec.Command(program, "--session", "--nofork", "--nopidfile", "--print-address", "--address=unix:dir="+t.TempDir())
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	end = sync.OnceFunc(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	t.Cleanup(end)
	address, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal("the bus does not say its address:", err)
	}
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", strings.TrimSpace(address))
	return end
}

// desk is a desktop panel: the watcher that items register with, and the host
// that shows them.
type desk struct {
	t       *testing.T
	conn    *dbus.Conn
	items   chan [2]string // sender and path of who registered
	signals chan *dbus.Signal
	item    string // sender
}

// RegisterStatusNotifierItem is called over D-Bus.
func (d *desk) RegisterStatusNotifierItem(sender dbus.Sender, path string) *dbus.Error {
	d.items <- [2]string{string(sender), path}
	return nil
}

// newDesk starts a panel; its signals are those of the item that registers.
func newDesk(t *testing.T) *desk {
	t.Helper()
	conn, err := dbus.ConnectSessionBus()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	d := &desk{t: t, conn: conn, items: make(chan [2]string, 8), signals: make(chan *dbus.Signal, 100)}
	if err := conn.Export(d, watcherPath, watcherName); err != nil {
		t.Fatal(err)
	}
	if err := conn.AddMatchSignal(dbus.WithMatchPathNamespace(itemPath)); err != nil {
		t.Fatal(err)
	}
	conn.Signal(d.signals)
	if got, err := conn.RequestName(watcherName, dbus.NameFlagDoNotQueue); err != nil || got != dbus.RequestNameReplyPrimaryOwner {
		t.Fatal(got, err)
	}
	return d
}

// registered waits until an item has registered.
func (d *desk) registered() {
	d.t.Helper()
	select {
	case who := <-d.items:
		if d.item = who[0]; who[1] != itemPath {
			d.t.Fatalf("registered as %q", who)
		}
	case <-time.After(patience):
		d.t.Fatal("no item registers")
	}
}

// heard returns the names of the signals up to and with the one of that name.
func (d *desk) heard(last string) []string {
	d.t.Helper()
	var names []string
	for {
		select {
		case s := <-d.signals:
			if s.Sender != d.item {
				continue
			}
			name := s.Name[strings.LastIndexByte(s.Name, '.')+1:]
			if names = append(names, name); name == last {
				return names
			}
		case <-time.After(patience):
			d.t.Fatalf("%v, but no %s", names, last)
		}
	}
}

func (d *desk) property(name string, to any) {
	d.t.Helper()
	v, err := d.conn.Object(d.item, itemPath).GetProperty(itemName + "." + name)
	if err == nil {
		err = dbus.Store([]any{v.Value()}, to)
	}
	if err != nil {
		d.t.Fatal(name, err)
	}
}

func (d *desk) call(method string, args ...any) *dbus.Call {
	return d.conn.Object(d.item, menuPath).Call(menuName+"."+method, 0, args...)
}

// read is a row as the panel sees it.
type read struct {
	number int32
	line   string // its depth, what is special, and its label
	label  string
}

// rows reads the whole menu.
func (d *desk) rows() []read {
	d.t.Helper()
	var revision uint32
	var root layout
	if err := d.call("GetLayout", int32(0), int32(-1), []string{}).Store(&revision, &root); err != nil {
		d.t.Fatal(err)
	}
	return d.below(root, "")
}

func (d *desk) below(l layout, indent string) []read {
	var list []read
	for _, v := range l.Children {
		var child layout
		if err := dbus.Store([]any{v.Value()}, &child); err != nil {
			d.t.Fatal(err)
		}
		r := read{number: child.Number, line: "---"}
		if child.Values["type"].Value() != "separator" {
			r.label = child.Values["label"].Value().(string)
			r.line = r.label
			switch child.Values["toggle-state"].Value() {
			case int32(0):
				r.line = "[ ] " + r.line
			case int32(1):
				r.line = "[x] " + r.line
			}
			if child.Values["enabled"].Value() != true {
				r.line = "(" + r.line + ")"
			}
			if opens := child.Values["children-display"].Value() == "submenu"; opens != (len(child.Children) > 0) {
				d.t.Errorf("%s: submenu is %t for %d rows", r.label, opens, len(child.Children))
			}
		}
		r.line = indent + r.line
		list = append(list, r)
		list = append(list, d.below(child, indent+"  ")...)
	}
	return list
}

func lines(rows []read) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(r.line + "\n")
	}
	return b.String()
}

func (d *desk) number(label string) int32 {
	d.t.Helper()
	for _, r := range d.rows() {
		if r.label == label {
			return r.number
		}
	}
	d.t.Fatalf("no row %q", label)
	return 0
}

func (d *desk) click(number int32) error {
	return d.call("Event", number, "clicked", dbus.MakeVariant(""), uint32(0)).Err
}

// start starts a panel and a bar that has registered with it.
func start(t *testing.T, press func(string)) (*desk, *Bar) {
	t.Helper()
	d := newDesk(t)
	b, err := Start(press)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	d.registered()
	return d, b
}

func ignore(string) {}

func receive(t *testing.T, from <-chan string) string {
	t.Helper()
	select {
	case id := <-from:
		return id
	case <-time.After(patience):
		t.Fatal("nothing was pressed")
	}
	return ""
}

func TestItem(t *testing.T) {
	sessionBus(t)
	d, b := start(t, ignore)
	waits := []Question{{ID: "q", Agent: "a", Command: "ls"}}
	seen := map[string]Icon{}
	for _, c := range []struct {
		facts Facts
		icon  Icon
		title string
	}{
		{Facts{}, Quiet, "Countersign"},
		{Facts{Waiting: waits}, Waiting, "Countersign: 1 question waits"},
		{Facts{Paused: true}, Paused, "Countersign: paused"},
	} {
		b.Show(Build(c.facts))
		var title string
		var tip tooltipValue
		var pictures []pixmap
		d.property("Title", &title)
		d.property("ToolTip", &tip)
		d.property("IconPixmap", &pictures)
		if title != c.title || tip.Title != c.title {
			t.Errorf("title %q, tooltip %q, want %q", title, tip.Title, c.title)
		}
		if len(pictures) != 2 || pictures[0].Width != 22 || pictures[1].Width != 44 {
			t.Fatalf("%s: pictures are not 22 and 44", c.icon)
		}
		for _, p := range pictures {
			if p.Width != p.Height || len(p.Pixels) != int(4*p.Width*p.Height) {
				t.Fatalf("%s: %d×%d with %d bytes", c.icon, p.Width, p.Height, len(p.Pixels))
			}
			middle := p.Pixels[4*(p.Width*p.Height/2+p.Width/5):][:4]
			if !bytes.Equal(middle, []byte{0xff, 0x85, 0x85, 0x85}) || p.Pixels[0] != 0 {
				t.Errorf("%s: left of the middle is % x, the corner has alpha %d", c.icon, middle, p.Pixels[0])
			}
			if was, again := seen[string(p.Pixels)]; again {
				t.Errorf("%s looks like %s", c.icon, was)
			}
			seen[string(p.Pixels)] = c.icon
		}
	}
	if got := d.heard("LayoutUpdated"); !cmp.Equal(got, []string{"NewIcon", "NewTitle", "NewToolTip", "LayoutUpdated"}) {
		t.Error(got)
	}
	for name, want := range map[string]any{
		"Id": "countersign", "Category": "ApplicationStatus", "Status": "Active", "ItemIsMenu": true, "Menu": dbus.ObjectPath(menuPath),
	} {
		v, err := d.conn.Object(d.item, itemPath).GetProperty(itemName + "." + name)
		if err != nil || v.Value() != want {
			t.Errorf("%s is %v, %v; want %v", name, v, err, want)
		}
	}
	all := values{}
	properties := d.conn.Object(d.item, itemPath)
	if err := properties.Call("org.freedesktop.DBus.Properties.GetAll", 0, itemName).Store(&all); err != nil || len(all) < 10 {
		t.Error(all, err)
	}
	if _, err := properties.GetProperty(itemName + ".Nothing"); err == nil {
		t.Error("a property that is not there can be read")
	}
	if err := properties.SetProperty(itemName+".Title", dbus.MakeVariant("x")); err == nil {
		t.Error("anybody can write the title")
	}
	if v, err := d.conn.Object(d.item, menuPath).GetProperty(menuName + ".Version"); err != nil || v.Value() != uint32(3) {
		t.Error(v, err)
	}
}

// haltLines are the rows that every menu has while nothing is paused.
const haltLines = `Pause
  15 minutes
  1 hour
  Until resumed
Stop everything…
  (Denies what waits, ends what runs, takes leases back)
  Stop everything now
`

func TestRows(t *testing.T) {
	sessionBus(t)
	d, b := start(t, ignore)
	if got, want := lines(d.rows()), haltLines+"---\nSettings…\n---\nQuit Countersign\n"; got != want {
		t.Errorf("at first: %s", got)
	}
	b.Show(Build(Facts{
		Now: noon,
		Waiting: []Question{
			{ID: "1", Agent: "a_b", Command: "snake_case __init__ _"},
			{ID: "2", Agent: "a", Command: "echo 1\necho 2"},
			{ID: "3", Agent: "a", Command: "rm \u202etxt.x; cat שלום", Expires: noon.Add(102 * time.Second)},
			{ID: "4", Agent: "a", Command: "x & <b>y</b>"},
		},
		Agents:  []Agent{{ID: "a", Name: "A", Mode: "deny"}, {ID: "b", Name: "", Mode: "custom", Custom: "full/always"}},
		Running: []Run{{ID: "r", Agent: "a", Command: "make", Started: noon}},
		Login:   yes(),
	}))
	want := `(Waiting)
a__b: snake__case ____init____ __
a: echo 1\u{A}echo 2
a: rm \u{202E}txt.x; cat שלום — 1:42
a: x & <b>y</b>
---
(Agents)
A — Deny
  [x] Deny
  [ ] Ask always
  [ ] Ask when needed
  [ ] Only listed
  [ ] Allow all
An agent without a name — Custom: full/always
  [ ] Deny
  [ ] Ask always
  [ ] Ask when needed
  [ ] Only listed
  [ ] Allow all
  ([x] Custom: full/always)
---
` + haltLines + `---
Running now
  (a: make · 0 s)
  Stop
---
Settings…
[x] Open at login
---
Quit Countersign
`
	if diff := cmp.Diff(want, lines(d.rows())); diff != "" {
		t.Error(diff)
	}

	// The other ways to read it.
	var revision uint32
	var flat layout
	if err := d.call("GetLayout", int32(0), int32(1), []string{"label"}).Store(&revision, &flat); err != nil {
		t.Fatal(err)
	}
	var first layout
	if err := dbus.Store([]any{flat.Children[0].Value()}, &first); err != nil {
		t.Fatal(err)
	}
	if len(flat.Children) != 19 || len(first.Values) != 1 || first.Values["label"].Value() != "Waiting" || len(first.Children) != 0 {
		t.Error(flat)
	}
	quit := d.number("Quit Countersign")
	var group []update
	if err := d.call("GetGroupProperties", []int32{quit, 9999}, []string{"label"}).Store(&group); err != nil ||
		len(group) != 1 || group[0].Number != quit || group[0].Values["label"].Value() != "Quit Countersign" {
		t.Error(group, err)
	}
	if err := d.call("GetGroupProperties", []int32{}, []string{}).Store(&group); err != nil || len(group) != 38 {
		t.Errorf("%d rows, want 37 and the menu; %v", len(group), err)
	}
	var value dbus.Variant
	if err := d.call("GetProperty", quit, "enabled").Store(&value); err != nil || value.Value() != true {
		t.Error(value, err)
	}
	for _, call := range []*dbus.Call{
		d.call("GetLayout", int32(9999), int32(-1), []string{}), d.call("GetProperty", int32(9999), "label"),
		d.call("GetProperty", quit, "nothing"), d.call("GetLayout", "not a number"),
	} {
		if call.Err == nil {
			t.Error("an answer to a wrong question:", call.Body)
		}
	}
	var needs bool
	if err := d.call("AboutToShow", int32(0)).Store(&needs); err != nil || needs {
		t.Error(needs, err)
	}
	var updates, gone []int32
	if err := d.call("AboutToShowGroup", []int32{0}).Store(&updates, &gone); err != nil || len(updates)+len(gone) > 0 {
		t.Error(updates, gone, err)
	}
}

func TestPress(t *testing.T) {
	sessionBus(t)
	pressed := make(chan string, 100)
	d, b := start(t, func(id string) { pressed <- id })
	b.Show(Build(Facts{
		Waiting: []Question{{ID: "q:\n_1", Agent: "a", Command: "x"}},
		Agents:  []Agent{{ID: "a:b", Name: "A", Mode: "custom", Custom: "full/always"}},
		Running: []Run{{ID: "r", Agent: "a", Command: "make"}},
	}))
	// These do nothing, so that what is pressed next is what arrives next.
	dead := []string{"Waiting", "Agents", "A — Custom: full/always", "Custom: full/always", "Running now"}
	for _, c := range []struct{ label, id string }{
		{"a: x", "question:q:\n_1"},
		{"Only listed", "mode:a:b:only-listed"},
		{"Stop", "stop:r"},
		{"Settings…", "settings"},
		{"Quit Countersign", "quit"},
	} {
		for _, label := range dead {
			if err := d.click(d.number(label)); err != nil {
				t.Error(label, err)
			}
		}
		number := d.number(c.label)
		for _, name := range []string{"hovered", "opened", "closed"} {
			if err := d.call("Event", number, name, dbus.MakeVariant(""), uint32(0)).Err; err != nil {
				t.Error(name, err)
			}
		}
		if err := d.click(number); err != nil {
			t.Error(err)
		}
		if got := receive(t, pressed); got != c.id {
			t.Errorf("%q presses %q, want %q", c.label, got, c.id)
		}
	}

	var gone []int32
	clicks := []event{
		{9999, "clicked", dbus.MakeVariant(""), 0}, {d.number("Stop"), "clicked", dbus.MakeVariant(int32(0)), 0},
	}
	if err := d.call("EventGroup", clicks).Store(&gone); err != nil || !cmp.Equal(gone, []int32{9999}) {
		t.Error(gone, err)
	}
	if got := receive(t, pressed); got != "stop:r" {
		t.Error(got)
	}

	// A click that comes late hits nothing, not the row that came instead.
	late := d.number("a: x")
	b.Show(Build(Facts{Waiting: []Question{{ID: "q2", Agent: "a", Command: "x"}}}))
	if d.click(late) == nil {
		t.Error("a row that is gone can be clicked")
	}
	if err := d.click(d.number("Quit Countersign")); err != nil {
		t.Error(err)
	}
	if got := receive(t, pressed); got != "quit" {
		t.Errorf("%q was pressed late", got)
	}
}

// TestPressCallsBack clicks faster than the app answers, and answers by
// changing the menu and closing it.
func TestPressCallsBack(t *testing.T) {
	sessionBus(t)
	var b *Bar
	ready, done := make(chan bool), make(chan bool)
	d, b := start(t, func(string) {
		<-ready
		b.Show(Build(Facts{Paused: true}))
		b.Close()
		close(done)
	})
	quit := d.number("Quit Countersign")
	for range 100 {
		if err := d.click(quit); err != nil {
			t.Fatal(err)
		}
	}
	b.Show(Build(Facts{Now: noon}))
	close(ready)
	select {
	case <-done:
	case <-time.After(patience):
		t.Fatal("press hangs")
	}
}

func TestChanges(t *testing.T) {
	sessionBus(t)
	d, b := start(t, ignore)
	f := Facts{
		Now: noon, Waiting: []Question{question("1", "a", "x", time.Minute)},
		Agents: []Agent{{ID: "a", Name: "A", Mode: "deny"}, {ID: "b", Name: "B", Mode: "deny"}},
	}
	b.Show(Build(f))
	d.heard("LayoutUpdated")
	before := d.rows()

	// Another second and another mode change rows in place. The same menu
	// says nothing: of three, only one is heard.
	b.Show(Build(f))
	f.Now = noon.Add(time.Second)
	f.Agents[0].Mode = "allow-all"
	b.Show(Build(f))
	b.Show(Build(f))
	f.Waiting = append(f.Waiting, question("2", "a", "y", time.Hour))
	b.Show(Build(f))
	if got := d.heard("LayoutUpdated"); !cmp.Equal(got, []string{"ItemsPropertiesUpdated", "NewTitle", "NewToolTip", "LayoutUpdated"}) {
		t.Error(got)
	}
	after := d.rows()
	number := map[string]int32{}
	for _, r := range after {
		number[r.line] = r.number
	}
	for was, is := range map[string]string{
		"a: x — 1:00": "a: x — 0:59", "A — Deny": "A — Allow all", "(Agents)": "(Agents)", "Quit Countersign": "Quit Countersign",
	} {
		for _, r := range before {
			if r.line == was && r.number != number[is] {
				t.Errorf("%s is another row than %s", is, was)
			}
		}
	}
	if got := lines(after); !strings.Contains(got, "a: y — 59:59\n") || !strings.Contains(got, "A — Allow all\n  [ ] Deny\n") ||
		!strings.Contains(got, "  [x] Allow all\nB — Deny\n  [x] Deny\n") {
		t.Error(got)
	}

	// Who holds the old rows learns what changed in them, and no more.
	f.Now = noon.Add(2 * time.Second)
	b.Show(Build(f))
	for {
		var s *dbus.Signal
		select {
		case s = <-d.signals:
		case <-time.After(patience):
			t.Fatal("no signal")
		}
		if s.Name != menuName+".ItemsPropertiesUpdated" {
			continue
		}
		var changed []update
		var gone []removed
		if err := dbus.Store(s.Body, &changed, &gone); err != nil {
			t.Fatal(err)
		}
		want := []update{
			{number["a: x — 0:59"], values{"label": dbus.MakeVariant("a: x — 0:58")}},
			{number["a: y — 59:59"], values{"label": dbus.MakeVariant("a: y — 59:58")}},
		}
		if diff := cmp.Diff(want, changed, cmp.Comparer(func(a, b dbus.Variant) bool { return a.String() == b.String() })); diff != "" || len(gone) > 0 {
			t.Error(diff, gone)
		}
		break
	}

	// Rows that move keep their number; twins keep theirs apart.
	f.Agents[0], f.Agents[1] = f.Agents[1], f.Agents[0]
	f.Waiting = []Question{question("1", "a", "x", time.Minute), question("1", "a", "x", time.Minute)}
	b.Show(Build(f))
	d.heard("LayoutUpdated")
	moved := d.number("A — Allow all")
	if moved != number["A — Allow all"] {
		t.Error("an agent that moves is another row")
	}
	twins := map[int32]bool{}
	for _, r := range d.rows() {
		twins[r.number] = true
	}
	if len(twins) != len(d.rows()) {
		t.Error("two rows have one number")
	}
}

// TestPanels lets panels come and go.
func TestPanels(t *testing.T) {
	sessionBus(t)
	b, err := Start(ignore)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	b.Show(Build(Facts{Paused: true}))
	for range 2 {
		d := newDesk(t)
		d.registered()
		var title string
		if d.property("Title", &title); title != "Countersign: paused" {
			t.Errorf("a panel that comes later shows %q", title)
		}
		d.conn.Close()
	}
	d := newDesk(t)
	d.registered()
	b.Close()
	b.Close()
	b.Show(Build(Facts{}))
	if d.call("AboutToShow", int32(0)).Err == nil {
		t.Error("the item answers after it was closed")
	}
}

func TestManyShow(t *testing.T) {
	sessionBus(t)
	d, b := start(t, ignore)
	done := make(chan bool)
	for i := range 4 {
		go func() {
			for n := range 50 {
				f := Facts{Now: noon}
				for q := range (n + i) % 7 {
					f.Waiting = append(f.Waiting, question(strings.Repeat("q", q), "a", "x", time.Duration(n)*time.Second))
				}
				b.Show(Build(f))
			}
			done <- true
		}()
	}
	for running := 4; running > 0; {
		select {
		case <-done:
			running--
		default:
			d.click(d.number("Quit Countersign"))
		}
	}
	b.Show(Build(Facts{}))
	if got := lines(d.rows()); got != haltLines+"---\nSettings…\n---\nQuit Countersign\n" {
		t.Error(got)
	}
}

func TestNoBus(t *testing.T) {
	t.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path="+t.TempDir()+"/none")
	b, err := Start(func(string) { t.Error("pressed") })
	if err == nil || !strings.Contains(err.Error(), "session bus") {
		t.Error(err)
	}
	b.Show(Build(Facts{Paused: true}))
	b.Close()
}

// TestBusEnds takes the bus away under the item, as a session that ends does.
func TestBusEnds(t *testing.T) {
	end := sessionBus(t)
	b, err := Start(ignore)
	if err != nil {
		t.Fatal(err)
	}
	end()
	b.Show(Build(Facts{Paused: true}))
	select {
	case <-b.conn.Context().Done():
	case <-time.After(patience):
		t.Fatal("the connection outlives the bus")
	}
	b.Show(Build(Facts{Waiting: []Question{{ID: "q"}}}))
	b.Close()
}

func TestPixmap(t *testing.T) {
	picture := image.NewNRGBA(image.Rect(0, 0, 2, 1))
	picture.SetNRGBA(0, 0, color.NRGBA{R: 10, G: 20, B: 30, A: 40})
	picture.SetNRGBA(1, 0, color.NRGBA{R: 1, G: 2, B: 3, A: 255})
	want := pixmap{2, 1, []byte{40, 10, 20, 30, 255, 1, 2, 3}}
	if got := newPixmap(picture); !cmp.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
