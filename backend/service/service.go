// Package service has a person's own service manager keep our services
// running: launchd agents on macOS, units of systemd's user manager on Linux.
//
// It writes one file for each service and calls launchctl or systemctl, as the
// person it runs for. It never touches what belongs to the whole machine, and
// no secret is among the words of a service: everybody can read those.
package service

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/countersign-app/countersign/backend/paths"
	"github.com/countersign-app/countersign/backend/store"
)

// Unit is one service.
type Unit struct {
	// Name is "node" or "gateway".
	Name string
	// About says what it is for, in a few words.
	About string
	// Program is the absolute path of our command line, and Args what follows.
	Program string
	Args    []string
}

// Status is what the service manager tells of a service.
type Status struct {
	// Path is the file that describes it.
	Path      string `json:"path"`
	Installed bool   `json:"installed"`
	Running   bool   `json:"running"`
	PID       int    `json:"pid,omitempty"`
	// Problem is why the manager could not be asked.
	Problem string `json:"problem,omitempty"`
}

// Manager writes and controls the services of one person.
type Manager struct {
	home string
	// getenv is how the folders of the person are found.
	getenv func(string) string
}

// For returns the manager of the person with this home folder.
func For(home string, getenv func(string) string) Manager { return Manager{home, getenv} }

// Install writes a service, has it start with the person's session from now
// on, and starts it. One that is installed is replaced.
func (m Manager) Install(u Unit) (path string, err error) {
	if m.getenv("SUDO_USER") != "" {
		return "", errors.New("commands need the session and the permissions of a person: install it as yourself, without sudo")
	}
	if err := u.valid(); err != nil {
		return "", err
	}
	text, path, err := m.render(u)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return "", err
	}
	if err := store.Replace(path, text); err != nil {
		return "", err
	}
	return path, m.enable(u.Name)
}

// valid refuses what a unit file could read in another way.
func (u Unit) valid() error {
	if !filepath.IsAbs(u.Program) {
		return fmt.Errorf("the program of a service needs an absolute path, not %q", u.Program)
	}
	if strings.Contains(u.Program, "$") {
		return fmt.Errorf("systemd cannot start a program whose path has a $: move %s", u.Program)
	}
	for _, word := range append([]string{u.Program, u.About}, u.Args...) {
		if strings.ContainsFunc(word, func(c rune) bool { return c < ' ' || c == 0x7f || c == 0xFFFD }) {
			return fmt.Errorf("a word of a service has a control character: %q", word)
		}
	}
	return nil
}

// Uninstall stops a service and removes its file. One that is not there is no
// error.
func (m Manager) Uninstall(name string) error {
	path := m.path(name)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := m.disable(name); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	return m.reload()
}

// Start starts a service that is installed, and Stop ends it until it is
// started again or the person's next session begins.
func (m Manager) Start(name string) error { return m.installed(name, m.start) }

// Stop ends a service.
func (m Manager) Stop(name string) error { return m.installed(name, m.stop) }

func (m Manager) installed(name string, do func(string) error) error {
	if _, err := os.Lstat(m.path(name)); err != nil {
		return fmt.Errorf("the %s service is not installed: run \"countersign %s install\"", name, name)
	}
	return do(name)
}

// Status asks for a service.
func (m Manager) Status(name string) Status {
	s := Status{Path: m.path(name)}
	if _, err := os.Lstat(s.Path); err != nil {
		return s
	}
	s.Installed = true
	var err error
	if s.PID, err = m.pid(name); err != nil {
		s.Problem = err.Error()
	}
	s.Running = s.PID != 0
	return s
}

func (m Manager) path(name string) string { return paths.Service(m.getenv, m.home, name) }
