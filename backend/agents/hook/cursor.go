package hook

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// cursor is the Cursor editor and its command line, with the hooks that come
// before every command, every call of a tool of an MCP server and every file
// that the agent reads. A yes leaves its own rules in force.
//
// It takes silence for leave to go on by its own rules, and its word ask is not
// known to hold everywhere, so where nobody could be asked the answer is no. An
// event that is not known here is refused: Cursor has more of them that decide,
// such as preToolUse, and skips a name that it does not know without a word, so
// a hook of ours in a wrong place shows itself.
//
// Written from its documentation, which gives no default for the timeout, and
// not tried against the real client. Others saw permission, user_message and
// agent_message, written like this, work in it.
func cursor() Agent {
	return Agent{
		Name: "cursor", Title: "Cursor",
		Capability: Capability{
			Blocking: true, FailMode: FailsOpen, Timeout: 30 * time.Second,
			DenialTextReachesModel: true, Experimental: true,
		},
		Read: readCursor,
		// Exit code 2 blocks as permission deny does. The other words are for events
		// that decide something else.
		Refuse: func(err error) Answer {
			a := cursorNo(unread(err))
			a.Stderr, a.Code = plain(unread(err))+"\n", 2
			return a
		},
	}
}

func readCursor(input []byte) (Event, error) {
	fields, err := parse(input)
	if err != nil {
		return Event{}, err
	}
	words, err := fields.words("hook_event_name", "conversation_id", "cwd")
	if err != nil {
		return Event{}, err
	}
	event := words[0]
	n := native{Agent: "cursor", Session: words[1], Cwd: words[2], Args: object{}}
	if err := n.cursorFolder(fields); err != nil {
		return Event{}, err
	}
	switch event {
	case "beforeShellExecution":
		n.Tool, n.Said, n.Args["command"] = bashExecute, event, fields["command"]
	case "beforeMCPExecution":
		err = n.cursorServer(fields)
	case "beforeReadFile":
		n.Tool, n.Said, n.Args["path"] = fileRead, event, fields["file_path"]
	case "afterShellExecution", "afterMCPExecution", "afterFileEdit", "afterTabFileEdit", "afterAgentResponse", "afterAgentThought",
		"postToolUse", "postToolUseFailure", "sessionStart", "sessionEnd", "subagentStop", "preCompact", "stop":
		return ignored(event, printed(struct{}{})), nil // an empty answer is none where failClosed is set
	default:
		err = unknownEvent(event)
	}
	if err != nil {
		return Event{}, err
	}
	call, err := n.call()
	return Event{
		Name: event, Call: call,
		Reply:  decidesCursor,
		Silent: func(why string) Answer { return cursorNo(unasked(why)) },
	}, err
}

// cursorFolder takes the first folder that is open where a call has none.
func (n *native) cursorFolder(fields object) error {
	if n.Cwd != "" || !fields.has("workspace_roots") {
		return nil
	}
	var roots []string
	if err := json.Unmarshal(fields["workspace_roots"], &roots); err != nil {
		return errors.New("workspace_roots is no list of texts")
	}
	if len(roots) > 0 {
		n.Cwd = roots[0]
	}
	return nil
}

// cursorServer takes a call of a tool of an MCP server. Its arguments are a text
// that holds JSON.
func (n *native) cursorServer(fields object) error {
	words, err := fields.words("tool_name", "url", "command")
	if err != nil {
		return err
	}
	n.Tool, n.Said = words[0], words[0]
	if n.Args, err = nestedObject(fields, "tool_input"); err != nil {
		return err
	}
	n.Server, err = serverName(words[1], words[2])
	return err
}

// nestedObject returns a field that is an object, or a text that holds one.
func nestedObject(fields object, name string) (object, error) {
	if text, err := fields.text(name); err == nil && text != "" {
		return parse([]byte(text))
	}
	o, err := fields.object(name)
	return copyOf(o), err
}

// serverName makes a name of how a server is reached, as Cursor tells no other.
// What people read in it is short and holds no secret; the end of it tells two
// servers apart that look the same there.
func serverName(address, command string) (string, error) {
	shown, words := "", strings.Fields(command)
	switch {
	case address != "":
		u, err := url.Parse(address)
		if err != nil || u.Host == "" {
			return "", errors.New("the address of the server cannot be read")
		}
		shown = u.Host
	case len(words) == 0:
		return "", errors.New("it does not say whose tool it is")
	default:
		program, _, _ := strings.Cut(words[0], "=")
		shown = path.Base(program)
		plain := func(word string) bool { return !strings.HasPrefix(word, "-") && !strings.Contains(word, "=") }
		if i := slices.IndexFunc(words[1:], plain); i >= 0 && slices.Contains(starters, shown) {
			shown += ":" + path.Base(words[1+i])
		}
	}
	sum := sha256.Sum256([]byte(address + "\x00" + command))
	return shorten(shown) + "#" + hex.EncodeToString(sum[:8]), nil
}

// starters are programs whose first word that is no option is what they start.
// After any other program it can be the value of an option, such as a key.
var starters = []string{"npx", "bunx", "uvx", "pipx", "node", "bun", "deno", "python", "python3"}

// shorten keeps what names of servers may have.
func shorten(name string) string {
	kept := strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f && r != '/' {
			return r
		}
		return '_'
	}, name)
	return kept[:min(len(kept), maxName/2)]
}

func decidesCursor(o approval.Outcome, _ string) Answer {
	if o.Verdict != approval.VerdictAllow {
		return cursorNo(reason(o))
	}
	return printed(map[string]any{"permission": "allow"})
}

func cursorNo(why string) Answer {
	return printed(map[string]any{"permission": "deny", "user_message": why, "agent_message": why})
}
