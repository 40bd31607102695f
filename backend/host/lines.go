package host

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/family"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/store"
)

// Word says what a line of a change does.
type Word string

const (
	Looser  Word = "looser"
	Tighter Word = "tighter"
	// Undoes is looser, and takes back what denies or what somebody tightened
	// lately.
	Undoes Word = "undoes"
)

// Line is one line that a person reads of a change. One without an agent is a
// sentence.
type Line struct {
	store.Line
	Word Word
	// By is who made what it undoes, zero where that was longer ago than the host
	// remembers.
	By Made
}

// Made says who tightened something, and when.
type Made struct {
	// In is "terminal" for the one that asks now, "window", "file" for an edit of
	// the policy file, and "other" for Who.
	In   string
	Who  string
	When time.Time
}

// sentences are lines of what is no policy.
func sentences(texts ...string) (lines []Line) {
	for _, text := range texts {
		lines = append(lines, Line{Line: store.Line{Kind: store.LineOther, Text: text}, Word: Looser})
	}
	return lines
}

// asks reports whether the person is asked about a line: what is tighter needs
// nobody.
func (l Line) asks() bool { return l.Word != Tighter }

// What says what a line changes.
func (l Line) What() string {
	adds, goes := "Adds", "Removes"
	if l.Tighter {
		adds, goes = goes, adds
	}
	what := l.Text
	switch l.Kind {
	case store.LineMode:
		what = "Mode: " + modeName(l.Was) + " → " + modeName(l.Is)
	case store.LineSetting:
		what = settingNames[l.Name] + ": " + l.Was + " → " + l.Is
	case store.LineValue:
		what = l.Name + ": " + l.Was + " → " + l.Is
	case store.LineRule:
		if l.Changes {
			adds = "Changes"
		}
		what = adds + " rule: " + covers(l.Entry)
	case store.LineDenial:
		what = goes + " denial: " + denialWords(l.Denial)
	case store.LineItem:
		what = adds + " " + l.Name + ": " + l.Text
	case store.LineProject:
		if what = adds + " project: " + l.Text; l.Is != "" {
			what += ", where the rules of " + l.Is + " count too"
		}
	case store.LineNoProject:
		if what = "May be a project again: " + l.Text; l.Tighter {
			what = "Not a project: " + l.Text
		}
	case store.LineSource:
		what = "Follows the policy of " + l.Text
		if !l.Tighter {
			what += " no more, or an older one"
		}
	}
	return commas(what, l.Beside())
}

// Beside says of a line what its parts for a window leave out: what follows from a
// mode, what narrows a rule beside its program, arguments and folder, with the files
// that it knows, and what was there before it.
func (l Line) Beside() string {
	switch l.Kind {
	case store.LineMode:
		return l.Text
	case store.LineRule:
		if l.Changes {
			return commas(limits(l.Entry), "instead of "+commas(covers(l.Before), limits(l.Before)))
		}
		return limits(l.Entry)
	case store.LineDenial:
		if l.Denial.Anywhere && len(l.Denial.Args) > 0 {
			return "wherever these words stand"
		}
	}
	return ""
}

var settingNames = map[string]string{"askFallback": "Ask fallback", "autoAllowSkills": "Skills without a question", "presence": "Touch ID before a yes"}

// modeName is what people call a pair of security and ask.
func modeName(words string) string {
	for _, m := range approval.Modes {
		if words == string(m.Security)+"/"+string(m.Ask) {
			return m.Title
		}
	}
	return words
}

func denialWords(r approval.DenyRule) string {
	if len(r.Args) == 0 {
		return r.Pattern + ", any arguments"
	}
	return programWords(r.Pattern, r.Args)
}

// text is the line for a terminal, in cells: the word, whose, and what. now is
// when the person is asked.
func (l Line) text(now time.Time, inForce bool) string {
	if l.Agent == "" {
		return "  " + display.Escape(l.Text)
	}
	agent, note := inWords(l.Agent), ""
	if l.Agent == store.Every {
		agent = "every agent"
	}
	switch {
	case l.Word == Tighter && inForce:
		note = " (in force already)"
	case l.By.In != "":
		note = fmt.Sprintf(" (made %s, by %s)", ago(now.Sub(l.By.When)), l.By.words())
	}
	return string(l.Word) + "\t" + display.Escape(agent) + "\t" + display.Escape(l.What()+note)
}

func (m Made) words() string {
	switch m.In {
	case "terminal":
		return "this terminal"
	case "window":
		return "you, in the window"
	case "file":
		return "an edit of the policy file"
	}
	return m.Who
}

func ago(d time.Duration) string {
	switch n := int(d / time.Minute); n {
	case 0:
		return "less than a minute ago"
	case 1:
		return "1 minute ago"
	default:
		return fmt.Sprintf("%d minutes ago", n)
	}
}

const (
	// remembersTightening is how long it is known who tightened what, so that who
	// takes it back is seen to, and maxTightenings bounds how much is.
	remembersTightening = time.Hour
	maxTightenings      = 1000
)

// tightenings are those of the last hour, the latest last.
type tightenings struct {
	mu   sync.Mutex
	list []tightening
}

type tightening struct {
	key        string // of the line
	by         maker
	at         time.Time
	generation uint64 // of the policy that it made
}

// maker is who changes the policy.
type maker struct {
	in, who string
	seat    family.Seat // zero where it sits at no terminal
}

var (
	theWindow = maker{in: "window"}
	theFile   = maker{in: "file"}
)

// makerOf is the process that calls.
func (h *Host) makerOf(c ipc.Call) maker {
	m := maker{in: "other", who: h.caller(c)}
	if seat, err := h.seat(c.Peer); err == nil {
		m.seat, m.who = seat, seat.String()
	}
	return m
}

// add keeps who made what is tighter in a policy than in the one before it. What was
// kept of somebody for a policy since then is not the file's.
func (t *tightenings) add(old, new store.Snapshot, by maker, now time.Time) {
	if old.Broken != nil || new.Broken != nil {
		return // nothing is known of one that cannot be read
	}
	lines := store.Differences(old.Document, new.Document)
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range lines {
		lease := l.Entry.ExpiresAt != 0 || l.Entry.UsesLeft != nil || l.Entry.SessionKey != "" // they end by themselves
		if !l.Tighter || lease {
			continue
		}
		key := l.Key()
		known := func(one tightening) bool { return one.key == key && one.generation > old.Generation }
		if by == theFile && slices.ContainsFunc(t.list, known) {
			continue
		}
		t.list = append(t.list, tightening{key, by, now, new.Generation})
	}
	t.list = slices.DeleteFunc(t.list, func(one tightening) bool { return now.Sub(one.at) > remembersTightening })
	if over := len(t.list) - maxTightenings; over > 0 {
		t.list = slices.Delete(t.list, 0, over)
	}
}

// lines says of the lines of a difference which of them undo something, and who
// made that.
func (t *tightenings) lines(of []store.Line, asks maker, now time.Time) (lines []Line) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range of {
		line := Line{Line: l, Word: Looser}
		switch {
		case l.Tighter:
			line.Word = Tighter
		case l.Kind == store.LineDenial:
			line.Word = Undoes
		}
		key := l.Key()
		for _, one := range slices.Backward(t.list) {
			if l.Tighter || one.key != key || now.Sub(one.at) > remembersTightening {
				continue
			}
			line.Word, line.By = Undoes, Made{one.by.in, one.by.who, one.at}
			if one.by.seat != (family.Seat{}) && terminalOf(one.by.seat) == terminalOf(asks.seat) {
				line.By.In = "terminal"
			}
			break
		}
		lines = append(lines, line)
	}
	slices.SortStableFunc(lines, func(a, b Line) int { return slices.Index(order, a.Word) - slices.Index(order, b.Word) })
	return lines
}

// order is that of the lines on a screen: what undoes stands apart, next to the
// answer.
var order = []Word{Looser, Tighter, Undoes}

// headline says how many lines follow.
func headline(lines []Line) string {
	switch n := len(lines); n {
	case 0:
		return ""
	case 1:
		return "Your rules would change in 1 line.\n\n"
	default:
		return fmt.Sprintf("Your rules would change in %d lines.\n\n", n)
	}
}

// logged are lines as the log may have them.
func logged(lines []Line) (list []string) {
	for _, l := range lines {
		list = append(list, display.Line(strings.TrimSpace(l.Agent+" "+l.What())))
	}
	return list
}
