package mcp

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// TestLines reads what a client sends: m stands for a message that is handed
// on, a number for the code of an answer.
func TestLines(t *testing.T) {
	const ping = `{"jsonrpc": "2.0", "id": 1, "method": "ping"}`
	long := strings.Repeat("x", maxMessage+1)
	for _, c := range []struct{ in, want string }{
		{"", ""},
		{"\n \n\r\n", ""},
		{ping + "\n", "m"},
		{ping, "m"},
		{ping + "\r\n" + ping + "\n", "m m"},
		{"{\n" + ping + "\n", "-32700 m"},
		{`{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "ping"}` + "\n" + ping, "-32700 m"},
		{"[" + ping + "]\n" + ping, "-32600 m"},
		{`"hello"` + "\n", "-32600"},
		{"{}\n", "-32600"},
		{`{"jsonrpc": "1.0", "id": 1, "method": "ping"}` + "\n", "-32600"},
		{`{"jsonrpc": "2.0", "id": [1], "method": "ping"}` + "\n", "-32600"},
		{`{"jsonrpc": "2.0", "id": 1, "method": 1}` + "\n", "-32600"},
		{"null\n5\n", "-32600 -32600"},
		{long + "\n" + ping + "\n", "-32700 m"},
		{long, "-32700"},
		{long + long + long, "-32700"},
		{ping[:20], "-32700"},
		{"\xff\xfe\n\x00\n" + ping, "-32700 -32700 m"},
	} {
		var out bytes.Buffer
		conn := newLines(strings.NewReader(c.in), &out)
		var got []string
		answered := func() {
			for text := range strings.Lines(out.String()) {
				if strings.Contains(text, "Go ") || strings.Contains(text, "jsonrpc2") {
					t.Errorf("%.40q is answered with our own insides: %s", c.in, text)
				}
				_, code, _ := strings.Cut(text, `"code":`)
				got = append(got, code[:6])
			}
			out.Reset()
		}
		for {
			_, err := conn.Read(t.Context())
			answered()
			if err != nil {
				if !errors.Is(err, io.EOF) {
					t.Errorf("%.40q: ends with %v", c.in, err)
				}
				break
			}
			got = append(got, "m")
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%.40q (%d bytes): %s, want %s", c.in, len(c.in), s, c.want)
		}
	}
}

func TestLinesClosed(t *testing.T) {
	in, client := io.Pipe()
	defer client.Close()
	conn := newLines(in, io.Discard)
	conn.Close()
	conn.Close()
	if _, err := conn.Read(t.Context()); !errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestLinesToNobody(t *testing.T) {
	conn := newLines(strings.NewReader("{\n"), broken{})
	if _, err := conn.Read(t.Context()); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
	if err := conn.Write(t.Context(), &jsonrpc.Request{Method: "x"}); !errors.Is(err, io.ErrClosedPipe) {
		t.Error(err)
	}
}
