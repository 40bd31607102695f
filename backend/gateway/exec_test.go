package gateway

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/config"
	"github.com/countersign-app/countersign/backend/link"
)

// TestResolve is the precedence: the call, the session, the agent, everybody.
func TestResolve(t *testing.T) {
	const file = `{tools: {exec: {host: "node", security: "allowlist", ask: "on-miss", node: "mini"}},
		agents: {list: [{id: "own", tools: {exec: {host: "gateway", hosts: ["node"], ask: "always", node: "maxi"}}}, {id: "open", tools: {exec: {security: "full", ask: "off"}}}]}}`
	c, err := config.Parse("gateway.json5", []byte(file))
	must(t, err)
	on := func(level string) session { return session{Elevated: level} }
	set := func(o config.Override) session { return session{Override: o} }
	for _, row := range []struct {
		agent   string
		session session
		call    config.Override
		want    string // host security ask bound/asked, and where host and security come from
	}{
		{"main", session{}, config.Override{}, "node allowlist on-miss mini/ tools.exec.host tools.exec.security"},
		{"own", session{}, config.Override{}, "gateway allowlist always maxi/ agents.list[own].tools.exec.host tools.exec.security"},
		{"own", session{}, config.Override{Host: "node", Node: "x"}, "node allowlist always maxi/x the call tools.exec.security"},
		{"own", session{}, config.Override{Host: "sandbox"}, "exec host not allowed (configured is gateway, requested sandbox): list it in tools.exec.hosts"},
		{"main", session{}, config.Override{Host: "node"}, "node allowlist on-miss mini/ tools.exec.host tools.exec.security"},
		{"main", session{}, config.Override{Security: "deny", Ask: "always"}, "node deny always mini/ tools.exec.host the call"},
		{"main", session{}, config.Override{Security: "full", Ask: "off"}, "node allowlist on-miss mini/ tools.exec.host tools.exec.security"},
		{"open", session{}, config.Override{Security: "allowlist"}, "node allowlist off mini/ tools.exec.host the call"},
		{"main", set(config.Override{Host: "gateway", Security: "full", Ask: "off", Node: "x"}), config.Override{}, "gateway full off x/ /exec /exec"},
		{"main", set(config.Override{Security: "full"}), config.Override{Security: "allowlist"}, "node allowlist on-miss mini/ tools.exec.host the call"},
		{"main", set(config.Override{Security: "deny"}), config.Override{Security: "full"}, "node deny on-miss mini/ tools.exec.host /exec"},
		{"main", on("on"), config.Override{}, "gateway full on-miss mini/ /elevated on /elevated on"},
		{"own", on("on"), config.Override{}, "gateway full always maxi/ /elevated on /elevated on"},
		{"main", on("ask"), config.Override{}, "gateway full always mini/ /elevated ask /elevated ask"},
		{"main", on("full"), config.Override{}, "gateway full off mini/ /elevated full /elevated full"},
		{"main", on("ask"), config.Override{Ask: "off", Security: "allowlist"}, "gateway allowlist off mini/ /elevated ask the call"},
		{"main", on("full"), config.Override{Host: "sandbox"}, "exec host not allowed (configured is gateway, requested sandbox): list it in tools.exec.hosts"},
	} {
		r, err := resolve(c.For(row.agent), row.session, row.call)
		got := fmt.Sprintf("%s %s %s %s/%s %s %s", r.Host, r.Security, r.Ask, r.Bound, r.Node, r.Origins["host"], r.Origins["security"])
		if err != nil {
			got = err.(*link.Error).Message
		}
		if got != row.want {
			t.Errorf("%s %+v %+v\n got %s\nwant %s", row.agent, row.session, row.call, got, row.want)
		}
	}
	r, err := resolve(config.Config{}.For("main"), session{}, config.Override{})
	if err != nil || r.Host != approval.HostSandbox || r.denied() != nil {
		t.Errorf("%+v %v", r, err)
	}
	if r.Host = approval.HostGateway; r.denied() == nil || !strings.Contains(r.denied().Error(), "security=deny (built in)") {
		t.Error(r.denied())
	}
}

func TestChoose(t *testing.T) {
	runs := []string{"system.run"}
	list := []nodeInfo{
		{ID: "aaaaaaaa1111", Name: "Mac Mini", IP: "10.0.0.1", Connected: true, Commands: runs},
		{ID: "aaaaaaaa2222", Name: "Studio", IP: "10.0.0.2", Connected: true},
		{ID: "bbbbbbbb", Name: "mac-mini", IP: "10.0.0.3", Commands: runs},
		{ID: "cccccccc", Name: "Twin", IP: "10.0.0.4", Connected: true, Commands: runs},
		{ID: "dddddddd", Name: "twin", IP: "10.0.0.4", Connected: true, Commands: runs},
		{ID: "eeeeeeee", Name: "Old", IP: "10.0.0.5", Commands: runs},
		{ID: "ffffffff", Name: "old", IP: "10.0.0.6", Commands: runs},
	}
	one := list[:3]
	for _, row := range []struct {
		asked, bound string
		list         []nodeInfo
		want         string
	}{
		{"aaaaaaaa1111", "", list, "aaaaaaaa1111"},
		{"MAC mini", "", list, "aaaaaaaa1111"}, // the one that is connected
		{"mac.mini!", "", list, "aaaaaaaa1111"},
		{"10.0.0.1", "", list, "aaaaaaaa1111"},
		{"aaaaaaaa1", "", list, "aaaaaaaa1111"},
		{"aaaaaa", "", list, "ambiguous node"},
		{"aaaaa", "", list, `unknown node: "aaaaa" (known: Mac Mini (aaaaaaaa1111), Studio`},
		{"twin", "", list, "ambiguous node"},
		{"10.0.0.4", "", list, "ambiguous node"},
		{"old", "", list, "none of them is connected"},
		{"eeeeeeee", "", list, "is not connected"},
		{"Studio", "", list, "approve what it offers"},
		{"", "", list, "several nodes may run commands, so name one: Mac Mini (aaaaaaaa1111), Twin"},
		{"", "", one, "aaaaaaaa1111"},
		{"", "", list[1:3], "no node is connected that may run commands (known: Studio"},
		{"", "", nil, "(known: none)"},
		{"", "dddddddd", list, "dddddddd"},
		{"", "bbbbbbbb", list, "is not connected"},
		{"mac mini", "aaaaaaaa1111", list, "aaaaaaaa1111"},
		{"dddddddd", "mac mini", list, "exec node not allowed (bound to mac mini, requested resolved to dddddddd)"},
		{"dddddddd", "nobody", list, "exec node not allowed"},
		{"   ", "", list, "unknown node"},
		{"---", "", append(slices.Clone(list), nodeInfo{ID: "gggggggg", Name: "", Connected: true}), "unknown node"},
	} {
		n, err := choose(row.asked, row.bound, row.list)
		if got := n.ID; err == nil && got != row.want || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%q bound to %q: %s %v, want %s", row.asked, row.bound, got, err, row.want)
		}
	}
}

const onNodes = `{tools: {exec: {host: "node", security: "allowlist", ask: "on-miss", timeoutSeconds: 600}}}`

// TestExec leads commands to a node, with what it must be told and nothing
// else.
func TestExec(t *testing.T) {
	w := newWorld(t, onNodes)
	var last link.RunParams
	mini := w.node("mini", func(r request) (any, *link.Error) {
		last = link.RunParams{}
		if r.Command != "system.run" || json.Unmarshal([]byte(*r.ParamsJSON), &last) != nil {
			return nil, link.Refuse("X", "what is this?")
		}
		if last.Command[0] == "no" {
			return nil, &link.Error{Code: "UNAVAILABLE", Message: "SYSTEM_RUN_DENIED: user denied", Details: []byte(`{"reason":"user-denied"}`)}
		}
		return map[string]any{"exitCode": 3, "success": false, "stdout": "out", "stderr": "err"}, nil
	})
	agent := w.operator(scopeWrite)
	for _, row := range []struct {
		params string
		want   string // of the answer
		told   string // to the node: words, folder, environment, milliseconds, agent, session, security, ask
	}{
		{`{"command":["ls","-l"]}`, `"exitCode":3`, `[ls -l] - map[] 600000 main agent:main:main allowlist on-miss`},
		{`{"command":"ls | wc","workdir":"/tmp","env":{"A":"1"},"timeout":1.5,"agentId":"a","sessionKey":"s","security":"deny"}`, `UNAVAILABLE: SYSTEM_RUN_DISABLED: security=deny (the call)`, ``},
		{`{"command":"ls | wc","workdir":"/tmp","env":{"A":"1"},"timeout":1.5,"agentId":"a","sessionKey":"s","ask":"always","security":"full"}`, `"stdout":"out"`, `[/bin/sh -lc ls | wc] /tmp map[A:1] 1500 a s allowlist always`},
		{`{"command":["no"],"approved":true,"approvalDecision":"allow-once"}`, `UNAVAILABLE: SYSTEM_RUN_DENIED: user denied`, `[no] - map[] 600000 main agent:main:main allowlist on-miss`},
		{`{"command":["ls"],"timeout":100000}`, `INVALID_REQUEST: invalid params: timeout`, ``},
		{`{"command":["ls"],"timeout":1000}`, `"exitCode":3`, `[ls] - map[] 600000 main agent:main:main allowlist on-miss`},
		{`{"command":["ls"],"host":"gateway"}`, `INVALID_REQUEST: exec host not allowed`, ``},
		{`{"command":["ls"],"node":"maxi"}`, `INVALID_REQUEST: unknown node: "maxi" (known: mini`, ``},
	} {
		last = link.RunParams{}
		got := agent.call("exec.run", json.RawMessage(row.params))
		told := ""
		if len(last.Command) > 0 {
			told = fmt.Sprint(last.Command, " ", cmp.Or(last.Cwd, "-"), " ", last.Env, " ", last.TimeoutMs, " ", last.AgentID, " ", last.SessionKey, " ", last.Security, " ", last.Ask)
		}
		if !strings.Contains(got, row.want) || told != row.told {
			t.Errorf("%s\n got %s\n     %s\nwant %s", row.params, got, told, row.told)
		}
	}
	// Whoever invokes system.run itself is held to the same.
	invoke := func(key, params string) string {
		last = link.RunParams{}
		return agent.call("node.invoke", map[string]any{"nodeId": mini.id, "command": "system.run", "idempotencyKey": key, "params": json.RawMessage(params)})
	}
	if got := invoke("1", `{"command":["ls"],"approvalSource":"x","security":"full","ask":"off","extra":1}`); !strings.Contains(got, "out") || last.Security != "allowlist" || last.Ask != "on-miss" {
		t.Errorf("%s %+v", got, last)
	}
	// A node that would not heed what is asked of caution gets nothing.
	c := asNode("foreign", "system.run")
	c.Caps = nil
	foreign, err := w.dial(device1(t), c, echo)
	must(t, err)
	w.approve(foreign.id)
	if got := agent.call("exec.run", json.RawMessage(`{"command":["ls"],"node":"foreign"}`)); !strings.Contains(got, "decides by its own policy alone") {
		t.Error(got)
	}
	w.configure(`{tools: {exec: {host: "node", security: "full", ask: "off"}}}`)
	if got := agent.call("exec.run", json.RawMessage(`{"command":["ls"],"node":"foreign"}`)); !strings.Contains(got, `"exitCode":0`) {
		t.Error(got)
	}
	foreign.conn.Close("bye")
	for end := time.Now().Add(patience); w.g.node(foreign.id) != nil && time.Now().Before(end); time.Sleep(time.Millisecond) {
	}
	w.configure(`{}`)
	if got := invoke("2", `{"command":["ls"],"security":"full"}`); !strings.Contains(got, "security=deny") || last.Command != nil {
		t.Error(got)
	}
	if got := agent.call("exec.run", json.RawMessage(`{"command":["ls"]}`)); !strings.Contains(got, "no sandbox is configured") {
		t.Error(got)
	}
}

// TestBrokenConfig keeps what held while the file is broken.
func TestBrokenConfig(t *testing.T) {
	w := newWorld(t, onNodes)
	w.node("mini", echo)
	agent := w.operator(scopeWrite)
	run := func() string { return agent.call("exec.run", json.RawMessage(`{"command":["ls"]}`)) }
	if got := run(); !strings.Contains(got, `"exitCode":0`) {
		t.Fatal(got)
	}
	w.configure(`{tools: {exec: {host: "moon"}}}`)
	if got := run(); !strings.Contains(got, `"exitCode":0`) {
		t.Error(got)
	}
	w.configure(`{tools: {exec: {host: "node", security: "deny"}}}`)
	if got := run(); !strings.Contains(got, "security=deny") {
		t.Error(got)
	}
}

// TestSessions sets sessions by commands, which is for who may do that.
func TestSessions(t *testing.T) {
	w := newWorld(t, onNodes)
	boss, agent := w.operator(), w.operator(scopeWrite)
	say := func(l *line, session, text string) string {
		return l.call("session.command", map[string]string{"agentId": "main", "sessionKey": session, "text": text})
	}
	shows := func(session, want string) {
		t.Helper()
		if got := say(boss, session, "/exec"); !strings.Contains(got, want) {
			t.Errorf("%s, want %s", got, want)
		}
	}
	if got := say(agent, "s", "/elevated full"); got != "INVALID_REQUEST: missing scope: operator.admin" {
		t.Error(got)
	}
	shows("s", "host=node (tools.exec.host) security=allowlist (tools.exec.security) ask=on-miss (tools.exec.ask)")
	say(boss, "s", "/exec host=gateway ask=off")
	shows("s", "host=gateway (/exec) security=allowlist (tools.exec.security) ask=off (/exec)")
	shows("other", "host=node (tools.exec.host)")
	for _, level := range []struct{ name, want string }{
		{"on", "host=gateway (/elevated on) security=full (/elevated on) ask=off (/exec)"},
		{"ask", "security=full (/elevated ask) ask=always (/elevated ask)"},
		{"full", "security=full (/elevated full) ask=off (/elevated full)"},
		{"off", "host=gateway (/exec) security=allowlist (tools.exec.security) ask=off (/exec)"}, // what held before the first of them
	} {
		say(boss, "s", "/elevated "+level.name)
		shows("s", level.want)
	}
	if got := say(boss, "s", "hello"); got != `{"handled":false,"rest":"hello"}` {
		t.Error(got)
	}
	if got := say(boss, "s", "/exec ask=never"); !strings.Contains(got, "nobody knows ask=never") {
		t.Error(got)
	}
	say(boss, "s", "/exec host=auto")
	shows("s", "host=gateway (/exec)") // there is no sandbox
	say(boss, "kept", "/exec host=gateway save")
	boss.call("session.end", sessionParams{"main", "s"})
	boss.call("session.end", sessionParams{"main", "kept"})
	shows("s", "host=node (tools.exec.host)")
	shows("kept", "host=gateway (/exec)")
	w.g.sessions.forget(time.Now().Add(sessionTime + time.Minute))
	w.stop()
	w.start()
	boss = w.operator()
	shows("kept", "host=gateway (/exec)")
	if info, err := os.Stat(w.opt.State.Sessions()); err != nil || info.Mode().Perm() != 0o600 {
		t.Error(info, err)
	}
}

var runID = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)

// TestBackground runs beside the agent, whose session is told in the words of
// the plan, once each.
func TestBackground(t *testing.T) {
	w := newWorld(t, onNodes)
	type told struct {
		id     string
		params link.RunParams
	}
	asked, answer := make(chan told, 1), make(chan any, 1)
	node := w.node("mini", func(r request) (any, *link.Error) {
		var p link.RunParams
		_ = json.Unmarshal([]byte(*r.ParamsJSON), &p)
		asked <- told{r.ID, p}
		switch a := (<-answer).(type) {
		case *link.Error:
			return nil, a
		default:
			return a, nil
		}
	})
	agent, other := w.operator(scopeWrite), w.operator(scopeWrite)
	begin := func() (told, map[string]string) {
		t.Helper()
		var v runView
		must(t, agent.conn.Call(t.Context(), "exec.run", json.RawMessage(`{"command":["make"],"background":true,"sessionKey":"s"}`), &v))
		return <-asked, map[string]string{"runId": v.RunID, "sessionKey": "s"}
	}
	status := func(q map[string]string, want string) {
		t.Helper()
		for end := time.Now().Add(patience); ; time.Sleep(5 * time.Millisecond) {
			got := agent.call("exec.status", q)
			if strings.Contains(got, want) {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%s, want %s", got, want)
			}
		}
	}
	events := func(want ...string) {
		t.Helper()
		var got struct{ Events []sessionEvent }
		must(t, agent.conn.Call(t.Context(), "session.events", sessionParams{"", "s"}, &got))
		var texts []string
		for _, e := range got.Events {
			texts = append(texts, runID.ReplaceAllString(strings.ReplaceAll(e.Text, node.id, "NODE"), "RUN"))
		}
		if !slices.Equal(texts, want) {
			t.Errorf("%q, want %q", texts, want)
		}
	}
	progress := func(n told, state string) {
		node.call("node.invoke.progress", map[string]any{"invokeId": n.id, "nodeId": node.id, "seq": 0, "chunk": `{"state":"` + state + `"}`})
	}
	happens := func(n told, event string, payload map[string]any) {
		t.Helper()
		payload["runId"], payload["sessionKey"] = n.params.RunID, "s"
		if got := node.call("node.event", map[string]any{"event": event, "payload": payload}); !strings.Contains(got, `"handled":true`) {
			t.Error(got)
		}
	}

	n, q := begin()
	if n.params.SuppressNotify || n.params.RunID != q["runId"] {
		t.Errorf("%+v", n.params)
	}
	status(q, stateWaiting)
	progress(n, "asked")
	status(q, stateAsked)
	progress(n, "started")
	happens(n, "exec.started", map[string]any{})
	status(q, stateRunning)
	if got := agent.call("exec.output", q); !strings.Contains(got, "has not ended") {
		t.Error(got)
	}
	for _, method := range []string{"exec.status", "exec.output", "exec.stop"} { // of another session
		if got := other.call(method, map[string]string{"runId": q["runId"], "sessionKey": "t"}); got != "INVALID_REQUEST: unknown runId" {
			t.Error(got)
		}
	}
	happens(n, "exec.finished", map[string]any{"exitCode": 2, "output": "the end"})
	answer <- map[string]any{"exitCode": 2, "stdout": "the end\n"}
	status(q, stateFinished)
	happens(n, "exec.finished", map[string]any{"exitCode": 2})
	happens(n, "exec.started", map[string]any{})
	if got := agent.call("exec.output", q); !strings.Contains(got, `"stdout":"the end\n"`) {
		t.Error(got)
	}
	events("Exec started (node=NODE, id=RUN)", "Exec finished (node=NODE, id=RUN, code=2)\nthe end")
	events()

	n, q = begin()
	answer <- &link.Error{Code: "UNAVAILABLE", Message: "SYSTEM_RUN_DENIED", Details: []byte(`{"reason":"user-denied"}`)}
	status(q, stateDenied)
	events("Exec denied (node=NODE, id=RUN, user-denied)")

	n, q = begin()
	progress(n, "started")
	answer <- map[string]any{"exitCode": nil, "error": approval.EndedBySignal + "9"}
	status(q, stateFinished)
	events("Exec started (node=NODE, id=RUN)", "Exec finished (node=NODE, id=RUN, code=signal:9)\n"+approval.EndedBySignal+"9")

	n, q = begin()
	progress(n, "started")
	answer <- map[string]any{"exitCode": nil, "timedOut": true, "stdout": strings.Repeat("x", 2*maxTail) + "end"}
	status(q, stateFinished)
	events("Exec started (node=NODE, id=RUN)", "Exec finished (node=NODE, id=RUN, code=timeout)\n… (truncated) "+strings.Repeat("x", maxTail-17)+"end")

	n, q = begin()
	if got := agent.call("exec.stop", q); !strings.Contains(got, stateDenied) {
		t.Error(got)
	}
	if text := string(node.event("node.invoke.cancel")); !strings.Contains(text, n.id) {
		t.Error(text)
	}
	answer <- map[string]any{"exitCode": 0} // too late
	events("Exec denied (node=NODE, id=RUN, it was cancelled)")

	_, _ = begin()
	agent.call("session.end", sessionParams{"", "s"})
	node.event("node.invoke.cancel")
	answer <- nil
}

// TestForeground cancels what nobody waits for, and tells the session nothing
// of what its agent hears anyway.
func TestForeground(t *testing.T) {
	w := newWorld(t, onNodes)
	asked := make(chan link.RunParams, 4)
	node := w.node("mini", func(r request) (any, *link.Error) {
		var p link.RunParams
		_ = json.Unmarshal([]byte(*r.ParamsJSON), &p)
		asked <- p
		if p.Command[0] == "wait" {
			return nil, nil
		}
		return map[string]any{"exitCode": 0, "success": true}, nil
	})
	agent := w.operator(scopeWrite)
	agent.call("exec.run", json.RawMessage(`{"command":["ls"]}`))
	if p := <-asked; !p.SuppressNotify {
		t.Error("the node tells of it too")
	}
	if got := agent.call("session.events", nil); got != `{"events":[]}` {
		t.Error(got)
	}
	go agent.call("exec.run", json.RawMessage(`{"command":["wait"]}`))
	<-asked
	agent.conn.Close("bye")
	node.event("node.invoke.cancel")
}

// TestMany routes the events of 50 nodes to 500 sessions, in order.
func TestMany(t *testing.T) {
	w := newWorld(t, onNodes)
	const nodes, sessions = 50, 500
	for i := range nodes {
		w.node(fmt.Sprint("node ", i), func(r request) (any, *link.Error) {
			var p link.RunParams
			_ = json.Unmarshal([]byte(*r.ParamsJSON), &p)
			return map[string]any{"exitCode": 0, "success": true, "stdout": fmt.Sprint("node ", i, " ", p.Command[1])}, nil
		})
	}
	agent := w.operator(scopeWrite)
	var all sync.WaitGroup
	for s := range sessions {
		all.Go(func() {
			for i := range 3 {
				node := fmt.Sprint("node ", (s+i)%nodes)
				q := map[string]any{"command": []string{"echo", fmt.Sprint(s, ".", i)}, "node": node, "sessionKey": fmt.Sprint("s", s), "background": i > 0}
				got := agent.call("exec.run", q)
				if i == 0 && !strings.Contains(got, fmt.Sprintf(`"stdout":"%s %d.0"`, node, s)) {
					t.Error(got)
				}
				for end := time.Now().Add(patience); i > 0 && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
					var v runView
					must(t, json.Unmarshal([]byte(got), &v))
					if strings.Contains(agent.call("exec.status", map[string]string{"runId": v.RunID, "sessionKey": fmt.Sprint("s", s)}), stateFinished) {
						break
					}
				}
			}
		})
	}
	all.Wait()
	for s := range sessions {
		var got struct{ Events []sessionEvent }
		must(t, agent.conn.Call(t.Context(), "session.events", sessionParams{"", fmt.Sprint("s", s)}, &got))
		var ends []string
		for _, e := range got.Events {
			_, output, _ := strings.Cut(e.Text, "\n")
			ends = append(ends, output)
		}
		want := []string{fmt.Sprintf("node %d %d.1", (s+1)%nodes, s), fmt.Sprintf("node %d %d.2", (s+2)%nodes, s)}
		if !slices.Equal(ends, want) {
			t.Errorf("%q, want %q", ends, want)
		}
	}
}

// TestQueue bounds the events of a session, and keeps their order.
func TestQueue(t *testing.T) {
	var s sessions
	must(t, s.open(filepath.Join(t.TempDir(), "sessions.json")))
	key := sessionID{"main", "s"}
	for i := range maxEvents + 5 {
		must(t, s.put(key, sessionEvent{Text: fmt.Sprint(i)}))
	}
	list := s.list[key].events
	for i, e := range list {
		if e.Text != fmt.Sprint(i+5) {
			t.Fatalf("%d: %s", i, e.Text)
		}
	}
	if len(list) != maxEvents {
		t.Error(len(list))
	}
	for range 4 {
		must(t, s.put(key, sessionEvent{Text: strings.Repeat("x", maxEventBytes/3)}))
	}
	if got := s.list[key]; len(got.events) != 3 || got.bytes > maxEventBytes {
		t.Error(len(got.events), got.bytes)
	}
	for i := range maxSessions + 1 {
		if err := s.put(sessionID{"main", fmt.Sprint("t", i)}, sessionEvent{}); (err != nil) != (i >= maxSessions-1) {
			t.Fatal(i, err)
		}
	}
	s.forget(time.Now().Add(sessionTime + time.Minute))
	if n := len(slices.Collect(maps.Keys(s.list))); n != 0 {
		t.Error(n, "sessions stay")
	}
}
