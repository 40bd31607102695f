//go:build linux || darwin

package setup

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// nobody is a user that owns nothing here.
const nobody = 65534

// asNobody has a program run as another user, and gives that user the home.
// The program is copied to where that user can read it.
func asNobody(t *testing.T, e Env, cmd *exec.Cmd) {
	t.Helper()
	top := filepath.Dir(filepath.Dir(e.Home)) // the folder of t.TempDir, which only root may enter
	mustDo(t, os.Chmod(top, 0o755))
	mustDo(t, os.Chmod(filepath.Dir(e.Home), 0o755))
	program := filepath.Join(filepath.Dir(e.Home), "program")
	copyFile(t, cmd.Path, program)
	cmd.Path, cmd.Args[0], cmd.Dir = program, program, "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	mustDo(t, filepath.WalkDir(e.Home, func(path string, _ os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, nobody, nobody)
	}))
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	in, err := os.Open(from)
	mustDo(t, err)
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
	mustDo(t, err)
	_, err = io.Copy(out, in)
	mustDo(t, err)
	mustDo(t, out.Close())
}
