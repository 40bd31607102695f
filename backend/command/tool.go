package command

import (
	"path"
	"slices"
	"strings"
)

// tool reads the name of a program that a package of the project brought, and the
// words for it: npx starts the nearest node_modules/.bin/NAME, and fetches a package
// of that name where there is none. What it fetches asks.
func (a *arguments) tool(p *profile, word argument, rest []argument) {
	name := word.text
	if word.open != nil || word.made || name == "" || strings.Trim(name, wordLetters+".") != "" || strings.Trim(name[:1], ".-") == "" {
		a.unknown(p, "the word %q", name)
		return
	}
	if a.gave("-r", "--recursive", "-F", "--filter") {
		a.unknown(p, "%q in packages that nobody looked at", name)
		return
	}
	for dir := a.dir; a.plan.Folder.Holds(dir) && !a.spent(); dir = path.Dir(dir) {
		at := path.Join(dir, "node_modules/.bin", name)
		file, err := a.look(at)
		if err != nil {
			continue
		}
		if !file.IsRegular() || !a.plan.Folder.Holds(file.Path) {
			break // a link out of the project, or no program
		}
		word.text, a.looked = at, true
		a.commands = append(a.commands, inner{words: append([]argument{word}, rest...), dir: a.dir})
		return
	}
	a.unknown(p, "the word %q", name)
}

// inPackages is the profile of a program that is started in each of some packages, which
// nobody looked at, where all that it can do is to check and test a project.
func (a *arguments) inPackages(p *profile, word argument) *profile {
	if !slices.Equal(p.operands, []effect{effectTool}) || word.open != nil || word.made || !a.gave("-r", "--recursive", "-F", "--filter") {
		return nil
	}
	if known := profiles().programs[word.text]; known != nil && known.is["installed"] && slices.Equal(known.works, []string{""}) {
		return known
	}
	return nil
}

// ofVenv puts the program of the project's own .venv in the place of a name, where
// there is one: uv looks there before PATH. It reports true where it may be one of
// several.
func (a *arguments) ofVenv(word *argument) (unclear bool) {
	if word.open != nil || strings.Contains(word.text, "/") || word.text == "" {
		return false
	}
	found := ""
	for dir := a.dir; a.plan.Folder.Holds(dir) && !a.spent(); dir = path.Dir(dir) {
		at := path.Join(dir, ".venv/bin", word.text)
		if file, err := a.look(at); err != nil || !file.IsRegular() {
			continue
		}
		if found != "" {
			return true
		}
		found = at
	}
	if found != "" {
		word.text, a.looked = found, true
	}
	return false
}
