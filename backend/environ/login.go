package environ

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/paths"
)

const (
	loginLimit = 5 * time.Second
	// drainLimit is how long a program that a start-up file left in the
	// background may hold the output after the shell has ended.
	drainLimit = time.Second
	// outputLimit is more than any kernel of ours takes as an environment,
	// with room for what start-up files print.
	outputLimit = 8 << 20
)

// Login returns the environment that the person's login shell makes for
// commands. It starts the shell once, as an interactive login shell in a
// session of its own without a terminal, and ends it after 5 seconds or when
// the context is done. On an error fall back to FromProcess.
//
// The shell begins with the identity that is given, the default PATH, and of
// our own environment only what the session set and no start-up file does:
// TMPDIR, SSH_AUTH_SOCK, XDG_*, LANG and LC_*.
func Login(ctx context.Context, shell, home, user string) (Base, error) {
	if !filepath.IsAbs(shell) || !filepath.IsAbs(home) {
		return Base{}, fmt.Errorf("cannot read the login environment: shell %q and home folder %q must be absolute paths", shell, home)
	}
	ctx, cancel := context.WithTimeout(ctx, loginLimit)
	defer cancel()
	item, end := rand.Text(), rand.Text()
	out := &capped{left: outputLimit}
	cmd := exec.CommandContext(ctx, shell, "-ilc", printEnv(item, end))
	cmd.Dir = home
	cmd.Stdout = out
	cmd.WaitDelay = drainLimit
	cmd.Env = append(session(os.Environ()), "HOME="+home, "USER="+user, "LOGNAME="+user,
		"SHELL="+shell, "TERM=dumb", "PATH="+paths.DefaultPath())
	if err := detach(cmd); err != nil {
		return Base{}, fmt.Errorf("cannot read the login environment: %w", err)
	}
	runErr := cmd.Run()
	environ, err := parse(out.data.Bytes(), item, end)
	switch {
	case err == nil: // whatever the shell did after that
		return FromProcess(environ), nil
	case ctx.Err() != nil:
		return Base{}, fmt.Errorf("cannot read the login environment: %s did not finish in time (%w): look for what waits in its start-up files", shell, ctx.Err())
	case runErr != nil:
		return Base{}, fmt.Errorf("cannot read the login environment from %s: %w", shell, runErr)
	}
	return Base{}, fmt.Errorf("cannot read the login environment from %s: %w", shell, err)
}

// session picks what the session set, not a start-up file.
func session(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		switch name {
		case "TMPDIR", "SSH_AUTH_SOCK", "LANG":
			return false
		}
		return !strings.HasPrefix(name, "XDG_") && !strings.HasPrefix(name, "LC_")
	})
}

// printEnv is the command that prints the environment: each variable after
// the mark item, then the mark end. Values may hold newlines, and env of
// older macOS has no -0, so awk prints them; every system of ours has it at
// this place. The text means the same in sh, bash, zsh, ksh and fish.
func printEnv(item, end string) string {
	return fmt.Sprintf(`/usr/bin/awk 'BEGIN{ORS="";for(k in ENVIRON)print "%s" k "=" ENVIRON[k];print "%s"}'`, item, end)
}

// parse finds the NAME=value texts in what printEnv printed. Whatever stands
// before the first item and after the end was printed by start-up files.
func parse(out []byte, item, end string) ([]string, error) {
	printed, _, ok := strings.Cut(string(out), end)
	if !ok {
		return nil, errors.New("it did not print its environment to the end")
	}
	items := strings.Split(printed, item)[1:]
	if len(items) == 0 {
		return nil, errors.New("its environment is empty")
	}
	return items, nil
}

// capped keeps output up to a limit and then fails, which ends the writer.
type capped struct {
	data bytes.Buffer
	left int
}

func (c *capped) Write(p []byte) (int, error) {
	if len(p) > c.left {
		return 0, errors.New("it prints too much")
	}
	c.left -= len(p)
	return c.data.Write(p)
}
