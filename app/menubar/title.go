package menubar

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/countersign-app/countersign/backend/display"
)

// Lengths in characters. A name gets a part of the title only, so that a long
// one cannot push the command out.
const (
	maxTitle = 60
	maxName  = 24
)

// maxRead is how many bytes of each end of a text are looked at. A command can
// be long, and the menu is made anew every second. It is far more than is
// shown, so that a secret that the end lies in is still seen as one.
const maxRead = 4 << 10

// line returns text as one safe line; the middle of a very long one is lost.
func line(s string) string {
	if len(s) <= 2*maxRead {
		return display.Line(s)
	}
	return display.Line(s[:maxRead]) + "…" + display.Line(s[len(s)-maxRead:])
}

// cut takes characters out of the middle, so that both ends of a command are
// seen: what it starts and where it leads.
func cut(s string, size int) string {
	if utf8.RuneCountInString(s) <= size {
		return s
	}
	r := []rune(s)
	tail := (size - 1) / 2
	head := size - 1 - tail
	return string(r[:head]) + "…" + string(r[len(r)-tail:])
}

func name(s string, size int) string {
	if s = strings.TrimSpace(s); s == "" {
		return "An agent without a name"
	}
	return cut(line(s), size)
}

func commandTitle(agent, command string) string {
	who := name(agent, maxName) + ": "
	return who + cut(line(command), maxTitle-utf8.RuneCountInString(who))
}

// left is the time until an answer comes too late, rounded up: 0:00 only when
// it is over.
func left(d time.Duration) string {
	s := max(d, 0) / time.Second
	if d > s*time.Second {
		s++
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// elapsed is how long something has run, rounded down.
func elapsed(d time.Duration) string {
	d = max(d, 0)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
}

// lasts is how long something still holds, rounded up to minutes.
func lasts(d time.Duration) string {
	minutes := (max(d, 0) + time.Minute - 1) / time.Minute
	switch {
	case minutes <= 60:
		return fmt.Sprintf("%d min left", minutes)
	case minutes <= 48*60:
		return fmt.Sprintf("%d h left", minutes/60)
	}
	return fmt.Sprintf("%d days left", minutes/60/24)
}

// until is the end of a pause.
func until(end, now time.Time) string {
	switch {
	case end.IsZero():
		return "resumed"
	case end.YearDay() == now.YearDay() && end.Year() == now.Year():
		return end.Format("15:04")
	}
	return end.Format("Jan 2, 15:04")
}
