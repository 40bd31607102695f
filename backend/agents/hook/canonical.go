package hook

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/toolnames"
)

// The names under which policy knows the tools that most agents have.
const (
	bashExecute = "bash_execute" // command
	fileRead    = "file_read"    // path
	fileWrite   = "file_write"   // path, content
	fileEdit    = "file_edit"    // path or paths
	fileDelete  = "file_delete"  // path or paths
	fileList    = "file_list"    // path
	fileSearch  = "file_search"  // path, pattern
	webFetch    = "web_fetch"    // url
	webSearch   = "web_search"   // query
)

const (
	// longText is how many bytes a text has before it is left out, and headText
	// how many of it are kept.
	longText = 16 << 10
	headText = 2000
	// maxCall bounds a call in bytes of JSON, and maxFramed what it has as a text
	// inside the frame of the socket, which takes 256,000 in all.
	maxCall   = 200_000
	maxFramed = 250_000
	// maxName bounds the names of tools, servers and sessions, and maxPath that
	// of the folder, in bytes.
	maxName = 200
	maxPath = 4096
)

// native is a call whose tool and arguments have the names that policy knows.
type native struct {
	Agent        string // our name for the agent
	Tool, Server string
	Said         string // what the agent itself calls the tool
	Args         object
	Opens        string // of a search, see approval.ToolCall
	// Cwd and Session are as the agent says.
	Cwd, Session string
}

// call makes the tool call, which the agent runs itself: Who is theirs.
func (n native) call() (approval.ToolCall, error) {
	if err := errors.Join(named("the tool", n.Tool, true), named("the server", n.Server, false), named("the session", n.Session, false)); err != nil {
		return approval.ToolCall{}, err
	}
	if err := folder(n.Cwd); err != nil {
		return approval.ToolCall{}, err
	}
	if err := n.check(); err != nil {
		return approval.ToolCall{}, err
	}
	c := approval.ToolCall{
		Tool: n.Tool, Server: n.Server, Args: bytes.TrimSpace(encode(n.Args)), Cwd: n.Cwd,
		AgentID: n.Agent, SessionKey: n.Session, Source: "hook", Who: approval.Theirs,
		Opens: n.Opens,
	}
	if fits(c) == nil {
		return c, nil
	}
	var err error
	if c.Args, err = rewritten(c.Args, func(v any) any { return v }); err != nil { // without escapes that need none
		return approval.ToolCall{}, err
	}
	if fits(c) == nil {
		return c, nil
	}
	if c.Args, err = elide(c.Args); err != nil {
		return approval.ToolCall{}, err
	}
	c.DefaultToNo, c.NoAlways = true, true // a person sees only a part of it
	return c, fits(c)
}

// check sees that the tools which policy knows have the arguments that it
// judges them by.
func (n native) check() error {
	if n.Server != "" {
		return nil
	}
	switch n.Tool {
	case bashExecute:
		return n.needs("command")
	case webFetch:
		return n.needs("url")
	case fileRead, fileWrite:
		return n.needs("path")
	case fileEdit, fileDelete:
		if n.Args.has("paths") {
			return nil
		}
		return n.needs("path")
	case fileList, fileSearch:
		if !n.Args.has("path") { // the agent means the folder that it works in
			n.Args.set("path", n.Cwd)
		}
		return n.needs("path")
	}
	return nil
}

// needs sees that an argument is a text which says something.
func (n native) needs(name string) error {
	text, err := n.Args.text(name)
	switch {
	case err != nil:
		return err
	case strings.TrimSpace(text) == "":
		return fmt.Errorf("%s has no %s", cmp.Or(n.Said, n.Tool), name)
	case strings.ContainsRune(text, 0):
		return fmt.Errorf("%s holds a NUL", name)
	}
	return nil
}

// folder says what is wrong with a working directory.
func folder(cwd string) error {
	switch {
	case cwd == "":
		return errors.New("the call names no working directory")
	case len(cwd) > maxPath:
		return fmt.Errorf("the working directory has more than %d bytes", maxPath)
	case hasControl(cwd):
		return errors.New("the working directory holds control characters")
	case !filepath.IsAbs(cwd):
		return errors.New("the working directory is no absolute path")
	}
	return nil
}

func named(what, name string, needed bool) error {
	switch {
	case needed && name == "":
		return fmt.Errorf("%s has no name", what)
	case len(name) > maxName:
		return fmt.Errorf("the name of %s has more than %d bytes", what, maxName)
	case hasControl(name):
		return fmt.Errorf("the name of %s holds control characters", what)
	}
	return nil
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r >= 0x7f && r < 0xa0 })
}

// fits sees that a call goes through the socket. It travels as a text inside
// JSON, where quotes and backslashes take two bytes.
func fits(c approval.ToolCall) error {
	text := encode(c)
	framed := len(text) + bytes.Count(text, []byte(`"`)) + bytes.Count(text, []byte(`\`))
	if len(text) > maxCall || framed > maxFramed {
		return fmt.Errorf("the call is too large to be judged: %d bytes, and at most %d are possible", len(text), maxCall)
	}
	return nil
}

// elide writes arguments with long texts left out, of a call that is too large
// with them. Names, paths, addresses and commands are never left out, and a rule
// about what is left out refuses.
func elide(text json.RawMessage) (json.RawMessage, error) {
	return rewritten(text, func(v any) any { return without("", v) })
}

// rewritten writes arguments anew, changed.
func rewritten(text json.RawMessage, change func(any) any) (json.RawMessage, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber() // as they were written
	var value any
	if err := d.Decode(&value); err != nil {
		return nil, err
	}
	return bytes.TrimSpace(encode(change(value))), nil
}

// without returns a value without its long texts. name is that of the field
// that holds it.
func without(name string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, sub := range v {
			v[key] = without(key, sub)
		}
	case []any:
		for i, sub := range v {
			v[i] = without(name, sub)
		}
	case string:
		if len(v) > longText && name != "command" && toolnames.TextArgument(name) {
			return summary(v)
		}
	}
	return value
}

// summary stands for a long text.
func summary(text string) any {
	sum := sha256.Sum256([]byte(text))
	head := headText
	for !utf8.RuneStart(text[head]) {
		head--
	}
	return map[string]any{approval.Elided: map[string]any{
		"sha256": hex.EncodeToString(sum[:]), "bytes": len(text), "head": text[:head],
	}}
}

// splitMCP takes the name apart that agents give to a tool of an MCP server:
// mcp__SERVER__TOOL. Of a server with two underscores in its name the rest
// counts to the tool, so that one name always means the same pair.
func splitMCP(name string) (server, tool string, ok bool) {
	rest, ok := strings.CutPrefix(name, "mcp__")
	if !ok {
		return "", "", false
	}
	server, tool, ok = strings.Cut(rest, "__")
	return server, tool, ok && server != "" && tool != ""
}
