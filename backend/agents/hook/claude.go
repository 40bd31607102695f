package hook

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// claudeCode is Claude Code, with its hooks PermissionRequest, where a person
// is asked, and PreToolUse, which comes before its own rules and is used for
// denials alone. Written from its published types and not tried against the
// real client.
func claudeCode() Agent {
	return Agent{
		Name: "claude-code", Title: "Claude Code",
		Capability: Capability{
			Blocking: true, AsksOnlyWhenNeeded: true, FailMode: FailsToPrompt, Timeout: 600 * time.Second,
			CanRewriteInput: true, CanPersist: []string{"session"},
			DenialTextReachesModel: true, Experimental: true,
		},
		Read: readClaude,
		// Which event it is cannot be told. Exit code 2 blocks for both.
		Refuse: func(err error) Answer { return blocked(unread(err)) },
	}
}

// The events of Claude Code, and of Codex, that are answered.
const (
	preToolUse        = "PreToolUse"
	permissionRequest = "PermissionRequest"
)

// asksInMode is the permission mode of Claude Code and Codex in which a person is
// asked where no rule of theirs decides. In acceptEdits, plan, auto, dontAsk and
// bypassPermissions there are calls that nobody is asked about, and so there may be
// in a mode that is not known or not said.
const asksInMode = "default"

// claudeInput is what both events tell.
type claudeInput struct {
	event, tool, session, cwd, mode string
	input                           object // as the agent gave it
	fields                          object
}

func readClaude(input []byte) (Event, error) {
	fields, err := parse(input)
	if err != nil {
		return Event{}, err
	}
	in, err := claudeWords(fields)
	if err != nil {
		return Event{}, err
	}
	if in.event == "" {
		return Event{}, errors.New("hook_event_name is missing")
	}
	if in.ignored() {
		return Event{Name: in.event, Ignored: true, Silent: func(string) Answer { return silent() }}, nil
	}
	if in.input, err = fields.object("tool_input"); err != nil {
		return Event{}, err
	}
	call, err := in.call()
	if err != nil {
		return Event{}, err
	}
	if in.event == preToolUse {
		call.JudgeOnly = true
		return Event{
			Name: in.event, Tool: in.tool, Unasked: in.mode != asksInMode, Call: call,
			Reply: deniesOnly, Silent: func(string) Answer { return silent() },
		}, nil
	}
	if call.Tool == bashExecute && call.Server == "" {
		call.Who = approval.Ours
	}
	return Event{
		Name: in.event, Tool: in.tool, Call: call,
		Reply:  func(o approval.Outcome, rewritten string) Answer { return in.decides(call.Who, o, rewritten) },
		Silent: func(string) Answer { return silent() },
	}, nil
}

func claudeWords(fields object) (claudeInput, error) {
	words, err := fields.words("hook_event_name", "tool_name", "session_id", "cwd", "permission_mode")
	if err != nil {
		return claudeInput{}, err
	}
	return claudeInput{event: words[0], tool: words[1], session: words[2], cwd: words[3], mode: words[4], fields: fields}, nil
}

// ignored reports whether an event is none of ours. The two tools are questions
// of Claude's own to the person: a yes from here would answer them with nothing.
func (in claudeInput) ignored() bool {
	switch in.event {
	case preToolUse:
		return false
	case permissionRequest:
		return in.tool == "AskUserQuestion" || in.tool == "ExitPlanMode"
	}
	return true
}

func (in claudeInput) call() (approval.ToolCall, error) {
	n := native{Agent: "claude-code", Said: in.tool, Args: copyOf(in.input), Cwd: in.cwd, Session: in.session}
	server, err := in.server()
	if err != nil {
		return approval.ToolCall{}, err
	}
	if server != "" {
		n.Server, n.Tool = server, strings.TrimPrefix(in.tool, "mcp__"+server+"__")
		return n.call()
	}
	var field string
	n.Tool, field = claudeTool(in.tool)
	if err := n.Args.rename(field, "path"); err != nil {
		return approval.ToolCall{}, err
	}
	if in.tool == "Grep" {
		n.Opens = "glob"
	}
	if in.tool == "Glob" {
		n.Opens = approval.OpensNone
		if err := globFolder(n.Args, in.cwd); err != nil {
			return approval.ToolCall{}, err
		}
	}
	call, err := n.call()
	if n.Args.has("dangerouslyDisableSandbox") && string(n.Args["dangerouslyDisableSandbox"]) != "false" {
		call.DefaultToNo, call.NoAlways = true, true
	}
	return call, err
}

// server returns the MCP server that has the tool, "" for none. Claude names it
// beside the tool; its name inside that of the tool has _ for what is no letter,
// digit, _ or -.
func (in claudeInput) server() (string, error) {
	split, _, ok := splitMCP(in.tool)
	if !ok {
		return "", nil
	}
	beside, err := in.fields.object("mcp_server")
	if err != nil {
		return "", err
	}
	name, err := beside.text("name")
	if err != nil {
		return "", err
	}
	name = strings.Map(func(r rune) rune {
		if r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	if rest, ok := strings.CutPrefix(in.tool, "mcp__"+name+"__"); name != "" && ok && rest != "" {
		return name, nil
	}
	return split, nil
}

// claudeTool returns our name for a tool of Claude Code, and what it calls the
// path.
func claudeTool(name string) (tool, pathField string) {
	switch name {
	case "Bash":
		return bashExecute, "path"
	case "Read":
		return fileRead, "file_path"
	case "NotebookRead":
		return fileRead, "notebook_path"
	case "Write":
		return fileWrite, "file_path"
	case "Edit", "MultiEdit":
		return fileEdit, "file_path"
	case "NotebookEdit":
		return fileEdit, "notebook_path"
	case "LS":
		return fileList, "path"
	case "Glob", "Grep":
		return fileSearch, "path"
	case "WebFetch":
		return webFetch, "path"
	case "WebSearch":
		return webSearch, "path"
	}
	return name, "path"
}

// globFolder has path name the folder in which a pattern finds files: a pattern
// may lead out of the one that is searched.
func globFolder(args object, cwd string) error {
	words, err := args.words("path", "pattern")
	if err != nil {
		return err
	}
	folder, pattern := words[0], words[1]
	if folder == "" {
		folder = cwd
	}
	fixed, wild := pattern, ""
	if i := strings.IndexAny(pattern, `*?[{(!\`); i >= 0 {
		fixed, wild = pattern[:i], pattern[i:]
	}
	if strings.Contains(wild, "..") {
		return errors.New("the pattern leads upwards behind a wildcard")
	}
	if strays(wild) {
		return errors.New("the pattern may lead elsewhere by its braces")
	}
	fixed = fixed[:strings.LastIndexByte(fixed, '/')+1] // not cleaned: links are followed before ".."
	if !strings.HasPrefix(fixed, "/") && !strings.HasPrefix(fixed, "~") {
		fixed = folder + "/" + fixed
	}
	if fixed = strings.TrimRight(fixed, "/"); fixed == "" {
		fixed = "/"
	}
	args.set("path", fixed)
	return nil
}

// strays reports whether braces may make a pattern absolute, or one that leads
// upwards: they are replaced before the path is looked at.
func strays(wild string) bool {
	holds := func(parts ...string) bool {
		return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(wild, part) })
	}
	return holds("{/", ",/", "{.,", ",.,", ",.}", "{./", ",./", "/.,", "/.}") ||
		holds("{,", ",,", ",}") && holds("}/", "}.")
}

// decided is an answer to PermissionRequest.
func decided(decision map[string]any) Answer {
	return specific(permissionRequest, map[string]any{"decision": decision})
}

// decides answers PermissionRequest. Where nobody could be asked it says
// nothing, and Claude's own dialog follows.
func (in claudeInput) decides(who approval.Who, o approval.Outcome, rewritten string) Answer {
	switch {
	case o.Unanswered():
		return silent()
	case o.Verdict != approval.VerdictAllow:
		return decided(map[string]any{"behavior": "deny", "message": reason(o)})
	case who == approval.Ours && rewritten == "":
		return decided(map[string]any{"behavior": "deny", "message": notRewritten})
	}
	decision := map[string]any{"behavior": "allow"}
	if who == approval.Ours {
		changed := copyOf(in.input)
		changed.set("command", rewritten)
		decision["updatedInput"] = changed
	} else if rule, ok := in.suggested(); o.Always && ok {
		decision["updatedPermissions"] = []any{rule}
	}
	return decided(decision)
}

// notRewritten is said where a command was allowed for us to run, and there is
// no command line by which the agent could have that done.
const notRewritten = "Countersign allowed this to be run by its host, which gave no id to run it under: try again."

// suggested returns the rule that Claude itself suggests for this tool, to hold
// in this session. Nothing is made up, and a rule without content, which is about
// the whole tool, is taken for a tool of an MCP server alone.
func (in claudeInput) suggested() (rule object, ok bool) {
	var list []object
	if json.Unmarshal(in.fields["permission_suggestions"], &list) != nil {
		return nil, false
	}
	for _, s := range list {
		words, err := s.words("type", "behavior")
		if err != nil || words[0] != "addRules" || words[1] != "allow" || !in.covers(s["rules"]) {
			continue
		}
		rule := object{"type": s["type"], "rules": s["rules"], "behavior": s["behavior"]}
		rule.set("destination", "session")
		return rule, true
	}
	return nil, false
}

// covers reports whether rules are about the tool of this call and no other.
func (in claudeInput) covers(rules json.RawMessage) bool {
	var list []object
	if json.Unmarshal(rules, &list) != nil {
		return false
	}
	for _, r := range list {
		words, err := r.words("toolName", "ruleContent")
		if err != nil || words[0] != in.tool || words[1] == "" && !strings.HasPrefix(in.tool, "mcp__") {
			return false
		}
	}
	return len(list) > 0
}
