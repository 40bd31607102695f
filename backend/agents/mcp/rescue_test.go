package mcp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/rescue"
)

// TestPanics: a call that panics is answered with an error, and so are a command in
// the background and a line that cannot be judged; nothing of a text is told, and
// the next call of the client is served. Without a road to the host each of our
// tools panics.
func TestPanics(t *testing.T) {
	in, toServer := io.Pipe()
	fromServer, out := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	over := make(chan error, 1)
	go func() {
		over <- Stdio(ctx, Options{Dir: t.TempDir(), Version: "test", Log: slog.New(slog.DiscardHandler)}, in, out)
	}()
	defer func() {
		cancel()
		fromServer.Close()
		<-over
	}()
	lines := bufio.NewScanner(fromServer)
	n := 0
	ask := func(method, params string) string {
		n++
		if _, err := fmt.Fprintf(toServer, `{"jsonrpc":"2.0","id":%d,"method":%q,"params":%s}`+"\n", n, method, params); err != nil {
			t.Fatal(err)
		}
		for lines.Scan() {
			if strings.Contains(lines.Text(), fmt.Sprintf(`"id":%d`, n)) {
				return lines.Text()
			}
		}
		t.Fatal("it ended: ", lines.Err())
		return ""
	}
	ask("initialize", `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}`)
	fmt.Fprintln(toServer, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	for _, call := range []string{
		`{"name":"exec","arguments":{"command":"echo hunter2"}}`,
		`{"name":"explain","arguments":{"command":"echo hunter2"}}`,
		`{"name":"exec","arguments":{"command":"echo hunter2"},"_meta":{"progressToken":1}}`,
	} {
		before := rescue.Caught()
		if got := ask("tools/call", call); !strings.Contains(got, "Countersign failed at this") || strings.Contains(got, "hunter2") {
			t.Errorf("%s got %s", call, got)
		}
		if rescue.Caught() == before {
			t.Errorf("%s was not counted", call)
		}
		if got := ask("ping", `{}`); !strings.Contains(got, `"result"`) {
			t.Errorf("then %s", got)
		}
	}
	before := rescue.Caught()
	got := ask("tools/call", `{"name":"exec","arguments":{"command":"echo hunter2","background":true}}`)
	if strings.Contains(got, "isError\":true") {
		t.Fatalf("it did not begin: %s", got)
	}
	for got = ""; !strings.Contains(got, `done`); {
		got = ask("tools/call", `{"name":"exec_status","arguments":{}}`)
	}
	if rescue.Caught() == before {
		t.Error("the command in the background was not counted")
	}
}
