package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/countersign-app/countersign/backend/paths"
)

// opensAtLogin reports whether the desktop opens this app at login, and nil
// where it cannot be told to.
func opensAtLogin(state paths.State, home string) *bool {
	want, err := autostart(state, home)
	if err != nil {
		return nil
	}
	on := false
	if have, err := os.ReadFile(paths.Autostart(os.Getenv, home)); err == nil {
		on = bytes.Equal(have, want)
	}
	return &on
}

// openAtLogin has the desktop open this app at login, or not any more.
func openAtLogin(state paths.State, home string) error {
	at := paths.Autostart(os.Getenv, home)
	if on := opensAtLogin(state, home); on != nil && *on {
		return os.Remove(at)
	}
	text, err := autostart(state, home)
	if err != nil {
		return err
	}
	if info, err := os.Lstat(at); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("cannot open at login: %s is no plain file", at)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(at+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(at+".new", at)
}

// autostart is the desktop entry of this program on this state folder.
func autostart(state paths.State, home string) ([]byte, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	words := []string{self}
	usual, err := paths.Find("", func(name string) string { return map[string]string{"HOME": home}[name] })
	if err != nil || usual.Dir != state.Dir {
		words = append(words, "--state-dir", state.Dir)
	}
	for i, word := range words {
		if strings.ContainsFunc(word, unicode.IsControl) || strings.Contains(word, "=") && i == 0 {
			return nil, fmt.Errorf("a desktop entry cannot hold %q", word)
		}
		words[i] = desktopWord(word)
	}
	return []byte("[Desktop Entry]\nType=Application\nName=Countersign\nComment=Asks a person before an agent's command runs\nExec=" +
		strings.Join(words, " ") + "\nTerminal=false\n"), nil
}

// desktopWord quotes a word of an Exec line, first as a word and then as the
// text of a key (Desktop Entry Specification).
func desktopWord(word string) string {
	quoted := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", `$`, `\$`, `%`, `%%`).Replace(word)
	return `"` + strings.ReplaceAll(quoted, `\`, `\\`) + `"`
}
