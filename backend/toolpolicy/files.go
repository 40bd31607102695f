package toolpolicy

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// looker collects the files and addresses that arguments name.
type looker struct {
	Machine
	cwd    string
	tool   *approval.Tool
	folder string // of the session, "" for none that counts
}

// values looks at an object or a list of arguments. at is its dotted name, key
// the last part of that which is no number.
func (l *looker) values(at, key string, value any) error {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if err := l.named(join(at, key), key, v[key]); err != nil {
				return err
			}
		}
	case []any:
		for i, sub := range v {
			if err := l.named(join(at, strconv.Itoa(i)), key, sub); err != nil {
				return err
			}
		}
	}
	return nil
}

func join(at, key string) string {
	if at == "" {
		return key
	}
	return at + "." + key
}

func (l *looker) named(at, key string, value any) error {
	text, ok := value.(string)
	if !ok {
		return l.values(at, key, value)
	}
	if len(l.tool.Files)+len(l.tool.Addresses) >= maxFiles {
		return fmt.Errorf("the arguments name more than %d files and addresses", maxFiles)
	}
	switch kindOf(key, text, l.tool) {
	case aFile:
		return l.file(at, text)
	case anAddress:
		return l.address(at, text)
	}
	return nil
}

// What a text of the arguments is.
type kind int

const (
	aText kind = iota
	aFile
	anAddress
)

// kindOf says what a text is by the name of its argument and by what it looks
// like. A tool that nothing is known of may call a path anything.
func kindOf(key, text string, t *approval.Tool) kind {
	lower := strings.ToLower(text)
	switch {
	case strings.HasPrefix(lower, "file:"):
		return aFile
	case strings.HasPrefix(lower, "http:"), strings.HasPrefix(lower, "https:"):
		if t.Server == "" && t.Category != approval.CategoryNetwork && key != "url" {
			return aText // what is written or looked for is not fetched
		}
		return anAddress
	}
	switch strings.ToLower(key) {
	case "url":
		return anAddress
	case "content", "contents", "text", "command", "pattern", "query", "old_string", "new_string", "oldtext", "newtext", "patch", "diff", "body", "prompt", "description", "message":
		return aText
	case "path", "paths", "file", "files", "file_path", "filepath", "filename", "notebook_path", "dir", "directory", "folder", "root", "cwd", "workdir",
		"source", "destination", "src", "dst", "target", "from", "to", "uri":
		return aFile
	}
	if l := len(text); l < 2 || l > 4096 || strings.ContainsAny(text, "\n\x00") {
		return aText
	}
	if strings.HasPrefix(text, "/") || strings.HasPrefix(text, "~") || strings.HasPrefix(text, "./") || strings.HasPrefix(text, "../") {
		return aFile
	}
	return aText
}

// file looks at one file that an argument names.
func (l *looker) file(at, name string) error {
	if name == "" {
		return fmt.Errorf("%s is empty", at)
	}
	if len(name) > 4096 || strings.Contains(name, "\x00") {
		return fmt.Errorf("%s is no path", at)
	}
	if strings.HasPrefix(strings.ToLower(name), "file:") {
		u, err := url.Parse(name)
		if err != nil || u.Host != "" && u.Host != "localhost" || u.Path == "" {
			return fmt.Errorf("%s is no address of a file here", at)
		}
		name = u.Path
	}
	f := approval.ToolFile{Arg: at, Path: l.absolute(name)}
	f.Real, f.File = l.real(f.Path)
	reads := l.tool.Category == approval.CategoryRead
	if f.Protected = l.Protected(path.Clean(f.Path), reads); f.Protected == approval.ProtectedNot {
		f.Protected = l.Protected(f.Real, reads)
	}
	if f.Protected == approval.ProtectedNot && (ofSystem(path.Clean(f.Path)) || ofSystem(f.Real)) {
		f.Protected = approval.ProtectedKeys
	}
	f.Inside = l.folder != "" && within(f.Real, l.folder) && (f.Real != l.folder || reads)
	l.tool.Files = append(l.tool.Files, f)
	return nil
}

// absolute is a path as it was named, from the session's folder on. Links are
// followed before "..", as the kernel does, so it is not cleaned.
func (l *looker) absolute(name string) string {
	switch {
	case name == "~":
		return l.Home
	case strings.HasPrefix(name, "~/"):
		return l.Home + name[1:]
	case strings.HasPrefix(name, "/"):
		return name
	}
	return l.cwd + "/" + name
}

// real is where a path leads. Of one that is not there yet it is where its
// nearest folder leads, and the rest; a rest that goes up leads nowhere that can
// be told, and is "".
func (l *looker) real(name string) (string, approval.File) {
	rest := ""
	for at := strings.TrimRight(name, "/"); ; {
		if file, err := l.Look(cmp.Or(at, "/")); err == nil {
			if rest == "" {
				return file.Path, file
			}
			return path.Join(file.Path, rest), approval.File{}
		}
		i := strings.LastIndexByte(at, '/')
		if i < 0 || at[i+1:] == ".." {
			return "", approval.File{}
		}
		rest, at = path.Join(at[i+1:], rest), strings.TrimRight(at[:i], "/")
	}
}

// sessionFolder is the real folder of a session, "" where what the caller says
// is no folder to work in: the root, a folder at the root, home or above.
func sessionFolder(cwd string, m Machine) string {
	file, err := m.Look(cwd)
	if err != nil || !strings.HasPrefix(cwd, "/") {
		return ""
	}
	home := m.Home
	if h, err := m.Look(m.Home); err == nil {
		home = h.Path
	}
	if strings.Count(file.Path, "/") < 2 || within(home, file.Path) || m.Protected(file.Path, false) != approval.ProtectedNot {
		return ""
	}
	return file.Path
}

// within reports whether a path is a folder or lies in it, by whole segments.
func within(at, folder string) bool {
	return at != "" && folder != "" && (at == folder || strings.HasPrefix(at, strings.TrimRight(folder, "/")+"/"))
}

// ofSystem reports whether a path belongs to the system's own secrets, to its
// devices or to the inside of a running program.
func ofSystem(at string) bool {
	at = strings.ToLower(at)
	at = strings.TrimPrefix(at, "/private")
	switch at {
	case "/etc/shadow", "/etc/gshadow", "/etc/master.passwd", "/etc/sudoers", "/etc/shadow-", "/etc/gshadow-", "/proc/kcore":
		return true
	case "/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/tty":
		return false
	}
	if rest, ok := strings.CutPrefix(at, "/proc/"); ok {
		_, rest, _ = strings.Cut(rest, "/")
		for _, secret := range []string{"environ", "mem", "fd", "root", "cwd", "map_files", "task"} {
			if within(rest, secret) {
				return true
			}
		}
	}
	return within(at, "/etc/sudoers.d") || within(at, "/dev")
}

// text writes the value of an argument as rules compare it: a text as it is,
// anything else in canonical form.
func text(value any) string {
	if s, ok := value.(string); ok {
		return s
	}
	b, err := json.Marshal(value)
	if err != nil {
		return ""
	}
	return string(b)
}
