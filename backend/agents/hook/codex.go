package hook

import (
	"bytes"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// codex is the Codex command line, with its hooks PermissionRequest, where a
// person is asked, and PreToolUse, which takes denials alone. Written from its
// published schemas and not tried against the real client.
//
// Codex tells the folder of the session, and not the one that a single command
// or patch is started in: relative paths are judged from the session's.
func codex() Agent {
	return Agent{
		Name: "codex", Title: "Codex",
		Capability: Capability{
			Blocking: true, AsksOnlyWhenNeeded: true, FailMode: FailsToPrompt, Timeout: 600 * time.Second,
			DenialTextReachesModel: true, Experimental: true,
		},
		Read: readCodex,
		// Both events take exit code 2 with a text for a denial.
		Refuse: func(err error) Answer { return blocked(unread(err)) },
	}
}

func readCodex(input []byte) (Event, error) {
	fields, err := parse(input)
	if err != nil {
		return Event{}, err
	}
	words, err := fields.words("hook_event_name", "tool_name", "session_id", "cwd", "permission_mode")
	if err != nil {
		return Event{}, err
	}
	event := words[0]
	quiet := func(string) Answer { return silent() }
	switch event {
	case "":
		return Event{}, errors.New("hook_event_name is missing")
	default:
		return Event{Name: event, Ignored: true, Silent: quiet}, nil
	case preToolUse, permissionRequest:
	}
	n := native{Agent: "codex", Tool: words[1], Said: words[1], Session: words[2], Cwd: words[3]}
	if err := n.codexTool(fields); err != nil {
		return Event{}, err
	}
	call, err := n.call()
	if err != nil {
		return Event{}, err
	}
	call.JudgeOnly = event == preToolUse
	reply := decidesCodex
	if call.JudgeOnly {
		reply = deniesOnly
	}
	return Event{
		Name: event, Tool: words[1], Unasked: call.JudgeOnly && words[4] != asksInMode, Call: call, Reply: reply, Silent: quiet,
	}, nil
}

// codexTool gives the tool and its arguments our names.
func (n *native) codexTool(fields object) (err error) {
	if n.Args, err = codexArgs(fields); err != nil {
		return err
	}
	if server, tool, ok := splitMCP(n.Tool); ok {
		n.Server, n.Tool = server, tool
		return nil
	}
	switch n.Tool {
	case "Bash":
		n.Tool = bashExecute
		return n.codexNetwork()
	case "apply_patch":
		return n.codexPatch()
	}
	return nil
}

// codexArgs returns the arguments. Tools that take a free text have that for
// their input.
func codexArgs(fields object) (object, error) {
	value := bytes.TrimSpace(fields["tool_input"])
	if len(value) > 0 && value[0] != '{' && fields.has("tool_input") {
		return object{"input": value}, nil
	}
	args, err := fields.object("tool_input")
	return copyOf(args), err
}

// codexNetwork takes the question whether a domain may be reached, which comes
// as one about a command with the description "network-access DOMAIN". Where no
// command of its own belongs to it, the command says the same.
//
// A model writes the descriptions of its commands, so a description alone does
// not make a command an address: then the command is judged, and the address as
// well.
func (n *native) codexNetwork() error {
	words, err := n.Args.words("command", "description")
	if err != nil {
		return err
	}
	target, ok := strings.CutPrefix(words[1], "network-access ")
	if !ok {
		return nil
	}
	address, err := domainURL(target)
	if err != nil {
		return err
	}
	n.Args.set("url", address)
	if words[0] == words[1] {
		n.Tool = webFetch
		delete(n.Args, "command")
	}
	return nil
}

// domainURL makes an address of a domain, which may have a scheme and a port.
func domainURL(target string) (string, error) {
	if !strings.Contains(target, "://") {
		target = "https://" + target
	}
	u, err := url.Parse(target)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" ||
		u.User != nil || strings.Trim(u.Path, "/") != "" || u.RawQuery != "" || u.Fragment != "" {
		return "", errors.New("the description names no domain after network-access")
	}
	return u.Scheme + "://" + u.Host + "/", nil
}

// decidesCodex answers PermissionRequest. Where nobody could be asked it says
// nothing, and Codex asks by itself. Any field beside these two fails closed.
func decidesCodex(o approval.Outcome, _ string) Answer {
	switch {
	case o.Unanswered():
		return silent()
	case o.Verdict == approval.VerdictAllow:
		return decided(map[string]any{"behavior": "allow"})
	}
	return decided(map[string]any{"behavior": "deny", "message": reason(o)})
}
