package command

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/protected"
)

// listers may name any protected file: they tell that it is there, not what
// is in it.
var listers = words("ls stat which type du tree basename dirname realpath readlink echo printf test [ pwd df find gfind fd fdfind")

// lists reports whether a segment only tells that files are there.
func lists(seg *approval.Segment, read *arguments, reader readerWords) bool {
	name := seg.Builtin
	if seg.Program != nil {
		name = path.Base(seg.Program.File.Path)
	}
	harmless := seg.Builtin != "" || seg.Kind == approval.KindReader || read != nil && len(read.findings) == 0 && len(read.commands) == 0
	if name == "git" && len(seg.Argv) > 1 {
		return harmless && gitLists()[seg.Argv[1]]
	}
	return harmless && listers()[name] && !reader.names
}

// onlyReads reports whether a segment reads the files that it names and writes
// none of them, as its profile has seen.
func onlyReads(seg *approval.Segment) bool {
	if seg.Kind == approval.KindReader || !seg.Profiled || len(seg.Findings) > 0 {
		return seg.Kind == approval.KindReader
	}
	name := path.Base(seg.Program.File.Path)
	return readers()[name] || name == "git" && len(seg.Argv) > 1 && gitReads()[seg.Argv[1]]
}

var (
	readers  = words("jq yq rg sed gsed awk gawk mawk nawk less more bat batcat")
	gitLists = words("check-ignore ls-files")
	gitReads = words("add diff log show blame grep status")
)

// What protectedArgument calls the files of Countersign, and folders above
// secrets.
const (
	filesOfOurs       = "files of Countersign itself"
	folderWithSecrets = "a folder with secrets in it"
)

// protectedArgument returns what protected thing the arguments name, in words,
// or "". It looks at the words as they stand, behind an "=", and at the real
// files they lead to. What lists files may name them all, unless another
// program is given what it prints. read are the words as its profile took them
// apart, if it has one; reader is what else is known of its options.
func (j *job) protectedArgument(seg *approval.Segment, read *arguments, reader readerWords) string {
	lists := lists(seg, read, reader)
	if lists && (j.feeds == 0 || seg.Argv[0] == "test" || seg.Argv[0] == "[") {
		return ""
	}
	dirs, names := []string{seg.Dir}, seg.Argv[1:]
	if lists && len(names) > 1 { // echo and printf put them together
		names = append(slices.Clone(names), strings.Join(names, ""), strings.Join(names[1:], ""), formatted(names))
	}
	if lists && j.passesOn > 0 && slices.ContainsFunc(names, escapes().MatchString) {
		return "files in a way that only the run can tell"
	}
	names = slices.Clone(names)
	if lists && j.feeds > 0 { // each word of a text is one for what it is fed to
		for i, name := range slices.Clone(names) {
			if slices.ContainsFunc(seg.Open, func(o approval.Open) bool { return o.At == i+1 || i >= len(seg.Argv)-1 }) {
				continue // it is only how it is written
			}
			if words := strings.FieldsFunc(lineEnds().ReplaceAllString(name, "\n"), func(r rune) bool { return r <= ' ' }); len(words) > 1 || len(words) == 1 && words[0] != name {
				names = append(names, words...)
			}
		}
	}
	for _, o := range seg.Open {
		names = append(append(names, o.Maybe...), o.Prefix)
	}
	switch {
	case read == nil || len(read.findings) > 0:
		if names = j.attached(names); read != nil {
			names = append(names, read.values...)
		}
	default: // it says which of its words name files
		dirs, names = append(dirs, read.dir), read.values
		if (len(read.commands) > 0 || j.feeds > 0) && slices.ContainsFunc(names, aims) {
			return "files with secrets"
		}
	}
	walks, texts := reader.walks || read != nil && read.walks, reader.texts
	out := leftOut(seg, read)
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		if read == nil && seg.Kind == approval.KindReader && strings.HasPrefix(name, "--exclude") || slices.Contains(out, name) {
			return true // it names what is left out
		}
		if texts == 0 || strings.HasPrefix(name, "-") {
			return false
		}
		texts--
		return true
	})
	if walks {
		names = append(slices.Clone(names), ".")
	}
	// A folder is nothing to a program that reads files one by one.
	folders := !lists && (walks || seg.Kind != approval.KindReader && (read == nil || len(read.edited) == 0))
	for _, dir := range slices.Compact(dirs) {
		judged := map[string]bool{}
		for _, name := range names {
			if judged[name] {
				continue
			}
			judged[name] = true
			if !j.bytes(2*perBytes + min(len(name), maxPath)) {
				return "more files than can be looked at"
			}
			for _, name := range pieces(name) {
				if what := j.protected(name, dir, seg); what != "" && (folders || what != folderWithSecrets) {
					return what
				}
			}
		}
	}
	return ""
}

// escapes are backslashes that stand for other characters than ends of lines.
var escapes = expression(`\\([^nt0\\]|0[0-7])`)

// lineEnds are written so in texts of echo and printf.
var lineEnds = expression(`\\[nt0]`)

// formatted is what printf makes of its words, as far as these are texts.
func formatted(words []string) string {
	text := words[0]
	for _, word := range words[1:] {
		text = strings.Replace(text, "%s", word, 1)
	}
	return strings.TrimSuffix(text, `\n`)
}

// aims reports whether a pattern stands for names of secrets more than for any
// file.
func aims(pattern string) bool {
	pattern = strings.ReplaceAll(set().ReplaceAllString(strings.ToLower(pattern), "?"), "[", "?")
	stands := func(name string) bool {
		ok, err := path.Match(path.Base(pattern), name)
		return ok && err == nil
	}
	if !strings.ContainsAny(pattern, "*?") || stands("main.go") || stands("a") || stands(".gitignore") {
		return false
	}
	for _, name := range []string{".env", ".env.local", "id_rsa", "id_ed25519", ".netrc", ".npmrc", ".pypirc", "a.pem", "a.key", "a.p12", "server.key", "cert.pem"} {
		if stands(name) {
			return true
		}
	}
	return false
}

// set is one letter of several in a pattern, which programs write in several ways.
var set = expression(`\[[!^]?\]?(\[:[a-z]+:\]|[^]])*\]`)

// maxPieces bounds how often a word is taken apart.
const maxPieces = 24

// pieces returns a word and the names of files that may stand in it behind or
// between signs, as in --from-file=x=path, @path, /a:/b and file:///path.
func pieces(word string) []string {
	list := []string{word}
	for i := 0; i < len(word) && len(list) < maxPieces; i++ {
		if strings.IndexByte("=:,;@<", word[i]) < 0 {
			continue
		}
		rest := word[i+1:]
		if word[i] == ':' && strings.HasPrefix(rest, "//") && strings.HasSuffix(strings.ToLower(word[:i]), "file") {
			rest = "/" + strings.TrimLeft(strings.TrimPrefix(rest[2:], "localhost"), "/")
		}
		list = append(list, rest)
		if end := strings.IndexAny(rest, ":,;"); end > 0 {
			list = append(list, rest[:end])
		}
	}
	if end := strings.IndexAny(word, ":,;"); end > 0 {
		list = append(list, word[:end])
	}
	return list
}

// maxBundle bounds how many letters of options are taken apart.
const maxBundle = 64

// attached adds to each word what may be a value behind option letters, as in
// -f/path and -if/path.
func (j *job) attached(args []string) []string {
	names := slices.Clone(args)
	for _, arg := range args {
		for i, n := 2, letters(arg); i <= n && i < len(arg) && j.tick(1); i++ {
			names = append(names, arg[i:])
		}
	}
	return names
}

// letters returns where the letters end that may be a bundle of options, at
// most one behind maxBundle; 0 for a word that is none.
func letters(arg string) int {
	if !strings.HasPrefix(arg, "-") || strings.HasPrefix(arg, "--") {
		return 0
	}
	i := 1
	for i < len(arg) && i <= maxBundle+1 && (arg[i]|0x20 >= 'a' && arg[i]|0x20 <= 'z' || arg[i] >= '0' && arg[i] <= '9') {
		i++
	}
	return i
}

func (j *job) protected(name, dir string, seg *approval.Segment) string {
	if name == "" || len(name) > 4096 || name[0] == '$' && !strings.Contains(name, "/") { // a variable, as it is written
		return ""
	}
	if name[0] == '-' {
		if _, err := j.look(join(dir, name)); err != nil { // an option, such as --password
			return ""
		}
	}
	if rest, ok := strings.CutPrefix(name, "~/"); ok || name == "~" {
		name = filepath.Join(j.Home, rest)
	}
	if dir == "" && !filepath.IsAbs(name) {
		return j.protectedPath("/"+path.Clean("/" + name)[1:], seg)
	}
	named := join(dir, name)
	at := path.Clean(named)
	if what := j.protectedPath(at, seg); what != "" {
		return what
	}
	// The kernel follows links before "..", so the real file counts as well.
	real, err := j.look(named)
	leads := real.Path
	if err != nil {
		leads = j.real(named) // what is written there comes into being where that is
	}
	if leads != "" && leads != at {
		if what := j.protectedPath(leads, seg); what != "" {
			return what
		}
	}
	if err == nil && (j.beginsAsKey(real) || ofSettings().MatchString(real.Path) && j.holdsSecret(real)) {
		return "a file with secrets"
	}
	return ""
}

// maxKeyFile is how large a file may be that is taken for a key by its beginning.
const maxKeyFile = 64 << 10

// beginsAsKey reports whether a small file that the words name, or a pattern among
// them, begins as a key does. How many are opened is bounded as all work is: who
// names more asks.
func (j *job) beginsAsKey(file approval.File) bool {
	if !file.IsRegular() || file.Size > maxKeyFile {
		return false
	}
	begins, known := j.begins[file.Path]
	if known || !j.spend(1) {
		return begins
	}
	head, err := j.head(file)
	j.begins[file.Path] = err == nil && protected.Begins(head)
	return j.begins[file.Path]
}

// protectedPath says what protected thing an absolute path is, or "". A
// folder that holds protected things counts too, because a program can be
// told to read all of it.
func (j *job) protectedPath(at string, seg *approval.Segment) string {
	folded, home := protected.Fold(at), protected.Fold(path.Clean(j.Home))
	for _, ours := range j.Ours { // a program can be told to read all of a folder
		if folded != "/" && within(protected.Fold(ours), folded) {
			return filesOfOurs
		}
	}
	switch k := j.kinds(at, j.look); {
	case j.ofOurs(at, true):
		return filesOfOurs
	case k.Has(protected.Startup) && !onlyReads(seg):
		return "a start-up file"
	case k.Has(protected.Secret):
		return "a file with secrets"
	case k.Has(protected.Private):
		return "a file that may hold secrets"
	}
	if within(home, folded) || folded == "/" {
		return folderWithSecrets
	}
	return ""
}

// Protected says which protected state an absolute path is for a tool. What is
// read only may be read when programs start.
func (a *Analyzer) Protected(at string, reads bool) approval.Protected {
	if a.ofOurs(at, reads) {
		return approval.ProtectedOurs
	}
	switch k := a.kinds(at, a.World.Look); {
	case k.Has(protected.Secret):
		return approval.ProtectedKeys
	case (k.Has(protected.Startup) || a.inPath(at)) && !reads:
		return approval.ProtectedStartup
	case k.Has(protected.Private | protected.Tools):
		return approval.ProtectedPrivate
	}
	return approval.ProtectedNot
}

// Key reports whether a small file begins as a key does.
func (a *Analyzer) Key(file approval.File) bool {
	if !file.IsRegular() || file.Size > maxKeyFile {
		return false
	}
	head, err := a.World.Head(file, headSize)
	return err == nil && protected.Begins(head)
}

// kinds says what the list of protected files knows of a path. Home may be a link.
func (a *Analyzer) kinds(at string, look func(string) (approval.File, error)) protected.Kind {
	of := protected.Of
	if file, err := look(at); err == nil && file.IsFolder() {
		of = protected.OfFolder
	}
	k := of(at, a.Home)
	if home, err := look(a.Home); err == nil && home.Path != path.Clean(a.Home) {
		k |= of(at, home.Path)
	}
	return k | a.otherwise(at, of)
}

// ofOurs reports whether a path is a file of Countersign, may be any file, or,
// unless it is only read, is a folder above one.
func (a *Analyzer) ofOurs(at string, reads bool) bool {
	if renamed(at) {
		return true
	}
	at = protected.Fold(at)
	return slices.ContainsFunc(a.Ours, func(ours string) bool {
		ours = protected.Fold(ours)
		return within(at, ours) || !reads && within(ours, at) && at != "/"
	})
}

// renamed reports whether a path begins with one of the folders through which
// macOS leads to every file by another name: by its number, or without links.
func renamed(at string) bool {
	at = strings.ToLower(at)
	return within(at, "/.vol") || within(at, "/.nofollow") || within(at, "/.resolve")
}
