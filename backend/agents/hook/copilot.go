package hook

import (
	"bytes"
	"errors"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// copilot is the Copilot command line, with its hooks preToolUse, which comes
// before every call, and permissionRequest, which comes after it and before its
// own rules, unless preToolUse said yes. After silence those rules can let a
// call run, so where nobody could be asked the answer is no. A hook that takes
// too long counts as silence for both.
//
// Tried against @github/copilot 1.0.102, where some things are not as its
// documentation says: permissionRequest has the names of camelCase under its
// PascalCase name too, and says in hookName what it is; what breaks there counts
// as a denial; and PreToolUse is answered by hookSpecificOutput, as in VS Code.
// Versions before 1.0.24 do not know modifiedArgs and run the command as it was.
func copilot() Agent {
	return Agent{
		Name: "copilot", Title: "Copilot CLI",
		Capability: Capability{
			Blocking: true, FailMode: FailsOpen, Timeout: 30 * time.Second,
			CanRewriteInput: true, DenialTextReachesModel: true,
		},
		Read: func(input []byte) (Event, error) { return readGitHub("copilot", input) },
		// Exit code 2 denies for both events. What is printed says why.
		Refuse: func(err error) Answer {
			why := plain(unread(err))
			a := printed(map[string]any{
				"permissionDecision": "deny", "permissionDecisionReason": why, "behavior": "deny", "message": why,
			})
			a.Stderr, a.Code = why+"\n", 2
			return a
		},
	}
}

// gitHubEvent is an event of Copilot CLI or of VS Code, whose words differ but
// little.
type gitHubEvent struct {
	agent string
	// name is that of the event, and tool, args, session are those of its fields.
	name, tool, args, session string
	fields                    object
}

// readGitHub reads an event in any of their ways to write one: either program
// can be started from a file that was written for the other.
func readGitHub(agent string, input []byte) (Event, error) {
	fields, err := parse(input)
	if err != nil {
		return Event{}, err
	}
	e, err := gitHubWords(agent, fields)
	if err != nil {
		return Event{}, err
	}
	switch e.name {
	case preToolUse:
		return e.read()
	case "preToolUse", "permissionRequest", permissionRequest:
		if agent == "copilot" { // VS Code has none of these
			return e.read()
		}
	case "postToolUse", "PostToolUse", "PostToolUseFailure", "SessionStart", "SessionEnd", "UserPromptSubmit", "Stop",
		"SubagentStart", "SubagentStop", "PreCompact", "ErrorOccurred", "Notification":
		return ignored(e.name, silent()), nil
	}
	return Event{}, unknownEvent(e.name)
}

// gitHubWords finds out which event it is, and how its fields are called.
// preToolUse in camelCase does not name itself.
func gitHubWords(agent string, fields object) (gitHubEvent, error) {
	words, err := fields.words("hookName", "hook_event_name", "hookEventName")
	if err != nil {
		return gitHubEvent{}, err
	}
	camel := gitHubEvent{agent: agent, name: words[0], tool: "toolName", args: "toolInput", session: "sessionId", fields: fields}
	snake := gitHubEvent{agent: agent, name: words[1] + words[2], tool: "tool_name", args: "tool_input", session: "session_id", fields: fields}
	if !fields.has("session_id") { // as VS Code has it
		snake.session = "sessionId"
	}
	switch {
	case camel.name != "" && snake.name != "" || words[1] != "" && words[2] != "":
		return gitHubEvent{}, errors.New("it says more than once which event it is about")
	case snake.name != "":
		return snake, nil
	case camel.name != "":
		return camel, nil
	case fields.has("toolResult"):
		camel.name = "postToolUse"
	case fields.has("toolArgs"):
		camel.name, camel.args = "preToolUse", "toolArgs"
	}
	return camel, nil
}

func (e gitHubEvent) read() (Event, error) {
	words, err := e.fields.words(e.tool, e.session, "cwd")
	if err != nil {
		return Event{}, err
	}
	input, err := nestedObject(e.fields, e.args)
	if err != nil {
		return Event{}, err
	}
	n := native{Agent: e.agent, Tool: words[0], Said: words[0], Args: copyOf(input), Session: words[1], Cwd: words[2]}
	if err := n.gitHubTool(e.asksPermission()); err != nil {
		return Event{}, err
	}
	call, err := n.call()
	if err != nil {
		return Event{}, err
	}
	if !e.asksPermission() {
		call.Who = n.runs()
	}
	if input.has("requestUnsandboxedExecution") { // VS Code's word for leaving its sandbox
		call.DefaultToNo, call.NoAlways = true, true
	}
	leaves := leavesSandbox(input)
	if leaves {
		call.Who, call.JudgeOnly = approval.Theirs, true
	}
	return Event{
		Name: e.name, Call: call,
		Reply: func(o approval.Outcome, line string) Answer {
			if leaves && (o.Verdict == approval.VerdictAllow || o.Verdict == approval.VerdictAsk) {
				return silent()
			}
			return e.decides(rewrite{call.Who, input, line}, o)
		},
		Silent: func(why string) Answer { return e.no(unasked(why)) },
	}, nil
}

// leavesSandbox reports whether a call asks to run outside of Copilot's
// sandbox. It takes no yes of a hook for that and asks the person, so from here
// it gets a no or nothing.
func leavesSandbox(input object) bool {
	return input.has("requestSandboxBypass") && string(bytes.TrimSpace(input["requestSandboxBypass"])) != "false"
}

func (e gitHubEvent) asksPermission() bool { return strings.EqualFold(e.name, permissionRequest) }

func (e gitHubEvent) decides(r rewrite, o approval.Outcome) Answer {
	switch {
	case o.Verdict != approval.VerdictAllow:
		return e.no(reason(o))
	case r.lost():
		return e.no(notRewritten)
	case e.asksPermission():
		return printed(map[string]any{"behavior": "allow"})
	}
	answer, changed := map[string]any{"permissionDecision": "allow"}, "modifiedArgs"
	if e.name == preToolUse {
		changed = "updatedInput"
	}
	if input := r.changed(); input != nil {
		answer[changed] = input
	}
	return e.print(answer)
}

func (e gitHubEvent) no(why string) Answer {
	if e.asksPermission() {
		return printed(map[string]any{"behavior": "deny", "message": why})
	}
	return e.print(map[string]any{"permissionDecision": "deny", "permissionDecisionReason": why})
}

// print writes an answer to preToolUse where it is looked for.
func (e gitHubEvent) print(answer map[string]any) Answer {
	if e.name == preToolUse {
		return specific(preToolUse, answer)
	}
	return printed(answer)
}

// gitHubTool gives the tool and its arguments our names. preToolUse writes the
// tool of a server as SERVER-TOOL, which cannot be taken apart, so it stays one
// word there; permissionRequest writes SERVER/TOOL.
func (n *native) gitHubTool(asksPermission bool) error {
	if server, tool, ok := strings.Cut(n.Tool, "/"); ok && asksPermission {
		n.Server, n.Tool = server, tool
		if server == "" {
			return errors.New("it does not say whose tool it is")
		}
		return nil
	}
	switch n.Tool {
	case "bash", "Bash":
		n.Tool = bashExecute
	case "view", "Read":
		n.Tool = fileRead
	case "create", "Write":
		n.Tool = fileWrite
		return n.Args.rename("file_text", "content")
	case "edit", "Edit", "str_replace_editor", "apply_patch":
		return n.gitHubEdit()
	case "grep", "rg", "Grep":
		n.Tool, n.Opens = fileSearch, "glob"
	case "glob", "Glob":
		n.Tool, n.Opens = fileSearch, approval.OpensNone
		return globFolder(n.Args, n.Cwd)
	case "web_fetch", "WebFetch":
		n.Tool = webFetch
	case "web_search", "WebSearch":
		n.Tool = webSearch
	default:
		return n.vscodeTool()
	}
	return nil
}

// gitHubEdit takes an edit of one file, or a patch of many, which can have the
// same name.
func (n *native) gitHubEdit() error {
	if n.Args.has("input") && !n.Args.has("path") {
		return errors.Join(n.Args.rename("input", "command"), n.codexPatch())
	}
	n.Tool = fileEdit
	return n.Args.rename("file_path", "path") // as permissionRequest has it
}
