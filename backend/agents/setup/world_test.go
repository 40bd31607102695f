//go:build linux || darwin

package setup

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/paths"
)

// The test binary is other programs too: an installer in a process of its own,
// and a hook that answers what it is told to.
const (
	doVariable     = "SETUP_TEST_DO"
	homeVariable   = "SETUP_TEST_HOME"
	agentVariable  = "SETUP_TEST_AGENT"
	answerVariable = "SETUP_TEST_ANSWER"
)

func TestMain(m *testing.M) {
	os.Setenv("GORACE", "atexit_sleep_ms=0")
	switch os.Getenv(doVariable) {
	case "install":
		os.Exit(complain(installHere(os.Getenv(homeVariable), os.Getenv(agentVariable))))
	case "plan":
		_, err := Plan(envFor(os.Getenv(homeVariable)), os.Getenv(agentVariable), ScopeUser)
		os.Exit(complain(err))
	case "hook":
		os.Exit(hookHere(os.Getenv(answerVariable)))
	}
	os.Exit(m.Run())
}

func complain(err error) int {
	if err == nil {
		return 0
	}
	fmt.Fprintln(os.Stderr, err)
	return 1
}

// installHere installs as the command line does with --yes: where the file
// changed meanwhile, it looks again.
func installHere(home, agent string) error {
	e := envFor(home)
	for range 10 {
		c, err := Plan(e, agent, ScopeUser)
		if err != nil {
			return err
		}
		if err = Apply(e, c); !errors.Is(err, ErrChanged) {
			return err
		}
	}
	return ErrChanged
}

// envFor is a machine in a folder.
func envFor(home string) Env {
	return Env{
		Home: home, Program: "/opt/countersign/bin/countersign",
		State:  paths.State{Dir: filepath.Join(home, ".state")},
		Getenv: func(string) string { return "" },
		Now:    func() time.Time { return time.Unix(1_800_000_000, 0) },
	}
}

// newEnv is a machine with an empty home.
func newEnv(t *testing.T) Env {
	t.Helper()
	home := filepath.Join(t.TempDir(), "home")
	if err := os.Mkdir(home, 0o755); err != nil {
		t.Fatal(err)
	}
	return envFor(home)
}

// puts writes a file below the home, and makes the folders for it.
func (e Env) puts(t *testing.T, rel, text string) string {
	t.Helper()
	path := filepath.Join(e.Home, rel)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// applied plans and makes a change.
func applied(t *testing.T, e Env, agent string, undo bool) Change {
	t.Helper()
	plan := Plan
	if undo {
		plan = PlanRemoval
	}
	c, err := plan(e, agent, ScopeUser)
	if err == nil {
		err = Apply(e, c)
	}
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// tree lists all that is below a folder, with the texts of files.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, path)
		info, err := d.Info()
		if err != nil {
			return err
		}
		all[rel] = info.Mode().String()
		if info.Mode().IsRegular() {
			all[rel] += " " + read(t, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// conditionOf is how the hook of an agent stands.
func conditionOf(t *testing.T, e Env, agent string) State {
	t.Helper()
	list := LookAt(e, agent)
	if len(list) == 0 {
		t.Fatalf("nothing is known of %s", agent)
	}
	return list[0]
}

// itself runs the test binary as another program.
func itself(t *testing.T, do string, env ...string) *exec.Cmd {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program)
	cmd.Env = append(append(os.Environ(), doVariable+"="+do), env...)
	return cmd
}

// backups are the backups beside a file.
func backups(t *testing.T, path string) []string {
	t.Helper()
	list, err := filepath.Glob(strings.ReplaceAll(path, "[", "\\[") + backupInfix + "*")
	if err != nil {
		t.Fatal(err)
	}
	return list
}
