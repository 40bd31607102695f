//go:build linux || darwin

package main

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/host"
)

// tryToOperate is what an agent of a test does after it asked.
func tryToOperate() int {
	out, err := exec.Command("countersign", "policy", "set", "security", "full").CombinedOutput()
	fmt.Printf("%s%v\n", out, err)
	return 0
}

// mcpAgent is `mcp-agent URL TOKEN`: a client of our MCP server over HTTP that has
// a command run, and tries to operate.
func mcpAgent(args []string) int {
	ctx := context.Background()
	client := sdk.NewClient(&sdk.Implementation{Name: "agent", Version: "1"}, nil)
	session, err := client.Connect(ctx, &sdk.StreamableClientTransport{Endpoint: args[0], HTTPClient: &http.Client{Transport: bearer(args[1])}, MaxRetries: -1}, nil)
	if err != nil {
		return complain("cannot connect:", err)
	}
	defer session.Close()
	result, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "exec", Arguments: map[string]any{"command": "uname"}})
	if err != nil {
		return complain("cannot call:", err)
	}
	for _, c := range result.Content {
		if text, is := c.(*sdk.TextContent); is {
			fmt.Println("the tool said:", text.Text)
		}
	}
	return tryToOperate()
}

// opencodeAgent is `opencode-agent FILE`: a server such as opencode's, which
// writes its URL to the file, asks for a permission and tries to operate when it
// has the reply.
func opencodeAgent(args []string) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return complain("cannot listen:", err)
	}
	replied := make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /global/event", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		fmt.Fprintf(w, "data: {\"directory\":\"/\",\"payload\":%s}\n\n", opencodeAsks("per_1", "uname"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	mux.HandleFunc("POST /permission/per_1/reply", func(http.ResponseWriter, *http.Request) { close(replied) })
	go http.Serve(l, mux)
	if err := os.WriteFile(args[0]+".new", []byte("http://"+l.Addr().String()), 0o600); err != nil {
		return complain("cannot tell the URL:", err)
	}
	if err := os.Rename(args[0]+".new", args[0]); err != nil {
		return complain("cannot tell the URL:", err)
	}
	<-replied
	return tryToOperate()
}

// TestOverTCP: an agent that is at the other end of a connection over loopback
// belongs to those that ask, though it did not start our program that asks.
func TestOverTCP(t *testing.T) {
	for name, run := range map[string]func(*testing.T, *world) []byte{
		"mcp --http": func(t *testing.T, w *world) []byte {
			_, url, token := w.mcpHTTP(t)
			out, err := inTerminal(w.program("mcp-agent", url, token)).CombinedOutput()
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			return out
		},
		"hook opencode": func(t *testing.T, w *world) []byte {
			file := filepath.Join(w.home, "url")
			agent := inTerminal(w.program("opencode-agent", file))
			var said strings.Builder
			agent.Stdout, agent.Stderr = &said, &said
			running := background(t, agent)
			if !eventually(func() bool { _, err := os.Stat(file); return err == nil }) {
				t.Fatal("no URL")
			}
			follower := background(t, asService(t, w, w.command("hook", "opencode", "--url", fileText(t, file))))
			if !eventually(running.isOver) {
				t.Fatal("nothing was replied")
			}
			follower.end(syscall.SIGTERM)
			return []byte(said.String())
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := testWorld(t)
			if err := w.start(); err != nil {
				t.Fatal(err)
			}
			w.must(t, "policy", "set", "security", "allowlist")
			w.must(t, "policy", "set", "ask", "off")
			if got := string(run(t, w)); !strings.Contains(got, "asked Countersign as agent") {
				t.Errorf("the agent: %s", got)
			}
			var held host.Policy
			if w.json(t, &held, "policy", "show"); held.Policy.Security != approval.SecurityList {
				t.Error("the agent changed the policy")
			}
			w.must(t, "policy", "set", "ask", "on-miss")
		})
	}
}
