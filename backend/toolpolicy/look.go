package toolpolicy

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gowebpki/jcs"

	"github.com/countersign-app/countersign/backend/approval"
)

// Look says what a call of a session whose folder is folder would touch. Its error
// says why the call means nothing, for the caller.
func Look(call *approval.ToolCall, folder approval.Folder, m Machine) (t approval.Tool, err error) {
	if err := cmp.Or(checkName("tool", call.Tool, true), checkName("server", call.Server, false)); err != nil {
		return t, err
	}
	args, canon, err := readArgs(call.Args)
	if err != nil {
		return t, err
	}
	name := canonical(call.Tool, call.Server)
	t = approval.Tool{
		Name: name, Server: call.Server, Said: call.Tool, Source: call.Source, Args: canon, Category: category(name, call.Server),
		DefaultToNo: call.DefaultToNo, NoAlways: call.NoAlways,
	}
	if t.Digest, err = digest(call, name, canon); err != nil {
		return t, err
	}
	if err := twice(flatten(nil, "", args)); err != nil {
		return t, err
	}
	if name == bashExecute && call.Server == "" {
		for key := range args {
			if steersCommand(key) {
				return t, fmt.Errorf("the command comes with %s, which is not judged: give its folder and environment with the call, and all that it is in command", key)
			}
		}
		if _, ok := args["command"].(string); !ok {
			return t, errors.New("bash_execute needs command, a text")
		}
		t.Command = true
		return t, nil
	}
	l := looker{Machine: m, cwd: call.Cwd, tool: &t, folder: folder, search: search{arg: cmp.Or(call.Opens, "glob")}}
	err = l.values("", "", args)
	if err == nil && t.Server == "" && name == fileSearch && len(t.Files) == 0 { // it searches where the session is
		t.Files = append(t.Files, l.look("path", cmp.Or(call.Cwd, "/")))
	}
	if err == nil && t.Server == "" && name == fileSearch && call.Opens != approval.OpensNone {
		l.searched()
	}
	if err == nil && needsPath(&t) && !slices.ContainsFunc(t.Files, namesFile) {
		err = fmt.Errorf("%s needs path, a text", name)
	}
	if err == nil && t.Server == "" && name == webFetch && len(t.Addresses) == 0 {
		err = errors.New("web_fetch needs url, a text")
	}
	return t, err
}

// namesFile reports whether a file is the one that a tool for files is for.
func namesFile(f approval.ToolFile) bool {
	name, _, _ := strings.Cut(f.Arg, ".")
	return pathArgument(name)
}

// steersCommand reports whether an argument beside a command would change what
// that does, or could be taken for the command by who reads names in any case.
func steersCommand(key string) bool {
	plain := strings.NewReplacer("_", "", "-", "").Replace(key)
	return key != "command" && slices.ContainsFunc([]string{
		"command", "cmd", "script", "args", "argv", "arguments", "stdin", "input", "shell", "env", "environment",
		"workdir", "cwd", "dir", "dirpath", "directory", "workingdir", "workingdirectory",
	}, func(name string) bool { return strings.EqualFold(plain, name) })
}

// Beside is what a call of a tool that takes a command says beside it, in JSON, ""
// for nothing. What is said there about the command, or how long it may take, is
// left out.
func Beside(t *approval.Tool) string {
	var args map[string]json.RawMessage
	if json.Unmarshal(t.Args, &args) != nil {
		return ""
	}
	for _, key := range []string{"command", "description", "explanation", "timeout"} {
		delete(args, key)
	}
	text, err := json.Marshal(args)
	if err != nil || len(args) == 0 {
		return ""
	}
	return string(text)
}

// twice refuses arguments of which two have one dotted name: rules could not
// tell them apart.
func twice(args []Arg) error {
	seen := map[string]bool{}
	for _, a := range args {
		if seen[a.Name] {
			return fmt.Errorf("two arguments are called %s", a.Name)
		}
		seen[a.Name] = true
	}
	return nil
}

// Command returns the command text of a call of a tool that takes one, and false
// for other calls and where it is no text.
func Command(call *approval.ToolCall) (text string, ok bool) {
	if call.Server != "" || canonical(call.Tool, "") != bashExecute || len(call.Args) > maxArgs {
		return "", false
	}
	var args map[string]any // a struct would take Command for command
	if json.Unmarshal(call.Args, &args) != nil {
		return "", false
	}
	text, ok = args["command"].(string)
	return text, ok
}

// whole is a call with all its arguments, each on lines of its own, for who is
// asked about it.
func whole(t *approval.Tool) string {
	var b bytes.Buffer
	if string(t.Args) == "{}" || json.Indent(&b, t.Args, "", "  ") != nil {
		return t.FullName()
	}
	return t.FullName() + "\n" + b.String()
}

// Plan is what a call of a tool would do, as who asks and records knows plans.
func Plan(t *approval.Tool) approval.Plan {
	return approval.Plan{
		Text: whole(t), Tool: t, Targets: targets(t),
		Segments: []approval.Segment{{Argv: []string{t.FullName(), string(t.Args)}, End: len(t.FullName())}},
	}
}

// targets are the files that a call of a known tool would change, for a look at
// what is there. Nothing is judged by them.
func targets(t *approval.Tool) (list []approval.Target) {
	ops := map[string]approval.TargetOp{fileWrite: approval.TargetWrites, fileEdit: approval.TargetChanges, fileDelete: approval.TargetDeletes}
	op, ok := ops[t.Name]
	if !ok || t.Server != "" {
		return nil
	}
	for _, f := range t.Files {
		list = append(list, approval.Target{Path: path.Clean(f.Path), Op: op})
	}
	return list
}

// maxText bounds what one line tells of the arguments, in bytes.
const maxText = 2000

// Text is a call in one line, for lists.
func Text(t *approval.Tool) string {
	text := t.FullName()
	for _, f := range t.Files {
		text += " " + f.Path
	}
	for _, a := range t.Addresses {
		text += " " + a.URL
	}
	if (len(t.Files)+len(t.Addresses) == 0 || t.Server != "" || t.Category == approval.CategoryUnset) && string(t.Args) != "{}" { // what it does is in all of them
		text += " " + string(t.Args)
	}
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	return text
}

func needsPath(t *approval.Tool) bool {
	switch t.Name {
	case fileRead, fileWrite, fileEdit, fileDelete:
		return t.Server == ""
	}
	return false
}

// checkName refuses names that rules and people could take for others.
func checkName(what, name string, needed bool) error {
	switch {
	case name == "" && needed:
		return fmt.Errorf("the call names no %s", what)
	case len(name) > maxName:
		return fmt.Errorf("the name of the %s is longer than %d bytes", what, maxName)
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsGraphic(r) }):
		return fmt.Errorf("the name of the %s holds blanks or characters that cannot be seen", what)
	case what == "server" && strings.Contains(name, "/"):
		return errors.New("the name of the server holds a slash")
	}
	return nil
}

// readArgs reads the arguments of a call and returns them in canonical form.
// Whatever two readers could understand differently is refused.
func readArgs(text json.RawMessage) (args map[string]any, canon json.RawMessage, err error) {
	if len(bytes.TrimSpace(text)) == 0 {
		text = json.RawMessage("{}")
	}
	if len(text) > maxArgs {
		return nil, nil, fmt.Errorf("the arguments are longer than %d bytes", maxArgs)
	}
	if err := checkJSON(text); err != nil {
		return nil, nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&args); err != nil || args == nil {
		return nil, nil, errors.New("the arguments must be a JSON object")
	}
	if canon, err = jcs.Transform(text); err != nil {
		return nil, nil, fmt.Errorf("the arguments have no canonical form: %w", err)
	}
	return args, canon, nil
}

// digest names a call by what makes it this one: tool, server, arguments, folder,
// environment and agent.
func digest(call *approval.ToolCall, name string, canon json.RawMessage) (string, error) {
	text, err := json.Marshal(struct {
		Tool   string            `json:"tool"`
		Server string            `json:"server"`
		Args   json.RawMessage   `json:"args"`
		Cwd    string            `json:"cwd"`
		Env    map[string]string `json:"env"`
		Agent  string            `json:"agent"`
	}{name, call.Server, canon, call.Cwd, call.Env, call.AgentID})
	if err != nil {
		return "", err
	}
	if text, err = jcs.Transform(text); err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}
