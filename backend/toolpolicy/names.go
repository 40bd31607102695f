package toolpolicy

import (
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/toolnames"
)

// The canonical names of tools that something is known of.
const (
	bashExecute = "bash_execute"
	fileRead    = "file_read"
	fileWrite   = "file_write"
	fileEdit    = "file_edit"
	fileDelete  = "file_delete"
	fileList    = "file_list"
	fileSearch  = "file_search"
	webFetch    = "web_fetch"
	webSearch   = "web_search"
)

// canonical returns the name that policy knows for what an agent calls a tool
// of its own. A tool of a server keeps its name: what it does is the server's.
func canonical(name, server string) string {
	if server != "" {
		return name
	}
	switch name {
	case "bash", "shell", "exec":
		return bashExecute
	case "read":
		return fileRead
	case "write":
		return fileWrite
	case "edit":
		return fileEdit
	case "delete":
		return fileDelete
	case "list":
		return fileList
	case "fetch":
		return webFetch
	case "search":
		return fileSearch
	}
	return name
}

// category is what sort of thing a tool does, as far as that is known.
func category(name, server string) approval.ToolCategory {
	if server != "" {
		return approval.CategoryUnset
	}
	switch name {
	case fileRead, fileList, fileSearch:
		return approval.CategoryRead
	case fileWrite, fileEdit, fileDelete:
		return approval.CategoryWrite
	case bashExecute:
		return approval.CategoryExecute
	case webFetch, webSearch:
		return approval.CategoryNetwork
	}
	switch {
	case strings.HasPrefix(name, "session_"):
		return approval.CategorySession
	}
	return approval.CategoryUnset
}

// names reports whether a pattern of a rule names a tool: by its full name, an
// alias, a group or a profile. A pattern without a slash means no tool of a
// server, but for a lone *, which means all.
func names(pattern string, t *approval.Tool) bool {
	if list := toolnames.Group(pattern); list != nil {
		return t.Server == "" && slices.Contains(list, t.Name)
	}
	if pattern == "*" {
		return true
	}
	if !strings.Contains(pattern, "/") {
		return t.Server == "" && wild(canonical(pattern, ""), t.Name)
	}
	return wild(pattern, t.FullName())
}

// refuses reports whether a pattern of what restricts names a tool: in any case,
// and also by the names that agents show to people.
func refuses(pattern string, t *approval.Tool) bool {
	if names(pattern, t) {
		return true
	}
	lower := strings.ToLower(pattern)
	if server, tool, ok := strings.Cut(strings.TrimPrefix(lower, "mcp__"), "__"); ok && strings.HasPrefix(lower, "mcp__") {
		lower = server + "/" + tool
	}
	folded := *t
	folded.Name, folded.Server = strings.ToLower(t.Name), strings.ToLower(t.Server)
	return names(shownName(lower), &folded) || meansServer(lower, &folded)
}

// meansServer reports whether a pattern SERVER/TOOL may mean a tool that its agent
// names otherwise: Copilot CLI and VS Code write both as one word, SERVER-TOOL and
// mcp_SERVER_TOOL, and servers that are known by how they are started have a hash
// behind what people read.
func meansServer(pattern string, t *approval.Tool) bool {
	server, tool, ok := strings.Cut(pattern, "/")
	if !ok {
		return false
	}
	if t.Server == "" {
		return wild(server+"-"+tool, t.Name) || wild("mcp_"+server+"_"+tool, t.Name)
	}
	shown, _, hashed := strings.Cut(t.Server, "#")
	program, started, _ := strings.Cut(shown, ":")
	return hashed && wild(tool, t.Name) && (wild(server, shown) || wild(server, program) || wild(server, started))
}

// shownName is our name for what agents call the tools that something is known
// of, in small letters.
func shownName(name string) string {
	switch name {
	case "webfetch":
		return webFetch
	case "websearch":
		return webSearch
	case "grep":
		return fileSearch
	case "glob", "ls":
		return fileList
	case "multiedit", "notebookedit":
		return fileEdit
	}
	return name
}

// wild reports whether the whole of s is what a pattern stands for, in which *
// is any text and a backslash takes what follows it literally. It takes time in
// proportion to the product of both at worst, and both are bounded.
func wild(pattern, s string) bool {
	star, mark := -1, 0
	p, i := 0, 0
	for i < len(s) {
		literal := p < len(pattern) && pattern[p] == '\\' && p+1 < len(pattern)
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, i
			p++
		case literal && pattern[p+1] == s[i]:
			p, i = p+2, i+1
		case p < len(pattern) && !literal && pattern[p] == s[i]:
			p, i = p+1, i+1
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// exactly is the pattern that stands for just this text.
func exactly(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`).Replace(s)
}
