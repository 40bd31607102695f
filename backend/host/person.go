package host

import (
	"os"
	"os/user"
	"path/filepath"
)

// Person returns the name and the login shell of who runs this process, for
// Options.
func Person() (name, shell string) {
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	if shell = os.Getenv("SHELL"); shell == "" {
		shell = "/bin/sh"
	}
	return name, shell
}

// Beside returns the path of another program of ours in the folder of this one,
// for Options.Programs: nothing where there is none.
func Beside(name string) []string {
	self, err := os.Executable()
	if err != nil {
		return nil
	}
	return beside(self, name)
}

// beside looks in the folder of a program, and where a bundle for macOS keeps
// others: there the window and the command line cannot share a folder.
func beside(self, name string) []string {
	mine, err := os.Stat(self)
	if err != nil {
		return nil
	}
	folders := []string{"."}
	switch filepath.Base(filepath.Dir(self)) {
	case "Helpers":
		folders = append(folders, "../MacOS")
	case "MacOS":
		folders = append(folders, "../Helpers")
	}
	for _, folder := range folders {
		at := filepath.Join(filepath.Dir(self), folder, name)
		// On a disk that does not tell cases apart this may be the program itself.
		if other, err := os.Stat(at); err == nil && !os.SameFile(mine, other) {
			return []string{at}
		}
	}
	return nil
}
