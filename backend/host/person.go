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

// place is where a program of ours lies: by this name in a folder with the
// others, or there in the Contents of a bundle for macOS.
type place struct{ name, inBundle string }

var (
	commandLine = place{"countersign", "Helpers/countersign"}
	appProgram  = place{"countersign-app", "MacOS/Countersign"}
)

// CommandLine returns the path of the command line that lies beside this
// program, "" where there is none.
func CommandLine() string { return besideThis(commandLine) }

// Neighbours are the paths of all other programs of ours that lie beside this
// one, for Options.Programs.
func Neighbours() (paths []string) {
	for _, p := range []place{commandLine, appProgram} {
		if at := besideThis(p); at != "" {
			paths = append(paths, at)
		}
	}
	return paths
}

func besideThis(p place) string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	return beside(self, p)
}

// beside follows links first: a package manager puts one where people find it,
// and who made another one may put what they like beside it. A program is not
// beside itself.
func beside(self string, p place) string {
	self, err := filepath.EvalSymlinks(self)
	if err != nil {
		return ""
	}
	at := filepath.Join(filepath.Dir(self), p.name)
	if contents := contentsOf(self); contents != "" {
		at = filepath.Join(contents, p.inBundle)
	}
	mine, err := os.Stat(self)
	other, missing := os.Stat(at)
	if err != nil || missing != nil || !other.Mode().IsRegular() || os.SameFile(mine, other) {
		return ""
	}
	return at
}

// contentsOf is the folder Contents of the outermost bundle of ours that a
// program lies in, "" for none: the command line can be in a bundle of its own
// in the app's.
func contentsOf(program string) (contents string) {
	for folder := filepath.Dir(program); ; folder = filepath.Dir(filepath.Dir(contents)) {
		at, name := filepath.Split(folder)
		if name != "MacOS" && name != "Helpers" || filepath.Base(at) != "Contents" {
			return contents
		}
		contents = filepath.Clean(at)
	}
}
