package proxy

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestParse: what is taken for a message, and why not.
func TestParse(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"jsonrpc":"2.0","id":1,"method":"ping"}`, "ping id 1"},
		{`{"jsonrpc":"2.0","id":"a","method":"ping","params":{},"extra":[1]}`, `ping id "a"`},
		{` { "id" : 9007199254740993 , "method" : "ping", "jsonrpc":"2.0"} `, "ping id 9007199254740993"},
		{`{"jsonrpc":"2.0","method":"notifications/initialized"}`, "notifications/initialized"},
		{`{"jsonrpc":"2.0","id":1,"result":{}}`, "answer id 1"},
		{`{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}`, "answer id 1"},
		{`{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"x"}}`, "answer id null"},
		{`{"jsonrpc":"2.0","id":1,"m\u0065thod":"ping"}`, "ping id 1"},

		{``, "! this is no JSON"}, {`{`, "! this is no JSON"}, {`{"a":1}x`, "! this is no JSON"}, {`{"a":1,}`, "! this is no JSON"},
		{"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\xff\"}", "! this is no JSON"},
		{"\ufeff" + `{"jsonrpc":"2.0","id":1,"method":"ping"}`, "! this is no JSON"},
		{`{"jsonrpc":"2.0","id":NaN,"method":"ping"}`, "! this is no JSON"},
		{strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000), "! this is no JSON"},
		{`"x"`, "! a message is a JSON object"}, {`1`, "! a message is a JSON object"}, {`null`, "! a message is a JSON object"},
		{`[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, "! batches are not taken: send each message alone"}, {` []`, "! batches are not taken: send each message alone"},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","method":"tools/call"}`, `! "method" is there twice`},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","m\u0065thod":"tools/call"}`, `! "method" is there twice`},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","Method":"tools/call"}`, `! "Method" is there twice`},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","Params":{}}`, `! "Params" must be written "params"`},
		{`{"jſonrpc":"2.0","id":1,"method":"ping"}`, `! "jſonrpc" must be written "jsonrpc"`},
		{`{"id":1,"method":"ping"}`, `! the message needs "jsonrpc": "2.0"`}, {`{"jsonrpc":2.0,"id":1,"method":"ping"}`, `! the message needs "jsonrpc": "2.0"`},
		{`{"jsonrpc":"2.0","id":1,"method":1}`, "! a text is needed"}, {`{"jsonrpc":"2.0","id":1,"method":null}`, "! a text is needed"},
		{`{"jsonrpc":"2.0","id":1,"method":""}`, "! the method is empty"},
		{`{"jsonrpc":"2.0","id":1,"method":"ping","result":{}}`, "! the message is a request and an answer"},
		{`{"jsonrpc":"2.0","id":1}`, "! an answer has a result or an error"}, {`{"jsonrpc":"2.0","id":1,"result":1,"error":{}}`, "! an answer has a result or an error"},
	} {
		m, err := parse([]byte(c.text))
		got := m.Method
		switch {
		case err != nil:
			got = "! " + err.Error()
		case got == "":
			got = "answer"
		}
		if err == nil && m.ID != nil {
			got += " id " + string(m.ID)
		}
		if got != c.want {
			t.Errorf("%.100q: %s, want %s", c.text, got, c.want)
		}
	}
}

// TestUnclear: what one of the many readers of MCP could take for another
// message.
func TestUnclear(t *testing.T) {
	const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}`
	for _, text := range []string{
		`{"jsonrpc":"2.0","method":"notifications/x","params":` + "\r" + call + "\r}",
		`{"jsonrpc":"2.0","method":"tools/call","params":{}}`, `{"jsonrpc":"2.0","id":null,"method":"tools/call","params":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":"Tools/Call","params":{}}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call ","params":{}}`,
		`{"jsonrpc":"2.0","id":1,"method":"\tresources/READ"}`, `{"jsonrpc":"2.0","id":1,"method":"tools/call\u0000x"}`,
		`{"jsonrpc":"2.0","id":null,"method":"ping"}`, `{"jsonrpc":"2.0","id":true,"method":"ping"}`, `{"jsonrpc":"2.0","id":[1],"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1e9999999999,"method":"ping"}`, `{"jsonrpc":"2.0","result":{}}`,
		`{"jsonrpc":"2.0","id":"` + strings.Repeat("x", 2000) + `","method":"ping"}`,
	} {
		m, err := parse([]byte(text))
		if err == nil {
			err = unclear(m)
		}
		if err == nil {
			t.Errorf("%.100q is passed on", text)
		}
	}
}

// TestKeyOf: each line is spellings of one id; no two lines are the same one.
func TestKeyOf(t *testing.T) {
	seen := map[string]string{}
	for _, line := range []string{
		`1 1.0 1e0 10e-1 0.1E1 1.000 100E-2`, `-1 -1.0`, `0 -0 0.0 0e5 -0.00e-7`, `1.5 15e-1 0.15e1`, `10 1e1 1e+1`, `"1" "\u0031"`, `""`, `"a"`, `"A"`,
		`9007199254740992`, `9007199254740993`, `12345678901234567890123456789`, `12345678901234567890123456788`, `1e400`, `1e401`, `1e-400`, `0.1`, `0.10000000000000000001`,
	} {
		first := ""
		for spelling := range strings.FieldsSeq(line) {
			key, err := keyOf(json.RawMessage(spelling))
			if err != nil {
				t.Errorf("%s: %v", spelling, err)
			}
			if first == "" {
				first = key
			}
			if key != first {
				t.Errorf("%s is %q, the ones before it in the line are %q", spelling, key, first)
			}
		}
		if other, ok := seen[first]; ok {
			t.Errorf("%s and %s are the same", line, other)
		}
		seen[first] = line
	}
	for _, id := range []string{``, `null`, `true`, `{}`, `[]`, `1e1000001`, `1e-99999999999999999999`, `"` + strings.Repeat("x", maxID) + `"`, strings.Repeat("1", maxID+1)} {
		if _, err := keyOf(json.RawMessage(id)); err == nil {
			t.Errorf("%.30s is an id", id)
		}
	}
}

// TestReadParams: what is read of a judged request, and what is not taken.
func TestReadParams(t *testing.T) {
	for _, c := range []struct{ params, want string }{
		{`{"name":"a"}`, "a "}, {`{"name":"a","arguments":{"b":1}}`, `a {"b":1}`}, {`{"name":"a","arguments":null}`, "a "},
		{`{"name":"\u0061","arguments":{"x":"\ud83d\ude00"},"task":{"ttl":1},"_meta":{"progressToken":7}}`, `a {"x":"\ud83d\ude00"} token 7`},
		{`{"name":"a","arguments":{"env":{"http_proxy":"x","HTTP_PROXY":"y"}}}`, `a {"env":{"http_proxy":"x","HTTP_PROXY":"y"}}`},
		{`{"name":"a","arguments":{"x":"\\ud800 C:\\users"}}`, `a {"x":"\\ud800 C:\\users"}`},
		{`{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}`, "a  modern"},

		{`[]`, "!"}, {`["a",{}]`, "!"}, {`null`, "!"}, {`"a"`, "!"},
		{`{"name":null}`, "!"}, {`{"name":["a"]}`, "!"}, {`{"name":1}`, "!"},
		{`{"name":"a","arguments":[]}`, "!"}, {`{"name":"a","arguments":"{}"}`, "!"},
		{`{"name":"a","name":"b"}`, "!"}, {`{"name":"a","n\u0061me":"b"}`, "!"}, {`{"name":"a","Name":"b"}`, "!"}, {`{"NAME":"b"}`, "!"},
		{`{"name":"a","arguments":{},"Arguments":{"b":1}}`, "!"}, {`{"name":"a","Arguments":{"b":1}}`, "!"}, {`{"name":"a","arguments":{},"arguments":{"b":1}}`, "!"},
		{`{"name":"a","arguments":{"path":"x","path":"y"}}`, "!"}, {`{"name":"a","arguments":{"path":"x","Path":"y"}}`, "!"}, {`{"name":"a","arguments":{"k":"x","K":"y"}}`, "!"},
		{`{"name":"a","arguments":{"x":{"y":1,"y":2}}}`, "!"}, {`{"name":"a","arguments":{"x":[{"y":1,"\u0079":2}]}}`, "!"},
		{`{"name":"a","arguments":{"x":"\ud800"}}`, "!"}, {`{"name":"a","arguments":{"x":"\udc2e\ud800"}}`, "!"}, {`{"name":"a","arguments":{"x":"\ud800\u0041"}}`, "!"},
		{`{"name":"a","arguments":{"\udfff":1}}`, "!"}, {`{"name":"\\\udc00"}`, "!"},
		{`{"name":"a","arguments":{"x":` + strings.Repeat("[", 70) + strings.Repeat("]", 70) + `}}`, "!"},
		{`{"name":"a","_meta":[]}`, "!"}, {`{"name":"a","_meta":{"progressToken":{}}}`, "!"}, {`{"name":"a","_META":{"progressToken":1}}`, "!"},
	} {
		p, err := readParams(Message{Method: methodCall, Params: json.RawMessage(c.params)})
		got := fmt.Sprintf("%s %s", p.name, p.arguments)
		if p.progress != nil {
			got += " token " + string(p.progress)
		}
		if p.modern {
			got += " modern"
		}
		if err != nil {
			got = "!"
		}
		if got != c.want {
			t.Errorf("%.100s: %s (%v), want %s", c.params, got, err, c.want)
		}
	}
}

// FuzzReaders: whatever is taken, a reader that minds case and one that does not
// read the same in it. Go's own decoder does not.
func FuzzReaders(f *testing.F) {
	for _, s := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","arguments":{"path":"x"}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a","Name":"b","arguments":{"path":"x","PATH":"y"}}}`,
		`{"jsonrpc":"2.0","id":"\ud83d\ude00","method":"prompts/get","params":{"name":"\u0061","_meta":{"progressToken":1.50}}}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///x"},"Method":"ping"}`,
		`{"jsonrpc":"2.0","id":-0.0,"method":"Tools/call","params":{}}`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		m, err := parse([]byte(s))
		if err != nil || unclear(m) != nil {
			return
		}
		var loose struct {
			ID     json.RawMessage
			Method string
			Params struct {
				Name, URI string
				Arguments struct{ Path json.RawMessage }
			}
		}
		exact := map[string]json.RawMessage{}
		if err := json.Unmarshal([]byte(s), &exact); err != nil {
			t.Fatalf("%q is taken and no object: %v", s, err)
		}
		looseErr := json.Unmarshal([]byte(s), &loose)
		if string(exact["id"]) != string(m.ID) || string(exact["params"]) != string(m.Params) || looseErr == nil && loose.Method != m.Method {
			t.Fatalf("%q is read in two ways: %+v, %+v", s, m, loose)
		}
		if m.ID != nil {
			if _, err := keyOf(m.ID); err != nil {
				t.Fatalf("%q: %v", s, err)
			}
		}
		p, err := readParams(m)
		if !isJudged(m.Method) || err != nil || looseErr != nil {
			return
		}
		args := map[string]json.RawMessage{}
		if p.arguments != nil {
			if err := json.Unmarshal(p.arguments, &args); err != nil {
				t.Fatal(err)
			}
		}
		var path json.RawMessage
		for name, value := range args {
			if strings.EqualFold(name, "path") {
				path = value
			}
		}
		if loose.Params.Name != p.name || loose.Params.URI != p.uri || string(loose.Params.Arguments.Path) != string(path) {
			t.Fatalf("%q is read in two ways: %+v, %+v", s, p, loose)
		}
	})
}

// TestWithout: a list without some tools is the same text but for them.
func TestWithout(t *testing.T) {
	for _, c := range []struct{ denied, in, want string }{
		{"", `{"id":1, "result":{"tools":[{"name":"a"},{"name":"b"}]} }`, `{"id":1, "result":{"tools":[{"name":"a"},{"name":"b"}]} }`},
		{"a", `{"id":1, "result":{"tools":[{"name":"a"},{"name":"b"}]} }`, `{"id":1, "result":{"tools":[{"name":"b"}]} }`},
		{"b", `{"result":{"tools":[{"name":"a", "x":1.0},  {"name":"b"}],"nextCursor":"\u0063"}}`, `{"result":{"tools":[{"name":"a", "x":1.0}],"nextCursor":"\u0063"}}`},
		{"b", `{"result":{"tools":[ {"name":"a"} , {"name":"b"} ,  {"name":"c"} ]}}`, `{"result":{"tools":[ {"name":"a"} ,  {"name":"c"} ]}}`},
		{"a c", `{"result":{"tools":[ {"name":"a"}, {"name":"b"}, {"name":"c"} ]}}`, `{"result":{"tools":[ {"name":"b"} ]}}`},
		{"a b", `{"result":{"tools":[{"name":"a"},{"name":"b"}]}}`, `{"result":{"tools":[]}}`},
		{"a", `{"result":{"tools":[{"name":"A"},{"name":"\u0061"},{"name":"a "}]}}`, `{"result":{"tools":[{"name":"A"},{"name":"a "}]}}`},
	} {
		p := &proxy{shaped: map[string]bool{}}
		raw := append(make([]byte, 0, 500), c.in...) // as a reader makes them: with room behind
		var result json.RawMessage
		if err := object(raw, nil, func(name string, v json.RawMessage) error {
			if name == "result" {
				result = v
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		list, err := p.readList(result)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(list.without(raw, strings.Fields(c.denied))); got != c.want || string(raw) != c.in {
			t.Errorf("without %s:\n%s\n%s, want\n%s", c.denied, c.in, got, c.want)
		}
	}
	for _, bad := range []string{`{}`, `{"tools":{}}`, `{"tools":[1]}`, `{"tools":[{"name":1}]}`, `{"tools":[{"name":"a","Name":"b"}]}`, `{"tools":[],"tools":[]}`, `[]`} {
		p := &proxy{shaped: map[string]bool{}}
		if _, err := p.readList(json.RawMessage(bad)); err == nil {
			t.Errorf("%s is a list", bad)
		}
	}
}

// TestNames: each server has a name of its own, and says nothing about it.
func TestNames(t *testing.T) {
	seen := map[string]string{}
	for _, c := range []struct{ words, want string }{
		{"/usr/bin/github-mcp-server stdio", "github-mcp-server"}, {"github-mcp-server", "github-mcp-server"}, {"./GitHub-mcp-server", "github-mcp-server-+"}, {"my,server", "my-server-+"}, {"my;server", "my-server-+"},
		{"npx -y @modelcontextprotocol/server-filesystem /a", "npx-server-filesystem-+"}, {"npx -y @modelcontextprotocol/server-filesystem /b", "npx-server-filesystem-+"}, {"npx -y @evil/server-filesystem /a", "npx-server-filesystem-+"},
		{"python3.12 -m mcp_server_git", "python3.12-mcp_server_git-+"}, {"docker run -i --rm mcp/github", "docker-github-+"}, {"node /opt/a/index.js", "node-index.js-+"}, {"node /opt/b/index.js", "node-index.js-+"},
		{"node", "node"}, {"npx -y", "npx-server-+"}, {strings.Repeat("x", 100), strings.Repeat("x", 55) + "-+"}, {"..", ".."}, {"é", "--+"},
	} {
		name := NameOf(strings.Fields(c.words))
		want, hash := strings.CutSuffix(c.want, "+")
		if err := CheckName(name); err != nil || !strings.HasPrefix(name, want) || hash != (len(name) == len(want)+8) || !hash && name != want {
			t.Errorf("%s: %s, want %s (%v)", c.words, name, c.want, err)
		}
		if other, ok := seen[name]; ok && hash {
			t.Errorf("%s and %s are both %s", c.words, other, name)
		}
		seen[name] = c.words
	}
	for _, name := range []string{"", "A", "a b", "a/b", "ä", "a\n", strings.Repeat("a", 65)} {
		if CheckName(name) == nil {
			t.Errorf("%q is a name", name)
		}
	}
}

// TestNoLauncherIsTheName: two servers behind one program that starts them are two,
// whichever it is.
func TestNoLauncherIsTheName(t *testing.T) {
	launchers := []string{ // what people put before servers
		"bash", "bun", "bunx", "cmd", "dash", "deno", "docker", "dotnet", "go", "java", "node", "npm", "npx", "perl", "pipx", "pnpm", "podman", "poetry",
		"pwsh", "python", "ruby", "sh", "ssh", "tsx", "uv", "uvx", "wsl", "yarn", "zsh",
	}
	kinds, err := os.ReadFile("../../programs/kinds.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(kinds), "[wrapper] ")
	_, section, _ = strings.Cut(section, "\n")
	section, _, _ = strings.Cut(section, "[")
	wrappers := strings.Fields(strings.ReplaceAll(section, "!", ""))
	for _, w := range []string{"doas", "env", "nohup", "pkexec", "run0", "sudo"} {
		if !slices.Contains(wrappers, w) {
			t.Errorf("%s is no wrapper", w)
		}
	}
	for _, w := range append(launchers, wrappers...) {
		for _, program := range []string{w, "/usr/local/bin/" + w, w + ".exe"} {
			one, other := NameOf([]string{program, "node", "/opt/a/server.js"}), NameOf([]string{program, "node", "/opt/b/server.js"})
			if one == w || one == other || !strings.HasPrefix(one, clean(w)+"-node-") {
				t.Errorf("behind %s: %s and %s", program, one, other)
			}
		}
	}
	// A server keeps its own name, to which denials may hold, whatever it is like.
	for _, server := range []string{"gmail", "postgres", "mongo", "kubectl", "git", "view.server", "mail"} {
		if name := NameOf([]string{server, "mcp", "--stdio"}); name != server {
			t.Errorf("%s is called %s", server, name)
		}
	}
}
