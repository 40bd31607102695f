package setup

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Unasked reports whether an agent's settings may let it call a tool, by the name
// that the agent has for it, in a folder without a question to a person, where no
// hook says anything: by the person's own allow rules, or in a sandbox of its own.
// Settings that are there and cannot be read count as such that do.
//
// It is for Claude Code and Codex, whose hooks may say nothing. What a person
// allows on their command line or for a session stands in no file.
func (e Env) Unasked(agent, tool, dir string) bool {
	i := slices.IndexFunc(targets(), func(t target) bool { return t.agent == agent })
	if i < 0 {
		return false
	}
	t := targets()[i]
	root := filepath.Join(e.Home, t.folder)
	if moved := e.moved(t); moved != "" {
		root = moved
	}
	folders := append([]string{root}, above(dir, t.folder)...)
	switch agent {
	case "claude-code":
		files := slices.Clone(claudeManaged)
		for _, folder := range folders {
			files = append(files, filepath.Join(folder, "settings.json"), filepath.Join(folder, "settings.local.json"))
		}
		return slices.ContainsFunc(files, func(file string) bool { return claudeAllows(file, tool) })
	case "codex":
		return slices.ContainsFunc(folders, func(folder string) bool { return codexAllows(folder, tool) })
	}
	return false
}

// claudeManaged are the settings of an organisation, on Linux and on macOS.
var claudeManaged = []string{"/etc/claude-code/managed-settings.json", "/Library/Application Support/ClaudeCode/managed-settings.json"}

// maxAbove is how many folders above one settings are looked for.
const maxAbove = 100

// above are the folders of this name in a folder and in those above it.
func above(dir, name string) (list []string) {
	for n := 0; n < maxAbove && filepath.IsAbs(dir); n++ {
		list = append(list, filepath.Join(dir, name))
		if dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
	}
	return list
}

// claudeAllows reports whether a settings file of Claude Code allows a tool, or
// all commands that its sandbox holds.
func claudeAllows(file, tool string) bool {
	text, err := look(file)
	if err != nil || text == nil {
		return err != nil
	}
	var s struct {
		Permissions struct{ Allow []string }
		Sandbox     struct{ Enabled bool }
	}
	if json.Unmarshal(text, &s) != nil {
		return true
	}
	edits := []string{"Edit", "MultiEdit", "NotebookEdit", "Write"}
	return tool == "Bash" && s.Sandbox.Enabled || slices.ContainsFunc(s.Permissions.Allow, func(rule string) bool {
		name, _, _ := strings.Cut(rule, "(")
		name = strings.TrimSpace(name)
		return name == tool || strings.Contains(name, "*") || strings.HasPrefix(tool, name+"__") ||
			slices.Contains(edits, name) && slices.Contains(edits, tool)
	})
}

// codexAllows reports whether a settings folder of Codex takes its sandbox away,
// or has rules by which commands run without one.
func codexAllows(folder, tool string) bool {
	text, err := look(filepath.Join(folder, "config.toml"))
	if err != nil || strings.Contains(string(text), "danger-full-access") {
		return true
	}
	rules, err := filepath.Glob(filepath.Join(folder, "rules", "*.rules"))
	return err != nil || tool == "Bash" && slices.ContainsFunc(rules, func(file string) bool {
		text, err := look(file)
		return err != nil || strings.Contains(string(text), "allow")
	})
}

// maxSettings bounds a settings file that is looked at, in bytes.
const maxSettings = 4 << 20

// look reads a file; nil where none is.
func look(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxSettings {
		return nil, errors.New("no plain file of a usual size")
	}
	return io.ReadAll(io.LimitReader(f, maxSettings))
}
