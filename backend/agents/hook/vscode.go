package hook

import (
	"encoding/json"
	"errors"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// vscode is the agent of VS Code with its hook PreToolUse, which comes before
// every call of every tool. After silence its own rules and its own question
// follow, and those rules may approve by themselves, so where nobody could be
// asked the answer is no.
//
// Written from its documentation, by which updatedInput is ignored where it does
// not fit the tool: it has all fields of the input, and only the command is
// another. Which names the tools have is from its sources. Not tried against the
// real client. Where it leaves the work to Copilot's runtime, events and tools
// have Copilot's names, which are understood too.
func vscode() Agent {
	return Agent{
		Name: "vscode", Title: "VS Code",
		Capability: Capability{
			Blocking: true, FailMode: FailsOpen, Timeout: 30 * time.Second,
			CanRewriteInput: true, DenialTextReachesModel: true, Experimental: true,
		},
		Read: func(input []byte) (Event, error) { return readGitHub("vscode", input) },
		// Exit code 2 blocks, and the text goes to the model.
		Refuse: func(err error) Answer { return blocked(unread(err)) },
	}
}

// vscodeTool gives the tool and its arguments our names.
func (n *native) vscodeTool() error {
	switch n.Tool {
	case "run_in_terminal":
		n.Tool = bashExecute
		return nil
	case "read_file":
		n.Tool = fileRead
	case "create_file", "create_directory":
		n.Tool = fileWrite
	case "replace_string_in_file", "insert_edit_into_file", "edit_notebook_file":
		n.Tool = fileEdit
	case "multi_replace_string_in_file":
		n.Tool = fileEdit
		return n.vscodeReplacements()
	case "list_dir":
		n.Tool = fileList
	case "file_search":
		n.Tool, n.Opens = fileSearch, approval.OpensNone
		return errors.Join(n.Args.rename("query", "pattern"), globFolder(n.Args, n.Cwd))
	case "grep_search":
		n.Tool, n.Opens = fileSearch, "includePattern"
		return n.Args.rename("query", "pattern")
	case "semantic_search":
		n.Tool = fileSearch
		return n.Args.rename("query", "pattern")
	case "fetch_webpage":
		n.Tool = webFetch
		return n.vscodeAddresses()
	default:
		return foreign(n.Tool)
	}
	return n.Args.renames("path", "filePath", "dirPath")
}

// vscodeReplacements takes the files out of a list of edits.
func (n *native) vscodeReplacements() error {
	var list []object
	if err := json.Unmarshal(n.Args["replacements"], &list); err != nil || len(list) == 0 || len(list) > maxPatched {
		return errors.New("replacements is no list of edits")
	}
	paths := make([]string, len(list))
	for i, edit := range list {
		path, err := edit.text("filePath")
		if err != nil || path == "" {
			return errors.New("an edit of replacements names no file")
		}
		paths[i] = path
	}
	n.Args.set("paths", paths)
	return nil
}

func (n *native) vscodeAddresses() error {
	list, err := n.Args.texts("urls")
	if err != nil {
		return err
	}
	return setAddresses(n.Args, list)
}

// texts returns a field that is a list of texts.
func (o object) texts(name string) (list []string, err error) {
	if err := json.Unmarshal(o[name], &list); err != nil || len(list) == 0 {
		return nil, errors.New(name + " is no list of texts")
	}
	return list, nil
}
