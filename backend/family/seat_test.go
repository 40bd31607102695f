package family

import (
	"errors"
	"testing"

	"github.com/countersign-app/countersign/backend/proc"
)

// TestSeat is a table of process facts: who calls from a shell that somebody
// types into, in front, with nothing but our own programs between.
func TestSeat(t *testing.T) {
	for name, row := range map[string]struct {
		base, lines string
		peer        int
		front       int // the group in front at its terminal
		want        string
		err         error
	}{
		"bash in tmux":                   {linux, "40 21 40 21 34816 501 /usr/bin/countersign countersign policy set", 40, 40, "bash in tmux", nil},
		"our program below ours":         {linux, "40 21 40 21 34816 501 /usr/bin/countersign countersign\n41 40 40 21 34816 501 /usr/bin/countersign countersign", 41, 40, "bash in tmux", nil},
		"a log-in over ssh":              {linux, "40 33 40 33 34825 501 /usr/bin/countersign countersign", 40, 40, "bash in sshd-session", nil},
		"a shell in a shell":             {linux, "25 21 25 21 34816 501 +/usr/bin/dash dash\n40 25 40 21 34816 501 /usr/bin/countersign countersign", 40, 40, "dash in tmux", nil},
		"in the background":              {linux, "40 21 40 21 34816 501 /usr/bin/countersign countersign", 40, 21, "", ErrNotInFront},
		"no terminal":                    {linux, "40 21 40 40 0 501 /usr/bin/countersign countersign", 40, 40, "", ErrNotInFront},
		"a script":                       {linux, "39 21 39 21 34816 501 +/usr/bin/bash bash loosen.sh\n40 39 39 21 34816 501 /usr/bin/countersign countersign", 40, 39, "", ErrBetween},
		"a command of a shell":           {linux, "39 21 39 21 34816 501 +/usr/bin/bash bash -c x\n40 39 39 21 34816 501 /usr/bin/countersign countersign", 40, 39, "", ErrBetween},
		"an interpreter":                 {linux, "39 21 39 21 34816 501 +/usr/bin/python3 python3 x.py\n40 39 39 21 34816 501 /usr/bin/countersign countersign", 40, 39, "", ErrBetween},
		"a program with our name":        {linux, "39 21 39 21 34816 501 /tmp/countersign countersign\n40 39 39 21 34816 501 /usr/bin/countersign countersign", 40, 39, "", ErrBetween},
		"sudo":                           {linux, "39 21 39 21 34816 0 +/usr/bin/sudo sudo\n40 39 39 21 34816 501 /usr/bin/countersign countersign", 40, 39, "", ErrBetween},
		"a shell of another session":     {linux, "40 21 40 40 34817 501 /usr/bin/countersign countersign", 40, 40, "", ErrBetween},
		"a shell that reads from a pipe": {linux, "39 21 39 21 34816 501 +/usr/bin/zsh zsh\n40 39 40 21 34816 501 /usr/bin/countersign countersign", 40, 40, "", ErrBetween},
		"nothing above":                  {linux, "40 5 40 40 34818 501 /usr/bin/countersign countersign", 40, 40, "", ErrBetween},
		"a copy of a shell":              {linux, "39 21 39 21 34816 501 /tmp/bash bash\n40 39 40 21 34816 501 /usr/bin/countersign countersign", 40, 40, "", ErrBetween},
		"another program":                {macOS, "40 22 40 21 16 501 /Applications/Countersign.app/Contents/Helpers/countersign countersign", 40, 40, "", ErrBetween},
		"zsh in Terminal, below login":   {macOS, "40 22 40 21 16 501 /usr/bin/countersign countersign", 40, 40, "zsh in Terminal", nil},
	} {
		m := grown(row.base + "\n" + row.lines)
		if name == "a shell that reads from a pipe" {
			program := m.programs[39]
			program.Input = 0
			m.programs[39] = program
		}
		p := m.infos[row.peer]
		p.Foreground = row.front
		m.infos[row.peer] = p
		b := m.book(10)
		seat, err := b.Seat(m.id(row.peer), func(pid int) bool { return m.programs[pid].Path == "/usr/bin/countersign" })
		if !errors.Is(err, row.err) || err == nil && (seat.String() != row.want || seat.Terminal != p.Terminal || seat.Session != p.Session) {
			t.Errorf("%s: %+v, %v", name, seat, err)
		}
	}
	b := grown(linux + "\n40 21 40 21 34816 501 /usr/bin/countersign").book(10)
	if _, err := b.Seat(proc.ID{PID: 40, Started: 1}, func(int) bool { return true }); err == nil {
		t.Error("another process of this number has a seat")
	}
}
