package service

import (
	"fmt"
	"os/exec"
	"strconv"
	"strings"
)

func (m Manager) render(u Unit) (text []byte, path string, err error) {
	return systemdUnit(u), m.path(u.Name), nil
}

// systemctl calls the manager of the person's session.
func systemctl(words ...string) (string, error) {
	out, err := exec.Command("systemctl", append([]string{"--user", "--no-ask-password"}, words...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("systemctl --user %s: %w: %s", strings.Join(words, " "), err, strings.TrimSpace(string(out)))
	}
	return strings.TrimSpace(string(out)), nil
}

func unit(name string) string { return "countersign-" + name + ".service" }

func (m Manager) reload() error {
	_, err := systemctl("daemon-reload")
	return err
}

func (m Manager) enable(name string) error {
	if err := m.reload(); err != nil {
		return err
	}
	if _, err := systemctl("enable", unit(name)); err != nil {
		return err
	}
	_, err := systemctl("restart", unit(name))
	return err
}

func (m Manager) disable(name string) error {
	_, err := systemctl("disable", "--now", unit(name))
	return err
}

func (m Manager) start(name string) error {
	_, err := systemctl("start", unit(name))
	return err
}

func (m Manager) stop(name string) error {
	_, err := systemctl("stop", unit(name))
	return err
}

// pid is the process of a service, 0 for none.
func (m Manager) pid(name string) (int, error) {
	text, err := systemctl("show", "--property=MainPID", "--value", unit(name))
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(text)
}
