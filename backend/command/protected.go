package command

import (
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
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

// Protected files, as judgement.md, step 7 names them. Below home:
var (
	keyFolders  = []string{".ssh", ".gnupg", ".aws", ".config/gh", "Library/Keychains"}
	keyFiles    = []string{".netrc", ".npmrc", ".pypirc", ".docker/config.json", ".kube/config"}
	startFiles  = []string{".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login", ".config/fish/config.fish", ".ssh/authorized_keys", ".ssh/rc"}
	startFolder = []string{"Library/LaunchAgents", ".config/systemd/user", ".config/autostart", ".config/fish/conf.d"}
)

// Anywhere: what direnv, git and agents start when they come into a folder, and
// the folders in which agents have that.
var (
	startHere    = expression(`/(\.envrc|authorized_keys|\.git/hooks|\.claude/settings(\.local)?\.json|\.claude\.json|\.codex/(config\.toml|hooks\.json)|\.copilot/(hooks/[^/]*|config\.json)|\.github/hooks/[^/]*|\.vscode/(settings|tasks)\.json|code/user/settings\.json|opencode\.jsonc?|\.opencode/plugins?/[^/]*|\.gemini/settings\.json|\.cursor/hooks\.json|\.mcp\.json)/`)
	agentFolders = expression(`(?i)^\.(claude|codex|gemini|cursor)$`)
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
		names = append(slices.Clone(names), strings.Join(names, ""), strings.Join(names[1:], ""))
	}
	for _, o := range seg.Open {
		names = append(slices.Concat(names, o.Maybe), o.Prefix)
	}
	switch {
	case read == nil || len(read.findings) > 0:
		names = attached(names)
	default: // it says which of its words name files
		dirs, names = append(dirs, read.dir), read.values
		if (len(read.commands) > 0 || j.feeds > 0) && slices.ContainsFunc(names, aims) {
			return "files with secrets"
		}
	}
	walks, texts := reader.walks || read != nil && read.walks, reader.texts
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
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
	folders := !lists && (walks || seg.Kind != approval.KindReader)
	for _, dir := range dirs {
		for _, name := range names {
			_, value, _ := strings.Cut(name, "=")
			for _, name := range []string{name, value} {
				if what := j.protected(name, dir, seg); what != "" && (folders || what != folderWithSecrets) {
					return what
				}
			}
		}
	}
	return ""
}

// aims reports whether a pattern stands for names of secrets more than for any
// file.
func aims(pattern string) bool {
	stands := func(name string) bool {
		ok, err := path.Match(path.Base(pattern), name)
		return ok && err == nil
	}
	if !strings.ContainsAny(pattern, "*?[") || stands("main.go") || stands("a") || stands(".gitignore") {
		return false
	}
	for _, name := range []string{".env", ".env.local", "id_rsa", "id_ed25519", ".netrc", ".npmrc", ".pypirc", "a.pem", "a.key", "a.p12", "server.key", "cert.pem"} {
		if stands(name) {
			return true
		}
	}
	return false
}

// maxBundle bounds how many letters of options are taken apart.
const maxBundle = 64

// attached adds to each word what may be a value behind option letters, as in
// -f/path and -if/path.
func attached(args []string) []string {
	names := slices.Clone(args)
	for _, arg := range args {
		for i := 2; i <= letters(arg) && i < len(arg); i++ {
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
	if name == "" || len(name) > 4096 {
		return ""
	}
	if rest, ok := strings.CutPrefix(name, "~/"); ok || name == "~" {
		name = filepath.Join(j.Home, rest)
	}
	if dir == "" && !filepath.IsAbs(name) {
		return j.protectedPath("/"+path.Clean("/" + name)[1:], seg)
	}
	at := path.Clean(join(dir, name))
	if what := j.protectedPath(at, seg); what != "" {
		return what
	}
	// The kernel follows links before "..", so the real file counts as well.
	if real, err := j.look(join(dir, name)); err == nil && real.Path != at {
		return j.protectedPath(real.Path, seg)
	}
	return ""
}

// protectedPath says what protected thing an absolute path is, or "". A
// folder that holds protected things counts too, because a program can be
// told to read all of it.
func (j *job) protectedPath(at string, seg *approval.Segment) string {
	at = strings.TrimPrefix(strings.ToLower(at), "/system/volumes/data") // on macOS, the same files
	home := strings.ToLower(path.Clean(j.Home))
	reader := onlyReads(seg)
	for _, ours := range j.Ours { // a program can be told to read all of a folder
		if at != "/" && within(strings.ToLower(ours), at) {
			return filesOfOurs
		}
	}
	switch j.Protected(at, reader) {
	case approval.ProtectedOurs:
		return filesOfOurs
	case approval.ProtectedStartup:
		return "a start-up file"
	case approval.ProtectedKeys:
		return "a file with secrets"
	}
	if within(home, at) || at == "/" {
		return folderWithSecrets
	}
	if strings.HasPrefix(at, "/proc/") && processView().MatchString(at) {
		return "the inside of a running program"
	}
	return ""
}

// Protected says which protected state an absolute path is. What is read only
// may be read when programs start.
func (a *Analyzer) Protected(at string, reads bool) approval.Protected {
	if renamed(at) {
		return approval.ProtectedOurs // it may be any file, ours too
	}
	at = strings.TrimPrefix(strings.ToLower(at), "/system/volumes/data") // on macOS, the same files
	home := strings.ToLower(path.Clean(a.Home))
	for _, ours := range a.Ours {
		if ours = strings.ToLower(ours); within(at, ours) || !reads && within(ours, at) && at != "/" {
			return approval.ProtectedOurs
		}
	}
	switch {
	case !reads && startsUp(at, home):
		return approval.ProtectedStartup
	case isKey(at, home):
		return approval.ProtectedKeys
	}
	return approval.ProtectedNot
}

// renamed reports whether a path begins with one of the folders through which
// macOS leads to every file by another name: by its number, or without links.
func renamed(at string) bool {
	at = strings.ToLower(at)
	return within(at, "/.vol") || within(at, "/.nofollow") || within(at, "/.resolve")
}

// startsUp reports whether programs read a path when they start.
func startsUp(at, home string) bool {
	for _, start := range startFiles {
		if at == home+"/"+strings.ToLower(start) {
			return true
		}
	}
	for _, start := range startFolder {
		if within(at, home+"/"+strings.ToLower(start)) {
			return true
		}
	}
	may := strings.Contains(at, "/.") || strings.Contains(at, "authorized_keys")
	return may && startHere().MatchString(at+"/")
}

// processView are the files of /proc that show what another program keeps to
// itself.
var processView = expression(`^/proc/[^/]+/(task/[^/]+/)?(environ|mem|fd|fdinfo|root|cwd|map_files)(/|$)`)

func isKey(at, home string) bool {
	base := path.Base(at)
	if at == home+"/.ssh/known_hosts" || strings.HasSuffix(at, ".pub") && within(at, home+"/.ssh") {
		return false
	}
	if within(at, "/library/keychains") || within(at, "/system/library/keychains") {
		return true
	}
	for _, folder := range keyFolders {
		if within(at, home+"/"+strings.ToLower(folder)) {
			return true
		}
	}
	for _, file := range keyFiles {
		if at == home+"/"+file {
			return true
		}
	}
	switch base {
	case "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", ".netrc", ".npmrc", ".pypirc", ".env":
		return true
	}
	if rest, ok := strings.CutPrefix(base, ".env."); ok {
		return rest != "example" && rest != "sample" && rest != "template"
	}
	switch path.Ext(base) {
	case ".pem", ".key", ".p12":
		return base != path.Ext(base)
	}
	return false
}
