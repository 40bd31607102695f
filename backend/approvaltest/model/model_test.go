package model

import (
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

func (m *Model) post(t *testing.T, path, body string) string {
	t.Helper()
	resp, err := http.Post(m.URL+path, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestTurns has each of the two kinds of conversation come to its commands one
// after another, and to an end.
func TestTurns(t *testing.T) {
	const bash = `"tools":[{"name":"Bash"}],"messages":[{"content":"go"}`
	result := func(text string) string { return `,{"content":[{"type":"tool_result","content":` + text + `}]}` }
	output := func(text string) string { return `{"type":"function_call_output","output":` + text + `},` }
	for _, c := range []struct{ path, head, foot, first, second string }{
		{"/v1/messages?beta=true", `{` + bash, `]}`, result(`"one"`), result(`[{"text":"t"},{"text":"wo"}]`)},
		{"/v1/messages?beta=true", `{"stream":true,` + bash, `]}`, result(`"one"`), result(`[{"text":"t"},{"text":"wo"}]`)},
		{"/v1/responses", `{"input":[`, `{"type":"message"}]}`, output(`"one"`), output(`[{"text":"two"}]`)},
	} {
		m := Start(t, "first command", "second command")
		for i, results := range []string{"", c.first, c.first + c.second} {
			got := m.post(t, c.path, c.head+results+c.foot)
			for j, word := range []string{"first command", "second command", `"done"`} {
				if strings.Contains(got, word) != (i == j) {
					t.Errorf("%s, turn %d: %s", c.path, i, got)
				}
			}
		}
		if got := m.Results(); !slices.Equal(got, []string{"one", "two"}) || len(m.Strange()) > 0 {
			t.Errorf("%s: %q %q", c.path, got, m.Strange())
		}
	}
}

// TestBeside: a request without the tool, one that is no JSON and one to
// elsewhere come to no command.
func TestBeside(t *testing.T) {
	m := Start(t, "a command")
	if got := m.post(t, "/v1/messages", `{"messages":[{"content":"a title?"}]}`); !json.Valid([]byte(got)) || strings.Contains(got, "a command") {
		t.Error(got)
	}
	m.post(t, "/v1/responses", `{`)
	m.post(t, "/v1/elsewhere", `{}`)
	if got := m.Strange(); len(got) != 2 {
		t.Errorf("%q", got)
	}
}
