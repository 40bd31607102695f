package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"sync"
	"syscall"

	"github.com/countersign-app/countersign/app/shown"
)

// preferences are what a person chose about the app. They are read once: an
// edit of the file from outside counts from the next start, and nothing in it
// permits anything. What does permit something, that the terminal may answer,
// holds until the app ends and is not in the file.
type preferences struct {
	path   string
	mu     sync.Mutex
	now    shown.Preferences
	others map[string]json.RawMessage // what others keep in the file
	broken error
}

// maxPreferences is more than the file ever holds, in bytes.
const maxPreferences = 64 << 10

// readPreferences reads countersign.json.
func readPreferences(path string) *preferences {
	p := &preferences{path: path, now: shown.Preferences{Theme: shown.ThemeSystem}, others: map[string]json.RawMessage{}}
	if p.broken = p.read(); p.broken != nil {
		fmt.Fprintf(os.Stderr, "Countersign: %s is not used: %v\n", path, p.broken)
	}
	return p
}

func (p *preferences) read() error {
	// What is put in its place cannot hang us.
	f, err := os.OpenFile(p.path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return errors.New("it is no plain file")
	}
	text, err := io.ReadAll(io.LimitReader(f, maxPreferences))
	if err != nil {
		return err
	}
	others, theme, atLock := map[string]json.RawMessage{}, p.now.Theme, false
	if err := json.Unmarshal(text, &others); err != nil {
		return err
	}
	if word, ok := others["theme"]; ok {
		if err := json.Unmarshal(word, &theme); err != nil || !slices.Contains(shown.Themes, theme) {
			return fmt.Errorf("theme cannot be %s", word)
		}
	}
	if word, ok := others[atLockKey]; ok {
		if err := json.Unmarshal(word, &atLock); err != nil {
			return fmt.Errorf("%s cannot be %s", atLockKey, word)
		}
	}
	p.now.Theme, p.now.EndSessionsAtLock, p.others = theme, atLock, others
	return nil
}

func (p *preferences) get() shown.Preferences {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}

func (p *preferences) answerFromTerminal() bool { return p.get().AnswerFromTerminal }

// set takes other preferences, and saves what is kept.
func (p *preferences) set(next shown.Preferences) error {
	if !slices.Contains(shown.Themes, next.Theme) {
		return fmt.Errorf("there is no theme %q", next.Theme)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if next.Theme != p.now.Theme || next.EndSessionsAtLock != p.now.EndSessionsAtLock {
		if err := p.save(next); err != nil {
			return fmt.Errorf("cannot save the preferences: %w", err)
		}
	}
	p.now = next
	return nil
}

// atLockKey is where the file holds EndSessionsAtLock.
const atLockKey = "endSessionsAtLock"

func (p *preferences) save(next shown.Preferences) error {
	if p.broken != nil {
		return fmt.Errorf("%s holds something else: %w", p.path, p.broken)
	}
	for key, value := range map[string]any{"theme": next.Theme, atLockKey: next.EndSessionsAtLock} {
		word, err := json.Marshal(value)
		if err != nil {
			return err
		}
		p.others[key] = word
	}
	text, err := json.MarshalIndent(p.others, "", "  ")
	if err != nil {
		return err
	}
	return replace(p.path, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
}
