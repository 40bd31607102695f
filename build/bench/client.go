package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// client is P12: what the command line takes from its start to its end beside
// true, alone and as the hook of an agent whose command passes, and its size.
func client(program string) error {
	f, kept, _, end, err := serve(program)
	if err != nil {
		return err
	}
	defer end()
	kept.Close()
	true_, err := exec.LookPath("true")
	if err != nil {
		return err
	}
	m, err := median(10,
		func() error { return exec.Command(true_).Run() },
		func() error { return exec.Command(program, "version").Run() },
		func() error { return f.hook(program) })
	if err != nil {
		return err
	}
	for i, what := range []string{"countersign version, from start to end", "hook of an agent whose command passes"} {
		row("P12", what, m[i+1].Round(10*time.Microsecond).String(), "≤ 5 ms")
		row("", "     to os/exec of true", ratio(m[i+1], m[0]), "")
	}
	file, err := os.Stat(program)
	if err != nil {
		return err
	}
	row("P12", "size of the command line", fmt.Sprintf("%.1f MB", float64(file.Size())/1e6), "≤ 15 MB")
	return nil
}

// permission is how Codex asks for a command, which it runs itself: what a host is
// to run waits to be run, and only so much may.
const permission = `{"hook_event_name": "PermissionRequest", "session_id": "bench", "cwd": %q, "tool_name": "Bash", "tool_input": {"command": "true"}}`

// hook has one answered, which must be yes.
func (f *folder) hook(program string) error {
	cmd := exec.Command(program, "hook", "codex", "--state-dir", f.state.Dir)
	cmd.Env, cmd.Stdin = f.environment(), strings.NewReader(fmt.Sprintf(permission, f.dir))
	answer, err := cmd.Output()
	if err == nil && !bytes.Contains(answer, []byte(`"allow"`)) {
		err = fmt.Errorf("the hook answers %q", answer)
	}
	return err
}
