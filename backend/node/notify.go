package node

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/link"
)

// Bounds of what a gateway may show to the person.
const (
	maxTitle = 100 // characters
	maxBody  = 500
	// A gateway has this many notifications in any window of time.
	maxNotes   = 10
	noteWindow = time.Minute
	noteTime   = 10 * time.Second // for the desktop to take one
)

// notes counts the notifications of the last minute.
type notes struct {
	mu   sync.Mutex
	last []time.Time
}

// room notes one more, if it may be shown.
func (n *notes) room(now time.Time) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	for len(n.last) > 0 && now.Sub(n.last[0]) >= noteWindow {
		n.last = n.last[1:]
	}
	if len(n.last) >= maxNotes {
		return false
	}
	n.last = append(n.last, now)
	return true
}

// note is what a desktop is asked to show.
type note struct {
	Title, Body string
	Passive     bool // it may wait
}

// systemNotify shows a text of the gateway. It says whose text it is, so that
// nobody takes it for a question of ours; nothing can be answered there.
func systemNotify(n *Node, ctx context.Context, _ invocation, params []byte) (any, error) {
	var q struct {
		Title    string `json:"title"`
		Body     string `json:"body"`
		Priority string `json:"priority"`
	}
	if err := read(params, &q); err != nil {
		return nil, err
	}
	title, body := short(q.Title, maxTitle), short(q.Body, maxBody)
	if title == "" && body == "" {
		return nil, link.Refuse(link.CodeInvalid, "a notification needs a title or a body")
	}
	if !n.notes.room(time.Now()) {
		return nil, link.Refuse(link.CodeUnavailable, "at most %d notifications a minute are shown", maxNotes)
	}
	ctx, cancel := context.WithTimeout(ctx, noteTime)
	defer cancel()
	if err := notify(ctx, note{"From " + display.Escape(n.gateway) + ": " + title, body, q.Priority == "passive"}); err != nil {
		if ctx.Err() != nil {
			err = errors.New("the desktop does not answer")
		}
		return nil, link.Refuse(link.CodeUnavailable, "it cannot be shown: %v", err)
	}
	return map[string]bool{"ok": true}, nil
}

// short is a text in one line that is safe to show.
func short(text string, most int) string {
	runes := []rune(strings.Join(strings.Fields(text), " "))
	if len(runes) > most {
		runes = append(runes[:most-1], '…')
	}
	return display.Line(string(runes))
}
