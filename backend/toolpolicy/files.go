package toolpolicy

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/toolnames"
)

// looker collects the files and addresses that arguments name.
type looker struct {
	Machine
	cwd    string
	tool   *approval.Tool
	folder approval.Folder // of the session
	search search          // what a search opens, as its arguments say
}

// values looks at an object or a list of arguments. at is its dotted name, key
// the last part of that which is no number.
func (l *looker) values(at, key string, value any) error {
	switch v := value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if key == "" {
				return errors.New("an argument has no name")
			}
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
	l.search.told(key)
	text, ok := value.(string)
	if !ok {
		return l.values(at, key, value)
	}
	if len(l.tool.Files)+len(l.tool.Addresses) >= maxFiles {
		return fmt.Errorf("the arguments name more than %d files and addresses", maxFiles)
	}
	if l.tool.Server == "" && l.tool.Name == fileSearch && globArgument(key) {
		return l.globs(at, key, text)
	}
	switch l.kindOf(key, text) {
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

// kindOf says what a text is: by the name of its argument where that tells, for
// a path may be spelled like an address, and then by what it looks like. A tool
// of a server may call a path anything.
func (l *looker) kindOf(key, text string) kind {
	theirs := l.tool.Server != ""
	lower, trimmed := strings.ToLower(text), strings.TrimSpace(text)
	web := strings.HasPrefix(lower, "http:") || strings.HasPrefix(lower, "https:")
	switch {
	case toolnames.TextArgument(key):
		return aText
	case web && !theirs && l.tool.Category == approval.CategoryNetwork:
		return anAddress
	case theirs && text == "", theirs && strings.Contains(trimmed, "\n") && !l.secret(text):
		return aText // a program's source, say
	case pathArgument(key):
		return aFile
	case strings.EqualFold(key, "url") && !theirs:
		return anAddress
	case strings.HasPrefix(lower, "file:"):
		return aFile
	case web && theirs && !strings.ContainsAny(text, " \t\r\n"): // else a sentence
		return anAddress
	case web: // what is written or looked for is not fetched
		return aText
	case theirs && !strings.Contains(trimmed, "\n") && l.secret(trimmed):
		return aFile
	case len(text) < 2 || strings.ContainsAny(text, "\n\x00"):
		return aText
	case strings.HasPrefix(text, "/"), strings.HasPrefix(text, "~"), strings.HasPrefix(text, "./"), strings.HasPrefix(text, "../"):
		return aFile
	}
	return aText
}

// maxPath is how long a path may be, in bytes.
const maxPath = 4096

// secret reports whether a text names protected state as a path from the
// session's folder on.
func (l *looker) secret(text string) bool {
	if text == "" || len(text) > maxPath || strings.Contains(text, "\x00") {
		return false
	}
	return slices.ContainsFunc(l.readings(text), func(at string) bool { return l.look("", at).Protected != approval.ProtectedNot })
}

// pathArgument reports whether an argument of this name holds a path.
func pathArgument(key string) bool {
	switch lower := strings.ToLower(key); lower {
	case "path", "paths", "file", "files", "filepath", "filename", "dir", "directory", "folder", "root", "cwd", "workdir",
		"source", "destination", "src", "dst", "target", "from", "to", "uri":
		return true
	default:
		for _, end := range []string{"_path", "_paths", "_file", "_files", "_dir", "_directory", "_folder", "_uri"} {
			if strings.HasSuffix(lower, end) {
				return true
			}
		}
	}
	for _, end := range []string{"Path", "Paths", "File", "Files", "Dir", "Directory", "Folder", "Uri", "URI"} {
		if strings.HasSuffix(key, end) {
			return true
		}
	}
	return false
}

// file looks at one file that an argument names, in every way that agents read
// such a name.
func (l *looker) file(at, name string) error {
	if name == "" {
		return fmt.Errorf("%s is empty", at)
	}
	if len(name) > maxPath || strings.Contains(name, "\x00") {
		return fmt.Errorf("%s is no path", at)
	}
	if strings.TrimSpace(name) != name || strings.ContainsFunc(name, func(r rune) bool { return unicode.Is(unicode.Cf, r) || unicode.IsControl(r) }) {
		return fmt.Errorf("%s begins or ends with blanks, or holds characters that cannot be seen: programs read it differently", at)
	}
	readings := l.readings(name)
	if strings.HasPrefix(strings.ToLower(strings.TrimPrefix(name, "@")), "file:") {
		u, err := url.Parse(name)
		if err != nil || u.Host != "" && u.Host != "localhost" || u.Path == "" || strings.ContainsAny(name, "?#%") {
			return fmt.Errorf("%s is no address of a file here", at)
		}
		readings = []string{u.Path, path.Clean(u.Path), path.Clean(l.cwd + "/" + name)}
	}
	for i, reading := range readings {
		f := l.look(at, reading)
		same := func(g approval.ToolFile) bool { return g.Arg == at && g.Real == f.Real && g.Protected == f.Protected }
		if i == 0 || !slices.ContainsFunc(l.tool.Files, same) {
			l.tool.Files = append(l.tool.Files, f)
		}
	}
	return nil
}

// readings are the paths that agents make of a name. Some resolve ".." before
// they follow links, leave out an @ at the beginning, take unusual blanks for
// plain ones, or know the homes of others and the variables of a shell.
func (l *looker) readings(name string) []string {
	list := []string{l.absolute(name)}
	also := func(at string) { list = append(list, at) }
	plain := strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Zs, r) {
			return ' '
		}
		return r
	}, strings.TrimPrefix(name, "@"))
	if plain != name {
		also(l.absolute(plain))
	}
	first, rest, _ := strings.Cut(plain, "/")
	switch {
	case first == "~": // not every agent knows it
		if at := l.cwd + "/" + name; l.there(at) {
			also(at)
		}
	case strings.HasPrefix(first, "~"):
		also(l.Home + "/" + plain[1:])
		also(path.Dir(l.Home) + "/" + plain[1:])
	case first == "$HOME", first == "${HOME}":
		also(l.Home + "/" + rest)
	case strings.HasPrefix(first, "$") && first != plain: // it may hold any folder
		also("/" + plain)
	}
	for _, at := range list {
		also(path.Clean(at))
	}
	return slices.Compact(list)
}

func (l *looker) there(name string) bool {
	_, err := l.Look(name)
	return err == nil
}

// look looks at one path.
func (l *looker) look(at, name string) approval.ToolFile {
	f := approval.ToolFile{Arg: at, Path: name}
	f.Real, f.File = l.real(f.Path)
	reads := l.tool.Category == approval.CategoryRead
	if f.Protected = l.protected(path.Clean(f.Path), reads); f.Protected == approval.ProtectedNot && f.Real != "" {
		f.Protected = l.protected(f.Real, reads)
	}
	if f.Protected == approval.ProtectedNot && f.Real != "" && l.Key != nil && l.Key(f.File) {
		f.Protected = approval.ProtectedKeys
	}
	f.Inside = l.folder.Holds(f.Real) && (f.Real != l.folder.Path || reads)
	return f
}

func (l *looker) protected(at string, reads bool) approval.Protected {
	if p := l.Protected(at, reads); p != approval.ProtectedNot {
		return p
	}
	if isDevice(at) {
		return approval.ProtectedKeys
	}
	return approval.ProtectedNot
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

// maxLinks is how many links that lead to nothing are followed in one path.
const maxLinks = 40

// real is where a path leads. Of one that is not there yet it is where its
// nearest folder leads, and the rest: what is written through a link that leads
// to nothing comes into being where that leads. A rest that goes up leads
// nowhere that can be told, and is "".
func (l *looker) real(name string) (string, approval.File) {
	for range maxLinks {
		parts := strings.Split(strings.TrimRight(name, "/"), "/")
		first := func(n int) string { return cmp.Or(strings.Join(parts[:n], "/"), "/") }
		// What leads nowhere leads nowhere with more behind it either.
		n := sort.Search(len(parts), func(i int) bool { _, err := l.Look(first(i + 1)); return err != nil })
		file, err := l.Look(first(n))
		rest := parts[n:]
		switch {
		case n == 0 || err != nil || slices.Contains(rest, ".."):
			return "", approval.File{}
		case len(rest) == 0:
			return file.Path, file
		}
		to := l.Link(first(n + 1))
		if to == "" {
			return path.Join(file.Path, strings.Join(rest, "/")), approval.File{}
		}
		if !strings.HasPrefix(to, "/") {
			to = first(n) + "/" + to
		}
		name = to + "/" + strings.Join(rest[1:], "/")
	}
	return "", approval.File{}
}

// within reports whether a path is a folder or lies in it, by whole segments.
func within(at, folder string) bool {
	return at != "" && folder != "" && (at == folder || strings.HasPrefix(at, strings.TrimRight(folder, "/")+"/"))
}

// isDevice reports whether a path belongs to the devices of the system but for
// the few that hold nothing.
func isDevice(at string) bool {
	at = strings.TrimPrefix(strings.ToLower(at), "/system/volumes/data") // where macOS keeps what it shows at the root
	switch at {
	case "/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/tty":
		return false
	}
	return within(at, "/dev")
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
