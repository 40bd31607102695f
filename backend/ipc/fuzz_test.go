//go:build linux || darwin

package ipc

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// FuzzFrame: whatever is taken is one JSON object in UTF-8 with a known kind
// and an id, and decoding its payload never panics.
func FuzzFrame(f *testing.F) {
	for _, line := range []string{
		execLine(good), execLine(`{"command":["ls"],"env":{"A":"1"},"timeoutMs":1}`),
		signedLine(testKey, kindCall, `{"method":"stop","params":[1]}`, nowMs()),
		`{"type":"request","token":"t","id":"i","request":{"command":"ls","allowedDecisions":["deny"]}}`,
		`{"type":"exec","id":"i","ts":-0}`, `{`, `[]`, `null`, `{"type":"exec","id":"\ud800"}`, "{}\n{}",
	} {
		f.Add([]byte(line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		fr, err := parseFrame(line)
		if err != nil {
			return
		}
		if !json.Valid(line) || !utf8.Valid(line) || fr.id == "" {
			t.Fatalf("taken: %q", line)
		}
		if fr.kind != kindExec && fr.kind != kindRequest && fr.kind != kindCall && fr.kind != kindHello {
			t.Fatalf("kind %q", fr.kind)
		}
		decodeExec(fr.requestJSON)
		decodeCall(fr.requestJSON)
		if fr.request != nil {
			decodeRequest(fr.request)
		}
	})
}

// FuzzExecPayload: what is decoded encodes to what decodes the same way, and
// keeps the promises of checkExec.
func FuzzExecPayload(f *testing.F) {
	for _, text := range []string{
		good, `{"command":["a",""],"cwd":"/","timeoutMs":1500,"approvalDecision":"deny"}`,
		`{"command":["a"],"approvalDecision":"allow-once","policySnapshot":{"a":1}}`,
		`{"command":["a"],"deadlineMs":1795160802216,"background":true}`, `{"command":[]}`,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		x, e := decodeExec(text)
		if e != nil {
			return
		}
		if len(x.Request.Command) == 0 || strings.TrimSpace(x.Request.Command[0]) != x.Request.Command[0] || x.Request.Timeout < 0 {
			t.Fatalf("%q: %+v", text, x)
		}
		once, err := encodeExec(x)
		if err != nil {
			t.Fatal(err)
		}
		y, e := decodeExec(once)
		if e != nil {
			t.Fatalf("%q became %q: %v", text, once, e)
		}
		if twice, _ := encodeExec(y); twice != once {
			t.Fatalf("%q then %q", once, twice)
		}
	})
}

// FuzzObject compares our cut of an object into fields with the one of
// encoding/json: what we take, it takes the same way.
func FuzzObject(f *testing.F) {
	for _, text := range []string{
		`{}`, ` { "a" : 1 , "b":[1,{"c":"}"}], "d":"\\\"" } `, `{"a":{"a":1},"A":null,"\u0061b":-1.5e3}`,
		`{"a":1,}`, `{"a":1}}`, `{"a":1,"a":2}`, `{"a" 1}`, `{"`, `{"a":"\`, `{"a":1} x`, `[]`, ``, ` `,
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got := map[string]string{}
		err := object([]byte(text), func(key string, v json.RawMessage) error {
			got[key] = string(v)
			return nil
		})
		var want map[string]json.RawMessage
		if e := json.Unmarshal([]byte(text), &want); err == nil && e != nil {
			t.Fatalf("%q: we take it, encoding/json says %v", text, e)
		}
		if err != nil || !utf8.ValidString(text) {
			return
		}
		if len(got) != len(want) {
			t.Fatalf("%q: %q, want %q", text, got, want)
		}
		for key, v := range want {
			if got[key] != string(v) {
				t.Fatalf("%q: %q is %q, want %q", text, key, got[key], v)
			}
		}
	})
}
