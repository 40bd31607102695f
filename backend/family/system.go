package family

import (
	"bufio"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/proc"
)

// System looks at the processes of this machine.
func System() Look {
	return Look{Stat: proc.Stat, All: proc.All, Program: programOf, Path: pathOf, Forks: forks}
}

func pathOf(pid int) (string, error) {
	_, path, err := proc.Exe(pid)
	return path, err
}

func programOf(p proc.Info) (Program, error) {
	open, path, err := proc.Exe(p.PID)
	if err != nil {
		return Program{}, err
	}
	file, err := os.Stat(open)
	if err != nil {
		return Program{}, err
	}
	argv, err := proc.Argv(p.PID)
	if err != nil {
		return Program{}, err
	}
	program := Program{Path: path, Argv: argv, Ours: strings.EqualFold(strings.TrimSuffix(filepath.Base(path), "-app"), "countersign"), ByRoot: byRoot(file)}
	if p.Terminal != 0 && p.Group == p.PID && isShell(file) {
		program.Shell = true
		if program.Input, err = proc.InputTerminal(p.PID); err != nil {
			return Program{}, err
		}
	}
	return program, nil
}

// shellsFile lists the shells that people log in with.
const shellsFile = "/etc/shells"

// usualShells are those where no such list is.
var usualShells = []string{"sh", "bash", "dash", "zsh", "fish", "ksh", "mksh", "tcsh", "csh", "ash"}

// isShell reports whether a file is one that people log in with. A copy of one is
// not: it could be anything.
func isShell(file os.FileInfo) bool {
	list, err := os.Open(shellsFile)
	if err != nil {
		return byRoot(file) && slices.Contains(usualShells, file.Name())
	}
	defer list.Close()
	for lines := bufio.NewScanner(list); lines.Scan(); {
		path := strings.TrimSpace(lines.Text())
		if !filepath.IsAbs(path) {
			continue
		}
		if shell, err := os.Stat(path); err == nil && os.SameFile(shell, file) {
			return true
		}
	}
	return false
}
