package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/countersign-app/countersign/app/mac"
	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/store"
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
	turned []turnedDown
	broken error
}

// readPreferences reads countersign.json.
func readPreferences(path string) *preferences {
	p := &preferences{path: path, now: shown.Preferences{Kept: shown.Kept{Theme: shown.ThemeSystem, KeepDays: shown.KeepDays[0]}}, others: map[string]json.RawMessage{}}
	if p.broken = p.read(); p.broken != nil {
		fmt.Fprintf(os.Stderr, "Countersign: %s is not used: %v\n", path, p.broken)
	}
	return p
}

func (p *preferences) read() error {
	text, err := readPlain(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	others, chosen := map[string]json.RawMessage{}, p.now.Kept
	if err := json.Unmarshal(text, &others); err != nil {
		return err
	}
	if err := json.Unmarshal(text, &chosen); err != nil {
		return err
	}
	if err := check(chosen); err != nil {
		return err
	}
	var turned []turnedDown
	if list, there := others[turnedDownKey]; there {
		if err := json.Unmarshal(list, &turned); err != nil {
			return err
		}
	}
	p.now.Kept, p.turned, p.others = chosen, turned, others
	return nil
}

// maxPlain is more than a file of what was chosen ever holds, in bytes.
const maxPlain = 64 << 10

// readPlain reads a small file. What is put in its place cannot hang us.
func readPlain(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.New("it is no plain file")
	}
	return io.ReadAll(io.LimitReader(f, maxPlain))
}

// check refuses what nobody can choose.
func check(k shown.Kept) error {
	if !slices.Contains(shown.Themes, k.Theme) {
		return fmt.Errorf("there is no theme %q", k.Theme)
	}
	if !slices.Contains(shown.KeepDays, k.KeepDays) {
		return fmt.Errorf("the history cannot be kept for %d days", k.KeepDays)
	}
	if !slices.Contains(shown.GraceMinutes, k.GraceMinutes) {
		return fmt.Errorf("Touch ID cannot count for %d minutes", k.GraceMinutes)
	}
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
	if err := check(next.Kept); err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if next.Kept != p.now.Kept {
		if err := p.save(next.Kept, p.turned); err != nil {
			return err
		}
	}
	p.now = next
	return nil
}

func (p *preferences) save(next shown.Kept, turned []turnedDown) error {
	if err := p.write(next, turned); err != nil {
		return fmt.Errorf("cannot save the preferences: %w", err)
	}
	return nil
}

func (p *preferences) write(next shown.Kept, turned []turnedDown) error {
	if p.broken != nil {
		return fmt.Errorf("%s holds something else: %w", p.path, p.broken)
	}
	chosen, err := json.Marshal(next)
	if err != nil {
		return err
	}
	others := maps.Clone(p.others)
	if err := json.Unmarshal(chosen, &others); err != nil { // beside what others keep
		return err
	}
	if len(turned) > 0 {
		if others[turnedDownKey], err = json.Marshal(turned); err != nil {
			return err
		}
	}
	text, err := json.MarshalIndent(others, "", "  ")
	switch {
	case err != nil:
		return err
	case len(text) >= maxPlain:
		return errors.New("the file would be too large to be read")
	}
	err = replace(p.path, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
	if err == nil {
		p.others = others
	}
	return err
}

func days(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }

// Preferences returns what was chosen about the app.
func (s *Settings) Preferences() shown.Preferences {
	p := s.app.prefs.get()
	p.CanSound, p.CanConfirm = player(isThere) != nil, mac.CanConfirm
	return p
}

// SetPreferences saves what is chosen about the app.
func (s *Settings) SetPreferences(p shown.Preferences) Saved {
	if !s.app.edits() {
		return Saved{Message: sentence(errNotOpen)}
	}
	if now := s.app.prefs.get(); weaker(now, p) && s.app.host.Present() {
		if err := s.app.presence.confirm("change when it asks for Touch ID", []string{store.Every}, now.Kept); err != nil {
			return Saved{Message: sentence(err)}
		}
	}
	if err := s.app.prefs.set(p); err != nil {
		return Saved{Message: sentence(err)}
	}
	s.app.host.KeepHistory(days(p.KeepDays))
	s.app.tell(eventScreen)
	return Saved{OK: true}
}
