package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/countersign-app/countersign/app/shown"
)

// preferences are what a person chose about the app. They are read once: an
// edit of the file from outside counts from the next start.
type preferences struct {
	path string
	mu   sync.Mutex
	now  shown.Preferences
}

// readPreferences reads countersign.json. A file that cannot be read gives
// the defaults, which permit nothing.
func readPreferences(path string) *preferences {
	p := &preferences{path: path, now: shown.Preferences{Theme: shown.ThemeSystem}}
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return p
	}
	var read shown.Preferences
	if err == nil {
		err = json.Unmarshal(text, &read)
	}
	if err == nil && !slices.Contains(shown.Themes, read.Theme) {
		err = fmt.Errorf("theme cannot be %q", read.Theme)
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "Countersign: %s is not used: %v\n", path, err)
		return p
	}
	p.now = read
	return p
}

func (p *preferences) get() shown.Preferences {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

func (p *preferences) answerFromTerminal() bool { return p.get().AnswerFromTerminal }

// set saves other preferences.
func (p *preferences) set(next shown.Preferences) error {
	if !slices.Contains(shown.Themes, next.Theme) {
		return fmt.Errorf("there is no theme %q", next.Theme)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	text, err := json.MarshalIndent(next, "", "  ")
	if err != nil {
		return err
	}
	if err := replace(p.path, append(text, '\n')); err != nil {
		return fmt.Errorf("cannot save the preferences: %w", err)
	}
	p.now = next
	return nil
}

// replace writes a private file in one step. The temporary file is made 0600.
func replace(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".preferences-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
	}
	return err
}
