package hook

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/countersign-app/countersign/backend/approval"
)

// gemini is the Gemini command line with its hook BeforeTool, which comes before
// every call of every tool and before its own rules: a yes leaves those in
// force, and a no is final. Its sources know a third word, ask, which older ones
// take for a yes, so where nobody could be asked the answer is no.
//
// Tried against @google/gemini-cli 0.61.0 without a person before it. There
// tool_input is taken for the whole input and not merged over it, as its
// documentation says, so an answer that changes the command holds all other
// fields too.
func gemini() Agent {
	return Agent{
		Name: "gemini", Title: "Gemini CLI",
		Capability: Capability{
			Blocking: true, FailMode: FailsOpen, Timeout: time.Minute,
			TimeoutMax:      math.MaxInt32 * time.Millisecond, // what a timer of its own can take
			CanRewriteInput: true, DenialTextReachesModel: true,
		},
		Read: readGemini,
		// Exit code 2 blocks, and what is printed beside it is why.
		Refuse: func(err error) Answer { return blocked(unread(err)) },
	}
}

func readGemini(input []byte) (Event, error) {
	fields, err := parse(input)
	if err != nil {
		return Event{}, err
	}
	event, err := fields.text("hook_event_name")
	if err != nil {
		return Event{}, err
	}
	switch event {
	case "BeforeTool":
		return beforeTool(fields)
	case "AfterTool", "BeforeAgent", "AfterAgent", "BeforeModel", "AfterModel", "BeforeToolSelection",
		"SessionStart", "SessionEnd", "PreCompress", "Notification":
		return ignored(event, silent()), nil
	}
	return Event{}, unknownEvent(event)
}

// ignored is an event about nothing that is decided here.
func ignored(name string, a Answer) Event {
	return Event{Name: name, Ignored: true, Silent: func(string) Answer { return a }}
}

// unknownEvent refuses an event that we do not know: it may be one by which the
// agent lets something run.
func unknownEvent(name string) error {
	if name == "" {
		return errors.New("it does not say which event it is about")
	}
	return fmt.Errorf("the event %.60q is not known here: take our hook out of it", name)
}

func beforeTool(fields object) (Event, error) {
	words, err := fields.words("tool_name", "session_id", "cwd")
	if err != nil {
		return Event{}, err
	}
	input, err := fields.object("tool_input")
	if err != nil {
		return Event{}, err
	}
	n := native{Agent: "gemini", Tool: words[0], Said: words[0], Args: copyOf(input), Session: words[1], Cwd: words[2]}
	if err := n.geminiTool(fields); err != nil {
		return Event{}, err
	}
	call, err := n.call()
	if err != nil {
		return Event{}, err
	}
	call.Who = n.runs()
	if input.has("additional_permissions") { // it asks for more than its own sandbox gives
		call.DefaultToNo, call.NoAlways = true, true
	}
	return Event{
		Name: "BeforeTool", Call: call,
		Reply: func(o approval.Outcome, rewritten string) Answer {
			return decidesGemini(rewrite{call.Who, input, rewritten}, o)
		},
		Silent: func(why string) Answer { return geminiNo(unasked(why)) },
	}, nil
}

// runs tells who runs what is allowed: we run the commands, where the agent
// lets its hook change them.
func (n native) runs() approval.Who {
	if n.Tool == bashExecute && n.Server == "" {
		return approval.Ours
	}
	return approval.Theirs
}

// geminiTool gives the tool and its arguments our names.
func (n *native) geminiTool(fields object) error {
	if fields.has("mcp_context") {
		return n.geminiServer(fields)
	}
	switch n.Tool {
	case "run_shell_command":
		n.Tool = bashExecute
		return n.geminiFolder()
	case "read_file":
		n.Tool = fileRead
		return n.Args.renames("path", "file_path", "absolute_path")
	case "write_file":
		n.Tool = fileWrite
		return n.Args.rename("file_path", "path")
	case "replace":
		n.Tool = fileEdit
		return n.Args.rename("file_path", "path")
	case "list_directory":
		n.Tool = fileList
		return n.Args.rename("dir_path", "path")
	case "glob":
		n.Tool, n.Opens = fileSearch, approval.OpensNone
		return errors.Join(n.Args.rename("dir_path", "path"), globFolder(n.Args, n.Cwd))
	case "grep_search", "search_file_content":
		n.Tool, n.Opens = fileSearch, "include_pattern"
		return n.Args.rename("dir_path", "path")
	case "google_web_search":
		n.Tool = webSearch
	case "web_fetch":
		return n.geminiAddresses()
	default:
		return foreign(n.Tool)
	}
	return nil
}

func (n *native) geminiServer(fields object) error {
	context, err := fields.object("mcp_context")
	if err != nil {
		return err
	}
	words, err := context.words("server_name", "tool_name")
	if err != nil {
		return err
	}
	if n.Server, n.Tool = words[0], words[1]; n.Server == "" {
		return errors.New("mcp_context names no server")
	}
	return nil
}

// geminiFolder takes the folder of a command, which Gemini resolves by its text
// alone. Policy wants a command without one among its arguments.
func (n *native) geminiFolder() error {
	folder, err := n.Args.text("dir_path")
	delete(n.Args, "dir_path")
	switch {
	case err != nil || folder == "":
		return err
	case filepath.IsAbs(folder):
		n.Cwd = filepath.Clean(folder)
	default:
		n.Cwd = filepath.Join(n.Cwd, folder)
	}
	return nil
}

// maxAddresses bounds how many addresses one call names. Gemini takes 20.
const maxAddresses = 20

// geminiAddresses finds the addresses in the prompt of web_fetch as Gemini
// does: each word that holds :// and that a browser takes for one.
func (n *native) geminiAddresses() error {
	words, err := n.Args.words("prompt", "url")
	if err != nil {
		return err
	}
	var list []string
	if words[1] != "" { // the name of an experiment for the same
		list = append(list, words[1])
	}
	for _, word := range strings.FieldsFunc(words[0], func(r rune) bool { return unicode.IsSpace(r) || r == 0xFEFF }) {
		if strings.Contains(word, "://") {
			list = append(list, word)
		}
	}
	return setAddresses(n.Args, list)
}

// setAddresses writes addresses where policy looks for them.
func setAddresses(args object, list []string) error {
	if len(list) > maxAddresses {
		return fmt.Errorf("the call names more than %d addresses", maxAddresses)
	}
	for _, address := range list {
		if len(address) > maxPath || hasControl(address) {
			return errors.New("the call names an address that cannot be read")
		}
	}
	delete(args, "urls")
	if len(list) > 0 {
		args.set("url", list[0])
	}
	if len(list) > 1 {
		args.set("urls", list[1:])
	}
	return nil
}

// renames gives fields our name for them, whichever of them is there.
func (o object) renames(to string, from ...string) error {
	for _, name := range from {
		if err := o.rename(name, to); err != nil {
			return err
		}
	}
	return nil
}

// foreign refuses a tool that policy would take for one that it knows, although
// the agent means another: it would be judged by what it does not do.
func foreign(tool string) error {
	switch tool {
	case bashExecute, fileRead, fileWrite, fileEdit, fileDelete, fileList, fileSearch, webFetch, webSearch,
		"bash", "shell", "exec", "read", "write", "edit", "delete", "list", "fetch", "search":
		return fmt.Errorf("the agent has a tool called %q that is not the one that policy knows by this name", tool)
	}
	return nil
}

// rewrite is a call whose input the answer may change: the input as the agent
// gave it, and the command line that runs what was allowed.
type rewrite struct {
	who   approval.Who
	input object
	line  string
}

// lost reports whether we were to run it, and there is no command line for that.
func (r rewrite) lost() bool { return r.who == approval.Ours && r.line == "" }

// changed is the input with our command line, nil where nothing is to change.
func (r rewrite) changed() object {
	if r.who != approval.Ours {
		return nil
	}
	input := copyOf(r.input)
	input.set("command", r.line)
	return input
}

func decidesGemini(r rewrite, o approval.Outcome) Answer {
	switch {
	case o.Verdict != approval.VerdictAllow:
		return geminiNo(reason(o))
	case r.lost():
		return geminiNo(notRewritten)
	}
	answer := map[string]any{"decision": "allow"}
	if input := r.changed(); input != nil {
		answer["hookSpecificOutput"] = map[string]any{"hookEventName": "BeforeTool", "tool_input": input}
	}
	return printed(answer)
}

func geminiNo(why string) Answer {
	return printed(map[string]any{"decision": "deny", "reason": why})
}
