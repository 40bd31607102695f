package hook

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// opencode is asked over the HTTP server of a running opencode (room opencode
// follows it). Its input here is one permission request as that server lists it,
// and the answer is the body of the reply; nothing to reply leaves the question
// where it is, in opencode's own windows.
//
// A request says little of the call that it is about: of a command not the
// folder, of an MCP tool not one argument. So whoever follows the server adds
// directory, the folder that the session works in, and call, which has the tool
// and its input as opencode keeps them. A request whose call cannot be told is
// an error.
//
// Tried against opencode 1.18.33.
func opencode() Agent {
	return Agent{
		Name: "opencode", Title: "opencode",
		Capability: Capability{
			Blocking: true, AsksOnlyWhenNeeded: true, FailMode: FailsPending,
			CanPersist: []string{"project"}, DenialTextReachesModel: true,
		},
		Read:   readOpencode,
		Refuse: func(error) Answer { return silent() },
	}
}

// opencodeRequest is a permission request of any generation.
type opencodeRequest struct {
	event      string // what the stream of events calls it
	permission string
	asked      []string // what it is about, as patterns
	always     []string // what a yes for good would let pass from then on
	metadata   object
	old        bool // it takes the older reply
}

func readOpencode(input []byte) (Event, error) {
	fields, err := parse(input)
	if err != nil {
		return Event{}, err
	}
	words, err := fields.words("id", "sessionID", "directory")
	if err != nil {
		return Event{}, err
	}
	if words[0] == "" {
		return Event{}, errors.New("the request has no id")
	}
	r, err := opencodeWords(fields)
	if err != nil {
		return Event{}, err
	}
	n := native{Agent: "opencode", Session: words[1], Cwd: words[2]}
	if err := n.opencodeCall(r, fields); err != nil {
		return Event{}, err
	}
	call, err := n.call()
	if err != nil {
		return Event{}, err
	}
	if n.Tool == "doom_loop" {
		call.DefaultToNo, call.NoAlways = true, true
	}
	return Event{Name: r.event, Call: call, Reply: r.reply, Silent: func(string) Answer { return silent() }}, nil
}

// opencodeWords reads a request. The three generations differ in the name of
// what is asked for.
func opencodeWords(fields object) (r opencodeRequest, err error) {
	words, err := fields.words("permission", "action", "type")
	if err != nil {
		return r, err
	}
	if r.metadata, err = fields.object("metadata"); err != nil {
		return r, err
	}
	asked, always := "patterns", "always"
	switch {
	case words[0] != "" && words[1] != "":
		return r, errors.New("the request has both permission and action")
	case words[0] != "":
		r.event, r.permission = "permission.asked", words[0]
	case words[1] != "":
		r.event, r.permission = "permission.v2.asked", words[1]
		asked, always = "resources", "save"
	case words[2] != "":
		r.event, r.permission, r.old = "permission.updated", words[2], true
		return r, nil
	default:
		return r, errors.New("the request does not say what it is about")
	}
	for name, list := range map[string]*[]string{asked: &r.asked, always: &r.always} {
		if fields.has(name) && json.Unmarshal(fields[name], list) != nil {
			return r, fmt.Errorf("%s is no list of texts", name)
		}
	}
	return r, nil
}

// opencodeCall finds the call that a request is about and gives it our names.
func (n *native) opencodeCall(r opencodeRequest, fields object) error {
	if r.permission == "doom_loop" { // whether to go on, after the same call three times
		n.Tool, n.Args = r.permission, copyOf(r.metadata)
		return nil
	}
	tool, input, err := r.call(fields)
	if err != nil {
		return err
	}
	if !r.about(tool) {
		return fmt.Errorf("the request is about %.40q, and the call that belongs to it is of %.40q", r.permission, tool)
	}
	n.Tool, n.Said, n.Args = tool, tool, copyOf(input)
	return errors.Join(n.opencodeTool(), r.sameCommand(n.Args))
}

// call returns the tool and its input: as they were added to the request, else
// what the request itself tells of the tools that say enough there.
func (r opencodeRequest) call(fields object) (tool string, input object, err error) {
	if fields.has("call") {
		call, err := fields.object("call")
		if err != nil {
			return "", nil, err
		}
		if tool, err = call.text("tool"); err != nil || !call.has("input") {
			return "", nil, errors.New("the call of the request is incomplete")
		}
		input, err = call.object("input")
		return tool, input, err
	}
	meta := r.metadata
	switch {
	case (r.permission == "bash" || r.permission == "external_directory") && meta.has("command"):
		return "bash", object{"command": meta["command"]}, nil
	case r.permission == "webfetch":
		return "webfetch", copyOf(meta), nil
	case r.permission == "websearch":
		return "websearch", copyOf(meta), nil
	case r.permission == "edit": // a list of files is not absolute
		file, err := meta.text("filepath")
		if err != nil || !filepath.IsAbs(file) {
			return "", nil, errors.New("the request does not tell which file is edited")
		}
		input := copyOf(meta)
		return "edit", input, input.rename("filepath", "filePath")
	}
	return "", nil, fmt.Errorf("the request tells too little of the call of %.40q", r.permission)
}

// about reports whether a request is about a call of this tool. A call can
// lead to requests about something else, of which it does not tell enough.
func (r opencodeRequest) about(tool string) bool {
	switch r.permission {
	case "external_directory":
		return true
	case "edit":
		return slices.Contains([]string{"edit", "write", "multiedit", "patch", "apply_patch"}, tool)
	}
	return r.permission == tool
}

// opencodeTool gives the tool and its arguments our names.
func (n *native) opencodeTool() error {
	switch n.Tool {
	case "bash":
		n.Tool = bashExecute
		return n.opencodeFolder()
	case "read":
		n.Tool = fileRead
	case "write":
		n.Tool = fileWrite
	case "edit", "multiedit":
		n.Tool = fileEdit
	case "patch", "apply_patch":
		return errors.Join(n.Args.rename("patchText", "command"), n.codexPatch())
	case "list":
		n.Tool = fileList
	case "glob":
		n.Tool, n.Opens = fileSearch, approval.OpensNone
		return globFolder(n.Args, n.Cwd)
	case "grep":
		n.Tool, n.Opens = fileSearch, "include"
	case "webfetch":
		n.Tool = webFetch
	case "websearch":
		n.Tool = webSearch
	default:
		return foreign(n.Tool)
	}
	return n.Args.rename("filePath", "path")
}

// opencodeFolder takes the folder of a command. Policy wants a command without
// one among its arguments.
func (n *native) opencodeFolder() error {
	folder, err := n.Args.text("workdir")
	delete(n.Args, "workdir")
	switch {
	case err != nil || folder == "":
		return err
	case strings.HasPrefix(folder, "~"), strings.Contains(folder, "$"):
		return errors.New("the folder of the command is one that only a shell knows")
	case filepath.IsAbs(folder):
		n.Cwd = filepath.Clean(folder)
	default:
		n.Cwd = filepath.Join(n.Cwd, folder)
	}
	return nil
}

// sameCommand refuses a request that speaks of another command than its call,
// which a plugin may have changed.
func (r opencodeRequest) sameCommand(args object) error {
	words, err := r.metadata.words("command")
	if err != nil || words[0] == "" || !args.has("command") {
		return err
	}
	if text, err := args.text("command"); err != nil || text != words[0] {
		return errors.New("the request is about another command than its call")
	}
	return nil
}

// reply is the body of the reply. Where nobody decided there is none.
func (r opencodeRequest) reply(o approval.Outcome, _ string) Answer {
	word, message := "", ""
	switch {
	case o.Verdict == approval.VerdictAllow && o.Always && r.exact():
		word = "always"
	case o.Verdict == approval.VerdictAllow:
		word = "once"
	case o.Verdict == approval.VerdictDeny && !o.Unanswered():
		word, message = "reject", reason(o)
	default:
		return silent()
	}
	if r.old {
		return printed(map[string]any{"response": word})
	}
	body := map[string]any{"reply": word}
	if message != "" {
		body["message"] = message
	}
	return printed(body)
}

// exact reports whether a yes for good would let pass just what is asked now.
// opencode mostly makes patterns of it, such as "git push *" or "*" for every
// edit: what those let pass would never come here, not even to be denied. Then
// the yes is for once, and the next time is answered by what the host remembers.
func (r opencodeRequest) exact() bool {
	wider := func(pattern string) bool {
		return strings.ContainsAny(pattern, "*?") || !slices.Contains(r.asked, pattern)
	}
	return len(r.always) > 0 && !slices.ContainsFunc(r.always, wider)
}
