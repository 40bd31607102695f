//go:build linux || darwin

package runner

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// activate is the beginning of what Python writes, and all of it that programs see.
const activate = `deactivate () {
    unset VIRTUAL_ENV
}
VIRTUAL_ENV='VENV'
export VIRTUAL_ENV
PATH="$VIRTUAL_ENV/bin:$PATH"
export PATH
unset PYTHONHOME
`

// TestSearchAsBash: folders that a text adds to PATH, and an environment of Python, mean
// what they mean to bash.
func TestSearchAsBash(t *testing.T) {
	needs(t, "bash")
	r, dir := newRunner(t), scratch(t)
	venv := filepath.Join(dir, ".venv")
	for name, text := range map[string]string{"bin/activate": strings.ReplaceAll(activate, "VENV", venv), "pyvenv.cfg": "home = /usr/bin\n", "sub/x": ""} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(venv, name)), 0o755))
		must(t, os.WriteFile(filepath.Join(venv, name), []byte(text), 0o644))
	}
	script(t, filepath.Join(venv, "bin/tool"), "#!/bin/sh\necho \"$1 $VIRTUAL_ENV $PATH $PYTHONHOME\"\nother\n")
	script(t, filepath.Join(venv, "bin/other"), "#!/bin/sh\necho other $0\n")
	script(t, filepath.Join(venv, "bin/ls"), "#!/bin/sh\necho no ls\n")
	for _, text := range []string{
		"source .venv/bin/activate; tool a", ". .venv/bin/activate && tool a && tool b", "source .venv/bin/activate\ntool a | cat", "(source .venv/bin/activate; tool a); ls -d .", "ls -d .; source .venv/bin/activate; ls",
		"source .venv/bin/activate; env tool a", "source .venv/bin/activate; x=$(tool a); echo \"$x\"", "for f in a b; do echo $f; done; source .venv/bin/activate; for f in a b; do tool $f; done",
		"cd .venv/sub && source ../bin/activate && tool a", "source .venv/bin/activate; export PATH=\"/usr/bin:$PATH\"; tool a; ls -d .", "export PATH=\"/usr/bin:$PATH\"; source .venv/bin/activate; tool a",
		"PATH=\"/usr/bin:$PATH\" printenv PATH; echo $PATH", "source .venv/bin/activate; PATH=\"/usr/bin:$PATH\" tool a; tool b",
		"export PATH=\"/usr/bin:$PATH\"; sh -c 'echo $PATH'", "export PATH=/usr/bin:$PATH:/bin; echo $PATH", "PATH=\"$PATH:/usr/bin\"; echo $PATH", "(export PATH=\"/bin:$PATH\"; echo $PATH); echo $PATH", "source .venv/bin/activate; echo $? $PATH",
	} {
		job := scriptJob(t, "bash", dir, text)
		if job == nil {
			if !strings.Contains(text, "sh -c") {
				t.Errorf("%s: asks", text)
			}
			continue
		}
		job.Env = append(job.Env, "PYTHONHOME=/nowhere")
		got := run1(t, r, *job)
		cmd := exec.Command("bash", "-c", text)
		cmd.Dir, cmd.Env = dir, job.Env
		var stdout, stderr bytes.Buffer
		cmd.Stdout, cmd.Stderr = &stdout, &stderr
		_ = cmd.Run()
		if string(got.Stdout) != stdout.String() || string(got.Stderr) != stderr.String() || code(got) != cmd.ProcessState.ExitCode() || got.Denied != nil {
			t.Errorf("%s\n  we   %q %q %d %+v %s\n  bash %q %q %d", text, got.Stdout, got.Stderr, code(got), got.Denied, got.Error, stdout.String(), stderr.String(), cmd.ProcessState.ExitCode())
		}
	}
	mustBeGone(t, "none")
}
