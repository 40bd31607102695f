package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// Job is one command.
type Job struct {
	// Session says in whose box it runs, ID names the run.
	Session, ID string
	// Writable are the workspaces of every box there may be, this one's among
	// them. What lies in one can be replaced by whoever works there.
	Writable []string
	Argv     []string
	// Dir is the working folder, "" for the workspace. It must lie in that.
	Dir string
	Env map[string]string
	// Path are folders that come before the usual ones of PATH.
	Path    []string
	Timeout time.Duration
	// Started is called when it was started. It may be nil.
	Started func()
}

// Bounds of a command.
const (
	maxArgs = 256 << 10 // bytes
	maxEnv  = 64 << 10
)

// valid refuses what no engine could run.
func valid(j Job) error {
	size := 0
	for _, a := range j.Argv {
		if size += len(a) + 1; strings.Contains(a, "\x00") {
			return errors.New("an argument has a zero byte")
		}
	}
	if size > maxArgs {
		return errors.New("the command is too long")
	}
	size = 0
	for name, value := range j.Env {
		if size += len(name) + len(value) + 2; name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			return errors.New("a variable has a name or a value that nothing can have")
		}
	}
	if size > maxEnv {
		return errors.New("the environment is too large")
	}
	return nil
}

// environment is that of a command, sorted.
func environment(j Job, home string) []string {
	path := strings.Join(append(slices.Clone(j.Path), "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"), ":")
	vars := map[string]string{"PATH": path, "HOME": home, "LANG": "C.UTF-8", "TMPDIR": "/tmp"}
	for name, value := range j.Env {
		vars[name] = value
	}
	vars["COUNTERSIGN"], vars["OPENCLAW_SHELL"], vars["PWD"], vars[approval.RunMark] = "1", "exec", j.Dir, j.ID
	list := make([]string, 0, len(vars))
	for name, value := range vars {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

// label is a text as engines take it for a name.
func label(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:12])
}
