package command

import (
	"path"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// maxSettings bounds how many files with settings of git are read.
const maxSettings = 16

// secretSetting is a line of git's settings that may hold a secret: a header, a token
// or a password, or an address with one in it.
var secretSetting = expression(`(?im)(extraheader|token|passw(or)?d|pass|secret|cookie|api_?key)\s*=|://[^/\s@]*:[^/\s@]+@|://[^/\s@]{16,}@`)

var includedSettings = expression(`(?im)^[ \t]*(?:\[include[^\]]*\][ \t]*)?path[ \t]*=[ \t]*"?([^"\r\n]+?)"?[ \t]*$`)

// ofSettings are files with settings of git.
var ofSettings = expression(`(/\.gitconfig|/\.config/git/config|\.git/(.*/)?config(\.worktree)?)$`)

// holdsSecret reports whether a file with settings holds a secret, or may.
func (j *job) holdsSecret(file approval.File) bool {
	text, err := j.World.Head(file, maxIgnore+1)
	return err != nil || len(text) > maxIgnore || !j.spend(reading) || secretSetting().Match(text)
}

// secretSettings reports whether git's settings hold a secret, or may, for a command
// of git that shows them all.
func (a *arguments) secretSettings() bool {
	files := []string{path.Join(a.Home, ".gitconfig"), path.Join(a.Home, ".config/git/config"), "/etc/gitconfig"}
	for dir := a.dir; dir != ""; dir = path.Dir(dir) {
		git, err := a.look(path.Join(dir, ".git"))
		at := git.Path
		if err == nil && !git.IsFolder() { // of a worktree or a submodule
			text, err := a.World.Head(git, maxPath)
			to, ok := strings.CutPrefix(strings.TrimSpace(string(text)), "gitdir: ")
			if err != nil || !ok {
				return true
			}
			at = join(dir, to)
			files = append(files, path.Join(at, "../../config"))
		}
		if err == nil {
			files = append(files, path.Join(at, "config"), path.Join(at, "config.worktree"))
		}
		if err == nil || dir == "/" || a.spent() {
			break
		}
	}
	for i := 0; i < len(files); i++ {
		file, err := a.look(files[i])
		if err != nil {
			continue
		}
		text, _ := a.World.Head(file, maxIgnore)
		if i == maxSettings || a.holdsSecret(file) {
			return true
		}
		for _, found := range includedSettings().FindAllStringSubmatch(string(text), -1) {
			name := found[1]
			if rest, home := strings.CutPrefix(name, "~/"); home {
				name = path.Join(a.Home, rest)
			}
			files = append(files, join(path.Dir(file.Path), name))
		}
	}
	return false
}
