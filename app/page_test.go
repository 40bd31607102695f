//go:build linux || darwin

package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/pending"
	"github.com/countersign-app/countersign/frontend"
)

// page serves the built page to a browser, and takes its calls in the place
// of Wails: the real facades, for whoever has the token and comes from here.
type page struct {
	token   string
	origin  string
	facades map[string]reflect.Value

	mu        sync.Mutex
	listeners map[chan string]bool
}

// bridge is what Wails would put into the page.
const bridge = `
const token = location.hash.slice(1)
const listeners = {}
const call = (facade, method) => (...args) => fetch('/call', {
  method: 'POST', headers: { 'X-Token': token }, body: JSON.stringify({ facade, method, args }),
}).then(async (r) => { if (!r.ok) throw new Error(await r.text()); return r.json() })
const facade = (name) => new Proxy({}, { get: (_, method) => call(name, method) })
window.go = { main: { Activity: facade('Activity'), Approvals: facade('Approvals'), Settings: facade('Settings') } }
window.runtime = {
  EventsOnMultiple(name, f) { (listeners[name] ??= []).push(f); return () => { listeners[name] = listeners[name].filter((g) => g !== f) } },
}
new EventSource('/events?token=' + token).onmessage = (e) => {
  const { event, data } = JSON.parse(e.data)
  for (const f of listeners[event] ?? []) f(...(data ?? []))
}
`

// servePage serves the page of an app, whose window it becomes.
func servePage(t *testing.T, a *testApp) (p *page, at string) {
	t.Helper()
	p = &page{token: rand.Text(), listeners: map[chan string]bool{}, facades: map[string]reflect.Value{
		"Activity": reflect.ValueOf(a.activity), "Approvals": reflect.ValueOf(a.approvals), "Settings": reflect.ValueOf(a.settings),
	}}
	server := httptest.NewUnstartedServer(p)
	p.origin = "http://" + server.Listener.Addr().String()
	server.Start()
	t.Cleanup(server.Close)
	t.Cleanup(p.hangUp) // before the server waits for its connections
	a.app.mu.Lock()
	a.app.window = pageWindow{a.window, p}
	a.app.mu.Unlock()
	return p, server.URL + "/#" + p.token
}

// pageWindow is the noted window, whose events go to the browser as well.
type pageWindow struct {
	*testWindow
	page *page
}

func (w pageWindow) Tell(event string, data ...any) {
	w.testWindow.Tell(event, data...)
	text, _ := json.Marshal(map[string]any{"event": event, "data": data}) // plain words cannot fail
	w.page.mu.Lock()
	defer w.page.mu.Unlock()
	for l := range w.page.listeners {
		select {
		case l <- string(text):
		default: // a browser that does not read gets no more
		}
	}
}

func (p *page) hangUp() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for l := range p.listeners {
		close(l)
		delete(p.listeners, l)
	}
}

func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	assets, err := frontend.Assets()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	switch r.URL.Path {
	case "/":
		index, err := fs.ReadFile(assets, "index.html")
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		w.Write(bytes.Replace(index, []byte("<head>"), []byte(`<head><script src="/bridge.js"></script>`), 1))
	case "/bridge.js":
		w.Header().Set("Content-Type", "text/javascript")
		fmt.Fprint(w, bridge)
	case "/favicon.ico":
		w.WriteHeader(http.StatusNoContent)
	case "/call":
		p.call(w, r)
	case "/events":
		p.events(w, r)
	default:
		http.FileServerFS(assets).ServeHTTP(w, r)
	}
}

// may refuses whoever has not got the token or comes from another page.
func (p *page) may(w http.ResponseWriter, r *http.Request, token string) bool {
	origin := r.Header.Get("Origin")
	if subtle.ConstantTimeCompare([]byte(token), []byte(p.token)) != 1 || origin != "" && origin != p.origin ||
		r.Method == http.MethodPost && origin == "" || "http://"+r.Host != p.origin {
		http.Error(w, "not for you", http.StatusForbidden)
		return false
	}
	return true
}

func (p *page) call(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost || !p.may(w, r, r.Header.Get("X-Token")) {
		return
	}
	var c struct {
		Facade, Method string
		Args           []json.RawMessage
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<20)).Decode(&c); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	facade, ok := p.facades[c.Facade]
	if !ok {
		http.Error(w, "no such facade", http.StatusNotFound)
		return
	}
	method := facade.MethodByName(c.Method)
	if !method.IsValid() || method.Type().NumIn() != len(c.Args) {
		http.Error(w, "no such method", http.StatusNotFound)
		return
	}
	in := make([]reflect.Value, len(c.Args))
	for i, arg := range c.Args {
		v := reflect.New(method.Type().In(i))
		if err := json.Unmarshal(arg, v.Interface()); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		in[i] = v.Elem()
	}
	var result any
	if out := method.Call(in); len(out) > 0 {
		result = out[0].Interface()
	}
	_ = json.NewEncoder(w).Encode(result) // the browser has gone: nobody to tell
}

func (p *page) events(w http.ResponseWriter, r *http.Request) {
	if !p.may(w, r, r.URL.Query().Get("token")) {
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.(http.Flusher).Flush()
	l := make(chan string, 64)
	p.mu.Lock()
	p.listeners[l] = true
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		delete(p.listeners, l)
		p.mu.Unlock()
	}()
	for {
		select {
		case text, open := <-l:
			if !open {
				return
			}
			fmt.Fprintf(w, "data: %s\n\n", text)
			w.(http.Flusher).Flush()
		case <-r.Context().Done():
			return
		}
	}
}

// must skips a test that needs something, unless everything must be there.
func must(t *testing.T, there bool, what string) {
	t.Helper()
	switch {
	case there:
	case os.Getenv("COUNTERSIGN_TEST") == "all":
		t.Fatalf("%s: run `make setup build`", what)
	default:
		t.Skipf("skipped: %s (`make test` has it)", what)
	}
}

// TestPage drives the built page in a real browser with the real facades,
// host, socket and programs behind it.
func TestPage(t *testing.T) {
	assets, err := frontend.Assets()
	if err != nil {
		t.Fatal(err)
	}
	_, err = fs.Stat(assets, "index.html")
	must(t, err == nil, "the page is not built")
	_, err = exec.LookPath("node")
	must(t, err == nil, "there is no Node.js")
	_, err = os.Stat(filepath.Join("..", "frontend", "node_modules", "playwright-core"))
	must(t, err == nil, "Playwright is not installed")

	// Each part is a step of frontend/e2e/page.mjs, with what is true before
	// and after it.
	steps := []struct {
		name    string
		command func(*testApp) []string
		after   func(t *testing.T, a *testApp, got string)
	}{
		{"allow once", touch, ran(true)},
		{"deny", touch, func(t *testing.T, a *testApp, got string) {
			ran(false)(t, a, got)
			if !strings.Contains(got, "They say: not now.") {
				t.Errorf("the agent is told: %s", got)
			}
		}},
		{"escape", touch, ran(false)},
		{"early keys", touch, ran(false)},
		{"always", tool, remembered},
		{"for a while", func(a *testApp) []string { return append(tool(a), "build", "x") }, func(t *testing.T, a *testApp, got string) {
			ran(true)(t, a, got)
			list := a.file().Agents["main"].Allowlist
			if len(list) != 1 || list[0].UsesLeft == nil || *list[0].UsesLeft != 5 || !list[0].ArgsExact || list[0].Cwd == "" {
				t.Errorf("written: %+v", list)
			}
		}},
		{"hostile", func(a *testApp) []string {
			return []string{"touch", filepath.Join(a.project, "proof"), `<img src=x onerror="window.pwned=1">`, "</script><b>x</b>", "a\u202eb", "שלום", "🦞"}
		}, ran(false)},
		{"complete", func(*testApp) []string {
			return []string{"echo", strings.Repeat("0123456789 ", 5500) + "the end"}
		}, func(t *testing.T, a *testApp, got string) {}},
		{"elsewhere", touch, func(t *testing.T, a *testApp, got string) {}},
	}
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) {
			a := newTestApp(t, askMe)
			_, at := servePage(t, a)
			answers := a.agent(t.Context(), "main", step.command(a)...)
			q := a.question()
			script := startScript(t, step.name, at)
			if step.name == "elsewhere" {
				script.seen(a)
				a.approvals.Decide(q.ID, q.Seen, "deny", "")
			}
			script.wait(t)
			answer := a.answer(answers)
			told := ""
			if answer.Refused != nil {
				told = answer.Refused.Message
			}
			step.after(t, a, told)
		})
	}
	t.Run("widths", func(t *testing.T) {
		a := newTestApp(t, askMe)
		run := func(args ...string) <-chan ipc.ExecAnswer {
			return a.agent(t.Context(), "main", append(tool(a), args...)...)
		}
		for _, earlier := range []string{"build", "push"} {
			answers := run(earlier, "x")
			a.question()
			p := a.host.Waiting()[0]
			if err := a.host.Answer(p.ID, pending.Shown{Digest: p.Digest(), Count: 1}, approval.Answer{Decision: approval.AllowOnce, By: "panel"}); err != nil {
				t.Fatal(err)
			}
			a.answer(answers)
		}
		_, at := servePage(t, a)
		answers := run("build", "x")
		a.question()
		startScript(t, "widths", at).wait(t)
		if got := a.answer(answers); !got.Success {
			t.Errorf("%+v", got)
		}
		list := a.file().Agents["main"].Allowlist
		if len(list) != 1 || len(list[0].Args) != 0 || list[0].Cwd == "" || time.Until(time.UnixMilli(list[0].ExpiresAt)) > time.Hour {
			t.Errorf("written: %+v", list)
		}
	})
	t.Run("deny for a while", func(t *testing.T) {
		a := newTestApp(t, askMe)
		_, at := servePage(t, a)
		answers := a.agent(t.Context(), "main", touch(a)...)
		a.question()
		startScript(t, "deny for a while", at).wait(t)
		a.answer(answers)
		if again := a.answer(a.agent(t.Context(), "main", touch(a)...)); again.Refused == nil || again.Refused.Reason != approval.ReasonUserDenied {
			t.Errorf("asked again: %+v", again)
		}
		ran(false)(t, a, "")
	})
	t.Run("one of them", func(t *testing.T) {
		a := newTestApp(t, askMe)
		_, at := servePage(t, a)
		first := a.agent(t.Context(), "main", touch(a)...)
		a.question()
		second := a.agent(t.Context(), "main", touch(a)...)
		a.eventually("both share it", func() bool { return a.host.Waiting()[0].Count == 2 })
		startScript(t, "one of them", at).wait(t)
		x, y := a.answer(first), a.answer(second)
		if x.Success == y.Success {
			t.Errorf("%+v and %+v", x, y)
		}
	})
	t.Run("together", func(t *testing.T) {
		a := newTestApp(t, askMe)
		_, at := servePage(t, a)
		var answers []<-chan ipc.ExecAnswer
		for i, command := range [][]string{{"uname", "-s"}, {"whoami"}, {"uname", "-m"}} {
			answers = append(answers, a.agent(t.Context(), "main", command...))
			a.eventually("it waits", func() bool { return len(a.host.Waiting()) == i+1 })
		}
		startScript(t, "together", at).wait(t)
		var ran []bool
		for _, one := range answers {
			ran = append(ran, a.answer(one).Success)
		}
		if want := []bool{true, false, false}; !slices.Equal(ran, want) {
			t.Errorf("ran: %v", ran)
		}
	})
	t.Run("again", func(t *testing.T) {
		a := newTestApp(t, askMe)
		_, at := servePage(t, a)
		ctx, hangUp := context.WithCancel(t.Context())
		a.agent(ctx, "main", touch(a)...)
		a.question()
		script := startScript(t, "again", at)
		script.seen(a)
		hangUp()
		script.wait(t)
		ran(false)(t, a, "")
		if got := a.answer(a.agent(t.Context(), "main", touch(a)...)); !got.Success {
			t.Errorf("it asked again: %+v", got)
		}
		again := a.agent(t.Context(), "main", touch(a)...)
		if q := a.question(); q.Ended != nil {
			t.Error("the yes was had twice")
		}
		a.host.Close()
		<-again
	})
	t.Run("hang up", func(t *testing.T) {
		a := newTestApp(t, askMe)
		_, at := servePage(t, a)
		ctx, hangUp := context.WithCancel(t.Context())
		a.agent(ctx, "main", "touch", "x")
		a.question()
		script := startScript(t, "hang up", at)
		script.seen(a)
		hangUp()
		script.wait(t)
		a.eventually("it is dismissed", func() bool { return len(a.host.Waiting()) == 0 })
	})
	t.Run("would do", func(t *testing.T) {
		a := newTestApp(t, askMe)
		_, at := servePage(t, a)
		repository(t, a.project)
		answers := a.agent(t.Context(), "main", "rm", "-r", "build", "same.txt")
		a.question()
		startScript(t, "would do", at).wait(t)
		a.answer(answers)
		if _, err := os.Stat(filepath.Join(a.project, "build", "new.o")); err != nil {
			t.Error(err)
		}
	})
	t.Run("expired", func(t *testing.T) {
		a := newTestApp(t, askMe)
		_, at := servePage(t, a)
		answers := a.agentUntil(t.Context(), time.Now().Add(30*time.Second), "main", touch(a)...)
		a.question()
		script := startScript(t, "expired", at)
		if got := a.answer(answers); got.Refused == nil || got.Refused.Reason != approval.ReasonPromptExpired {
			t.Errorf("%+v", got)
		}
		script.wait(t)
		ran(false)(t, a, "")
	})
	t.Run("hold", func(t *testing.T) {
		a := newTestApp(t, askMe)
		_, at := servePage(t, a)
		answers := a.agentUntil(t.Context(), time.Now().Add(time.Hour), "main", touch(a)...)
		a.question()
		script := startScript(t, "hold", at)
		script.seen(a)
		script.wait(t)
		if got := a.answer(answers); !got.Success {
			t.Errorf("%+v", got)
		}
	})
	t.Run("two clients", func(t *testing.T) {
		a := newTestApp(t, askMe)
		_, at := servePage(t, a)
		answers := a.agent(t.Context(), "main", touch(a)...)
		a.question()
		startScript(t, "two clients", at).wait(t)
		got := a.answer(answers)
		ran(got.Success)(t, a, "")
		rec := a.latest()
		if want := map[bool]string{true: "allow-once", false: "deny"}[got.Success]; rec.Answer != want {
			t.Errorf("recorded %q, and it ran: %v", rec.Answer, got.Success)
		}
	})
	t.Run("deny for good", func(t *testing.T) {
		a := newTestApp(t, askMe)
		_, at := servePage(t, a)
		answers := a.agent(t.Context(), "main", touch(a)...)
		a.question()
		startScript(t, "deny for good", at).wait(t)
		a.answer(answers)
		if got := a.answer(a.agent(t.Context(), "main", "touch", "another")); got.Refused == nil || got.Refused.Reason != approval.ReasonDenylisted {
			t.Errorf("%+v", got)
		}
	})
	t.Run("take the edit", func(t *testing.T) {
		a := newTestApp(t, askMe)
		_, at := servePage(t, a)
		a.editFile(`"allowlist"`, `"full"`)
		startScript(t, "take the edit", at).wait(t)
		a.eventually("it holds", func() bool { return a.host.Policy().Held == nil && a.file().Defaults.Security == "full" })
	})
	t.Run("paused", func(t *testing.T) {
		a := newTestApp(t, askMe)
		_, at := servePage(t, a)
		if err := a.pause("resumed"); err != nil {
			t.Fatal(err)
		}
		answers := a.agent(t.Context(), "main", touch(a)...)
		a.press("question:" + a.question().ID) // by itself it does not come to the front
		script := startScript(t, "paused", at)
		script.seen(a)
		ran(false)(t, a, "")
		a.openSettings()
		script.wait(t)
		if got := a.answer(answers); !got.Success {
			t.Errorf("%+v", got)
		}
	})
	t.Run("stopped", func(t *testing.T) {
		a := newTestApp(t, askMe)
		_, at := servePage(t, a)
		answers := a.agent(t.Context(), "main", touch(a)...)
		a.question()
		script := startScript(t, "stopped", at)
		script.seen(a)
		if err := a.stopEverything(); err != nil {
			t.Fatal(err)
		}
		script.wait(t)
		if got := a.answer(answers); got.Refused == nil {
			t.Errorf("%+v", got)
		}
		ran(false)(t, a, "")
	})
	t.Run("suggested", func(t *testing.T) {
		a := newTestApp(t, askMe)
		command := append(tool(a), "build", "x")
		for range 3 {
			answers := a.agent(t.Context(), "main", command...)
			q := a.question()
			a.look(q.ID)
			a.approvals.Decide(q.ID, q.Seen, "allow-once", "")
			a.answer(answers)
		}
		_, at := servePage(t, a)
		a.openSettings()
		startScript(t, "suggested", at).wait(t)
		if got := a.answer(a.agent(t.Context(), "main", command...)); !got.Success {
			t.Errorf("%+v", got)
		}
	})
	t.Run("paging", func(t *testing.T) {
		a := newTestApp(t, askMe)
		_, at := servePage(t, a)
		one := a.agent(t.Context(), "one", "touch", filepath.Join(a.project, "one"))
		a.question()
		two := a.agent(t.Context(), "two", "touch", filepath.Join(a.project, "two"))
		a.eventually("both wait", func() bool { return len(a.host.Waiting()) == 2 })
		startScript(t, "paging", at).wait(t)
		if got := a.answer(two); !got.Success {
			t.Errorf("two: %+v", got)
		}
		if got := a.answer(one); got.Refused == nil || got.Refused.Reason != approval.ReasonUserDenied {
			t.Errorf("one: %+v", got)
		}
	})
	t.Run("outside edit", func(t *testing.T) {
		a := newTestApp(t, askMe)
		_, at := servePage(t, a)
		a.editFile(`"allowlist"`, `"full"`)
		script := startScript(t, "outside edit", at)
		script.seen(a)
		answers := a.agent(t.Context(), "main", touch(a)...)
		script.wait(t)
		ran(false)(t, a, "")
		a.answer(answers)
		a.eventually("it is as it was", func() bool { return a.host.Policy().Held == nil && a.file().Defaults.Security == "allowlist" })
	})
	t.Run("settings", func(t *testing.T) {
		a := newTestApp(t, askMe)
		_, at := servePage(t, a)
		a.openSettings()
		startScript(t, "settings", at).wait(t)
		d := a.file()
		if d.Agents["*"] == nil || len(d.Agents["*"].Allowlist) != 1 || d.Agents["*"].Allowlist[0].Pattern != "/usr/bin/uname" {
			t.Errorf("saved: %+v", d.Agents["*"])
		}
	})
	t.Run("activity", func(t *testing.T) {
		a := newTestApp(t, `{"version": 1, "defaults": {"security": "allowlist", "ask": "on-miss", "denylist": ["sudo"]}, "agents": {"*": {"allowlist": [{"pattern": "/usr/bin/id"}]}}}`)
		for i := range 204 {
			a.answer(a.agent(t.Context(), "main", "sh", "-c", fmt.Sprint("id -u | id -g; echo ", i)))
		}
		a.answer(a.agent(t.Context(), "main", "sudo", "nothing", `<img src=x onerror="window.pwned=1">`, "a\u202eb"))
		a.window.saveAs = filepath.Join(a.person.Home, "out.jsonl")
		_, at := servePage(t, a)
		a.openSettings()
		startScript(t, "activity", at).wait(t)
		if text, err := os.ReadFile(a.window.saveAs); err != nil || bytes.Count(text, []byte("\n")) < 204 {
			t.Errorf("exported: %d bytes, %v", len(text), err)
		}
	})
	t.Run("warnings", func(t *testing.T) {
		a := newTestApp(t, `{"version": 1, "defaults": {"security": "allowlist"}, "agents": {"*": {"allowlist": [{"pattern": "/bin/sh"}, {"pattern": "~/gone"}, {"pattern": "id"}]}}}`)
		_, at := servePage(t, a)
		a.openSettings()
		startScript(t, "warnings", at).wait(t)
		if list := a.file().Agents["*"].Allowlist; len(list) != 3 {
			t.Errorf("%+v", list)
		}
	})
	t.Run("import", func(t *testing.T) {
		a := newTestApp(t, `{"version": 1, "defaults": {"security": "allowlist"}, "agents": {"*": {"allowlist": [{"pattern": "/usr/bin/id"}]}}}`)
		a.window.saveAs = filepath.Join(a.person.Home, "list.json")
		lists := []string{
			`{"version": 1, "agents": {"a": {"allowlist": ["/usr/bin/id", "/usr/bin/uname", "/bin/sh"]}}}`,
			`{"version": 1, "agents": {"a": {"allowlist": ["a/b"]}}}`,
		}
		a.window.openFile = func() string { // another one each time
			at := filepath.Join(a.person.Home, "list.json")
			if err := os.WriteFile(at, []byte(lists[0]), 0o600); err != nil {
				t.Error(err)
			}
			lists = lists[1:]
			return at
		}
		_, at := servePage(t, a)
		a.openSettings()
		startScript(t, "import", at).wait(t)
		if list := a.file().Agents["*"].Allowlist; len(list) != 1 {
			t.Errorf("%+v", list)
		}
	})
	t.Run("lists", func(t *testing.T) {
		a := newTestApp(t, askMe)
		tool(a)
		_, at := servePage(t, a)
		a.openSettings()
		startScript(t, "lists", at).wait(t)
		d := a.file().Defaults
		if len(d.SafeBins) != 7 || len(d.SafeBinTrustedDirs) != 0 || len(d.SkillBins) != 1 || d.SkillBins[0].SHA256 == "" || d.AutoAllowSkills == nil || !*d.AutoAllowSkills {
			t.Errorf("%+v", d)
		}
	})
	t.Run("try", func(t *testing.T) {
		a := newTestApp(t, `{"version": 1, "defaults": {"security": "allowlist", "ask": "on-miss", "denylist": ["sudo"]}, "agents": {"main": {"allowlist": [{"pattern": "/usr/bin/id"}]}}}`)
		_, at := servePage(t, a)
		a.openSettings()
		startScript(t, "try", at).wait(t)
		ran(false)(t, a, "")
		if page := a.activity.List(shown.ActivityFilter{}, 0); len(page.Rows) > 0 {
			t.Errorf("recorded: %+v", page.Rows)
		}
	})
	t.Run("keyboard", func(t *testing.T) {
		a := newTestApp(t, `{"version": 1, "defaults": {"security": "allowlist", "ask": "on-miss"}, "agents": {"main": {"allowlist": [{"pattern": "~/tool"}]}}}`)
		_, at := servePage(t, a)
		tool(a)
		answers := a.agent(t.Context(), "main", "touch", "x")
		a.question()
		script := startScript(t, "keyboard", at)
		script.seen(a)
		a.answer(answers)
		a.openSettings()
		script.wait(t)
		if list := a.file().Agents["main"].Allowlist; len(list) != 1 || !list[0].Disabled {
			t.Errorf("%+v", list)
		}
	})
	t.Run("newcomer", func(t *testing.T) {
		a := newTestApp(t, askMe)
		_, at := servePage(t, a)
		run := func(args ...string) <-chan ipc.ExecAnswer {
			return a.agent(t.Context(), "main", append(tool(a), args...)...)
		}
		answers := run("build", "x")
		a.question()
		script := startScript(t, "newcomer", at)
		script.says(a, "allowed 2")
		if got := a.answer(answers); !got.Success {
			t.Fatalf("%+v", got)
		}
		a.openSettings()
		script.says(a, "kept 2")
		if list := a.file().Agents["main"].Allowlist; len(list) == 1 && (list[0].Leased() || list[0].ArgsExact || !slices.Equal(list[0].Args, []string{"build", "x"})) {
			t.Errorf("kept: %+v", list)
		}
		script.wait(t)
		t.Log(strings.ReplaceAll(strings.TrimSpace(script.out.String()), "\n", ", "))
		asked := run("build", "x")
		q := a.question()
		a.approvals.Decide(q.ID, q.Seen, "deny", "")
		a.answer(asked)
	})
	t.Run("first run", func(t *testing.T) {
		a := newTestApp(t, "")
		program := a.testHooks()
		if err := os.Mkdir(filepath.Join(a.person.Home, ".claude"), 0o700); err != nil {
			t.Fatal(err)
		}
		_, at := servePage(t, a)
		startScript(t, "first run", at).wait(t)
		if text, err := os.ReadFile(filepath.Join(a.person.Home, ".claude", "settings.json")); err != nil || !strings.Contains(string(text), program) {
			t.Errorf("%s %v", text, err)
		}
		if d := a.file(); d.Defaults.Security != "allowlist" || d.Defaults.Ask != "on-miss" {
			t.Errorf("%+v", d.Defaults)
		}
	})
}

func touch(a *testApp) []string { return []string{"touch", filepath.Join(a.project, "proof")} }

// tool is a program that an entry can cover.
func tool(a *testApp) []string {
	at := filepath.Join(a.person.Home, "tool")
	if err := os.WriteFile(at, []byte("#!/bin/sh\ntouch proof\n"), 0o755); err != nil {
		panic(err) // the test's own folder
	}
	return []string{at}
}

// remembered checks that the entry holds, is in the settings, and can be taken
// back there.
func remembered(t *testing.T, a *testApp, told string) {
	t.Helper()
	ran(true)(t, a, told)
	if list := a.file().Agents["main"].Allowlist; len(list) != 1 || list[0].AddedBy != "panel" {
		t.Fatalf("written: %+v", list)
	}
	if got := a.answer(a.agent(t.Context(), "main", filepath.Join(a.person.Home, "tool"))); !got.Success {
		t.Errorf("it does not hold: %+v", got)
	}
	_, at := servePage(t, a)
	a.openSettings()
	startScript(t, "take back", at).wait(t)
	if list := a.file().Agents["main"].Allowlist; len(list) != 0 {
		t.Errorf("left: %+v", list)
	}
}

// ran checks whether the command of touch ran.
func ran(want bool) func(*testing.T, *testApp, string) {
	return func(t *testing.T, a *testApp, got string) {
		t.Helper()
		_, err := os.Stat(filepath.Join(a.project, "proof"))
		if ran := err == nil; ran != want {
			t.Errorf("ran: %v, the agent is told: %s", ran, got)
		}
	}
}

// script is one step of the browser.
type script struct {
	cmd *exec.Cmd
	out lockedBuffer
}

func startScript(t *testing.T, step, at string) *script {
	t.Helper()
	s := &script{cmd: exec.CommandContext(t.Context(), "node", "page.mjs", step, at)}
	s.cmd.Dir = filepath.Join("..", "frontend", "e2e")
	s.cmd.WaitDelay = 5 * time.Second
	s.cmd.Stdout, s.cmd.Stderr = &s.out, &s.out
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return s
}

// wait waits for the end of the step.
func (s *script) wait(t *testing.T) {
	t.Helper()
	if err := s.cmd.Wait(); err != nil {
		t.Fatalf("%v\n%s", err, s.out.String())
	}
}

// seen waits until the browser has seen the panel.
func (s *script) seen(a *testApp) {
	a.t.Helper()
	s.says(a, "seen")
}

// says waits for a line of the step.
func (s *script) says(a *testApp, line string) {
	a.t.Helper()
	defer func() {
		if a.t.Failed() {
			a.t.Log(s.out.String())
		}
	}()
	a.eventually("the browser says "+line, func() bool { return strings.Contains("\n"+s.out.String(), "\n"+line+"\n") })
}

// lockedBuffer is written by a process while a test reads it.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// The adapter is a door as well: only the facades, for its own page alone.
func TestPageDoor(t *testing.T) {
	a := newTestApp(t, askMe)
	p, at := servePage(t, a)
	base, _, _ := strings.Cut(at, "/#")
	tests := []struct {
		name, token, origin, host, body string
		status                          int
	}{
		{"a call", p.token, base, "", `{"facade":"Settings","method":"Agents","args":[]}`, 200},
		{"no token", "", base, "", `{"facade":"Settings","method":"Agents"}`, 403},
		{"another page", p.token, "http://evil.example", "", `{"facade":"Settings","method":"Agents"}`, 403},
		{"no page", p.token, "", "", `{"facade":"Settings","method":"Agents"}`, 403},
		{"another name for this machine", p.token, base, "evil.example", `{"facade":"Settings","method":"Agents"}`, 403},
		{"another object", p.token, base, "", `{"facade":"app","method":"quit","args":[]}`, 404},
		{"a method that is not for it", p.token, base, "", `{"facade":"Settings","method":"edit","args":[]}`, 404},
		{"too few words", p.token, base, "", `{"facade":"Settings","method":"SetMode","args":["main"]}`, 404},
		{"words of another kind", p.token, base, "", `{"facade":"Settings","method":"Policy","args":[{}]}`, 400},
	}
	for _, test := range tests {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+"/call", strings.NewReader(test.body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Token", test.token)
		if test.origin != "" {
			r.Header.Set("Origin", test.origin)
		}
		r.Host = test.host
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
		if response.StatusCode != test.status {
			t.Errorf("%s: status %d, want %d", test.name, response.StatusCode, test.status)
		}
	}
	response, err := http.Get(base + "/events?token=" + url.QueryEscape("x"))
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusForbidden {
		t.Errorf("events without the token: status %d", response.StatusCode)
	}
}
