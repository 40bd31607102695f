package sandbox

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/config"
	"github.com/countersign-app/countersign/backend/paths"
)

// Folder returns the folder that a command would work in.
func (s *Sandbox) Folder(c config.Sandbox, writable []string, dir string) (string, error) {
	c, err := s.checked(c, writable)
	if err != nil {
		return "", err
	}
	return inside(c.Workspace, dir)
}

// checked fills in what is not said, and refuses what would open the machine.
func (s *Sandbox) checked(c config.Sandbox, writable []string) (config.Sandbox, error) {
	c.Workspace, c.Socket = s.expand(c.Workspace), s.expand(c.Socket)
	c.Mounts = slices.Clone(c.Mounts)
	var others []string // where boxes can write, but for this one's own workspace
	for _, w := range writable {
		if w = s.expand(w); w != c.Workspace {
			others = append(others, w)
		}
	}
	named := c.Workspace
	var err error
	if c.Workspace, err = s.folder(named, c.Socket, others); err != nil {
		return c, fmt.Errorf("the workspace of the sandbox cannot be %s: %w", named, err)
	}
	for i, m := range c.Mounts {
		if c.Mounts[i], err = s.folder(s.expand(m), c.Socket, append(others, named)); err != nil {
			return c, fmt.Errorf("the sandbox cannot be given %s: %w", m, err)
		}
	}
	return c, nil
}

// expand replaces a leading ~ by the home folder.
func (s *Sandbox) expand(path string) string { return paths.Expand(path, s.opt.Home) }

// folder returns where a folder really is, if a box may have it: it holds
// neither what is private nor the socket of an engine, and it lies nowhere
// where a box could put a link in its place.
func (s *Sandbox) folder(path, socket string, writable []string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	for _, w := range writable {
		at, err := filepath.EvalSymlinks(w)
		if err != nil {
			at = w
		}
		if (holds(w, path) || holds(at, real)) && real != at {
			return "", fmt.Errorf("it lies in %s, the workspace of a sandbox, where a command could put another folder in its place", w)
		}
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return "", errors.New("it is no folder")
	}
	if strings.ContainsAny(real, ":,\x00") {
		return "", errors.New("its name has a character that engines take for something else")
	}
	for _, reserved := range []string{"/usr", "/etc", "/proc", "/sys", "/dev", "/tmp", "/bin", "/sbin", "/lib", "/run", "/var/run"} {
		if real == reserved {
			return "", errors.New("that is the system's own")
		}
	}
	for _, private := range slices.Concat([]string{s.opt.Home}, s.opt.Private, s.opt.Sockets, []string{socket}) {
		if private == "" {
			continue
		}
		if at, err := filepath.EvalSymlinks(private); err == nil {
			private = at
		}
		if holds(real, private) {
			return "", fmt.Errorf("it holds %s", private)
		}
	}
	for _, private := range s.opt.Private {
		if at, err := filepath.EvalSymlinks(private); err == nil {
			private = at
		}
		if holds(private, real) {
			return "", fmt.Errorf("it lies in %s, which is Countersign's own", private)
		}
	}
	return real, nil
}

// holds reports whether a path is a folder, or lies in it.
func holds(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// inside returns the folder that a command works in.
func inside(workspace, dir string) (string, error) {
	if dir == "" {
		return workspace, nil
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(workspace, dir)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || !holds(workspace, real) {
		return "", fmt.Errorf("the sandbox has no folder %s: its workspace is %s", dir, workspace)
	}
	return real, nil
}
