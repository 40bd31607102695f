package command

import (
	"path"
	"strings"

	"github.com/countersign-app/countersign/backend/verbs"
)

// floor says why a command may never run, whatever policy allows: removing a
// root, home or system folder, overwriting a device, and operating Countersign.
func (j *job) floor(name string, args []string, dir string) string {
	switch name {
	case "rm":
		if !recursive(args) {
			return ""
		}
		for _, arg := range args {
			if !strings.HasPrefix(arg, "-") && j.isRoot(arg, dir) {
				return "it removes " + arg + " and everything in it"
			}
		}
	case "dd":
		for _, arg := range args {
			if to, ok := strings.CutPrefix(arg, "of="); ok && isDevice(dir, to) {
				return "it overwrites the device " + to
			}
		}
	case "cp", "mv", "install":
		if len(args) > 0 && isDevice(dir, args[len(args)-1]) {
			return "it overwrites the device " + args[len(args)-1]
		}
	default:
		if verbs.Named(name) {
			return operating(args, false)
		}
	}
	if devices()[name] || strings.HasPrefix(name, "mkfs") || strings.HasPrefix(name, "mke2fs") {
		for _, arg := range args {
			if isDevice(dir, arg) {
				return "it overwrites the device " + arg
			}
		}
	}
	return ""
}

// devices are programs that write to each device they name.
var devices = words("shred wipefs tee blkdiscard mkswap fdisk sfdisk parted truncate fallocate")

func recursive(args []string) bool {
	for _, arg := range args {
		long := len(arg) > 2 && strings.HasPrefix("--recursive", arg)
		short := strings.HasPrefix(arg, "-") && !strings.HasPrefix(arg, "--") && strings.ContainsAny(arg, "rR")
		if arg == "--" {
			return false
		}
		if long || short {
			return true
		}
	}
	return false
}

// homeWord is how a text names the home folder, at the beginning of a word.
var homeWord = expression(`^(~|\$HOME\b|\$\{HOME[^}]*\})`)

// isRoot reports whether a target is /, home, a folder in / or the parent of
// all homes, or everything in one of these.
func (j *job) isRoot(target, dir string) bool {
	target = strings.TrimSuffix(strings.NewReplacer(`"`, "", "'", "").Replace(target), "*")
	if m := homeWord().FindString(target); m != "" {
		target = j.Home + target[len(m):]
	}
	if dir == "" && !path.IsAbs(target) {
		return false
	}
	at := path.Clean(join(dir, target)) // an empty rest, of a lone *, is the folder itself
	if real, err := j.look(at); err == nil && real.Path != at && real.Path == j.Home {
		return true
	}
	return at == "/" || at == path.Clean(j.Home) || path.Dir(at) == "/" && at != "/tmp"
}

// isDevice reports whether a name in dir is a device that holds data.
func isDevice(dir, name string) bool {
	rest, ok := strings.CutPrefix(path.Clean(join(strings.ToLower(dir), strings.ToLower(name))), "/dev/")
	switch rest {
	case "null", "zero", "stdout", "stderr", "tty", "full":
		return false
	}
	return ok && rest != "" && !strings.HasPrefix(rest, "fd/")
}
