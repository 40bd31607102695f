package service

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

func (m Manager) render(u Unit) (text []byte, path string, err error) {
	logs := filepath.Join(m.home, "Library/Logs/Countersign")
	if err := os.MkdirAll(logs, 0o700); err != nil {
		return nil, "", err
	}
	return launchdAgent(u, logs), m.path(u.Name), nil
}

// launchctl calls launchd.
func launchctl(words ...string) (string, error) {
	out, err := exec.Command("/bin/launchctl", words...).CombinedOutput()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == noDomain && words[0] == "bootstrap":
		return "", errNoSession
	case err != nil:
		return "", fmt.Errorf("launchctl %s: %w: %s", strings.Join(words, " "), err, strings.TrimSpace(string(out)))
	}
	return string(out), nil
}

// noDomain is the exit code of launchctl for a session that is not there.
const noDomain = 125

func ofSystem() launchd {
	return launchd{launchctl, "gui/" + strconv.Itoa(os.Getuid()), func() { time.Sleep(lookAgain) }}
}

func (m Manager) reload() error { return nil }

func (m Manager) enable(name string) error { return ofSystem().replace(name, m.path(name)) }

func (m Manager) disable(name string) error {
	if _, err := launchctl("print", ofSystem().target(name)); err != nil {
		return nil // it is not loaded
	}
	return m.stop(name)
}

func (m Manager) start(name string) error { return ofSystem().start(m.path(name)) }

func (m Manager) stop(name string) error { return ofSystem().stop(name) }

// pid is the process of a service, 0 for none.
func (m Manager) pid(name string) (int, error) {
	out, err := launchctl("print", ofSystem().target(name))
	if err != nil {
		return 0, nil // it is not loaded
	}
	return printedPID(out), nil
}
