package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// proxy is what `countersign mcp proxy` adds to a tool call that policy allows:
// the same small server, called in turn directly and through the proxy.
func proxy(program string) error {
	f, kept, _, end, err := serve(program, "tool:bench/echo")
	if err != nil {
		return err
	}
	defer end()
	kept.Close()
	self, err := os.Executable()
	if err != nil {
		return err
	}
	direct, err := connect(f, self, "-mcp-server")
	if err != nil {
		return err
	}
	defer direct.end()
	through, err := connect(f, program, "--state-dir", f.state.Dir, "mcp", "proxy", "--name=bench", "--", self, "-mcp-server")
	if err != nil {
		return err
	}
	defer through.end()
	var times [2][]time.Duration
	for round := range rounds + 1 {
		time.Sleep(150 * time.Millisecond) // as median does
		for range 20 {
			for i, c := range []*toolClient{direct, through} {
				began := time.Now()
				if err := c.call(); err != nil {
					return err
				}
				if round > 0 {
					times[i] = append(times[i], time.Since(began))
				}
			}
		}
	}
	for _, list := range times {
		slices.Sort(list)
	}
	middle := len(times[0]) / 2
	row("", "a tools/call of a small MCP server, for comparison", micros(times[0][middle]), "")
	row("proxy", "what it adds to an allowed tools/call", micros(times[1][middle]-times[0][middle]), "≤ 1 ms")
	return nil
}

// toolClient is a client of an MCP server that is started.
type toolClient struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	n   int
}

func connect(f *folder, program string, words ...string) (*toolClient, error) {
	c := &toolClient{cmd: exec.Command(program, words...)}
	c.cmd.Env, c.cmd.Dir = f.environment(), f.dir
	out, err := c.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if c.in, err = c.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	c.out = bufio.NewReader(out)
	return c, c.cmd.Start()
}

func (c *toolClient) end() {
	c.in.Close()
	_ = c.cmd.Wait()
}

// call calls the tool once.
func (c *toolClient) call() error {
	c.n++
	if _, err := fmt.Fprintf(c.in, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello","path":"notes/today.txt"}}}`+"\n", c.n); err != nil {
		return err
	}
	line, err := c.out.ReadString('\n')
	if err == nil && (!strings.Contains(line, fmt.Sprintf(`"id":%d,`, c.n)) || !strings.Contains(line, `"hello"`)) {
		err = fmt.Errorf("call %d was answered with %s", c.n, line)
	}
	return err
}

// mcpServer is the small server of this measurement: it answers every request.
func mcpServer(in io.Reader, out io.Writer) error {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var request struct {
			ID json.RawMessage `json:"id"`
		}
		if err := json.Unmarshal(lines.Bytes(), &request); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(out, `{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"hello"}]}}`+"\n", request.ID); err != nil {
			return err
		}
	}
	return lines.Err()
}
