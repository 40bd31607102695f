package service

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
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
	if err != nil {
		return "", fmt.Errorf("launchctl %s: %w: %s", strings.Join(words, " "), err, strings.TrimSpace(string(out)))
	}
	return string(out), nil
}

// domain is where the agents of the person's session on the screen live.
func domain() string { return "gui/" + strconv.Itoa(os.Getuid()) }

func target(name string) string { return domain() + "/" + label(name) }

func (m Manager) reload() error { return nil }

func (m Manager) enable(name string) error {
	_, _ = launchctl("bootout", target(name)) // there may be none
	return m.start(name)
}

func (m Manager) disable(name string) error {
	if pid, err := m.pid(name); err != nil || pid == 0 {
		_, _ = launchctl("bootout", target(name)) // it may be loaded and not running
		return nil
	}
	return m.stop(name)
}

func (m Manager) start(name string) error {
	_, err := launchctl("bootstrap", domain(), m.path(name))
	return err
}

func (m Manager) stop(name string) error {
	_, err := launchctl("bootout", target(name))
	return err
}

// pid is the process of a service, 0 for none.
func (m Manager) pid(name string) (int, error) {
	out, err := launchctl("print", target(name))
	if err != nil {
		return 0, nil // it is not loaded
	}
	return printedPID(out), nil
}
