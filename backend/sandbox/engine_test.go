package sandbox

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"strings"
	"testing"
)

// frame is a piece of output as an engine sends it.
func frame(stream byte, text string) string {
	head := make([]byte, 8)
	head[0] = stream
	binary.BigEndian.PutUint32(head[4:], uint32(len(text)))
	return string(head) + text
}

func TestDemux(t *testing.T) {
	for _, row := range []struct {
		sent, out, err string
		want           error
	}{
		{"", "", "", nil},
		{frame(1, "a") + frame(2, "b") + frame(1, "c"), "ac", "b", nil},
		{frame(1, "") + frame(0, "input") + frame(9, "x") + frame(2, "b"), "", "b", nil},
		{frame(1, strings.Repeat("x", 100_000)), strings.Repeat("x", 100_000), "", nil},
		{frame(1, "cut")[:10], "cu", "", io.ErrUnexpectedEOF},
		{frame(1, "a")[:5], "", "", io.ErrUnexpectedEOF},
		{"\x01\x00\x00\x00\xff\xff\xff\xff", "", "", io.ErrUnexpectedEOF},
	} {
		var got [2]bytes.Buffer
		err := demux(strings.NewReader(row.sent), func(stream int, b []byte) { got[stream].Write(b) })
		if !errors.Is(err, row.want) || got[0].String() != row.out || got[1].String() != row.err {
			t.Errorf("%.20q: %.20q %.20q %v", row.sent, got[0].String(), got[1].String(), err)
		}
	}
}

func TestFirstLine(t *testing.T) {
	for _, row := range []struct {
		pieces []string
		pid    string
		rest   string
	}{
		{[]string{"12\nhello"}, "12", "hello"},
		{[]string{"1", "2", "\n", "a\nb"}, "12", "a\nb"},
		{[]string{"12\n"}, "12", ""},
		{[]string{"-1\nx"}, "", "x"},
		{[]string{"1\nx"}, "", "x"}, // nobody signals the group of the box itself
		{[]string{"no number\nx"}, "", "x"},
		{[]string{strings.Repeat("9", 100)}, "", strings.Repeat("9", 79)},
	} {
		var rest strings.Builder
		f := &firstLine{found: make(chan string, 1), next: func(_ int, b []byte) { rest.Write(b) }}
		for _, p := range row.pieces {
			f.take(0, []byte(p))
		}
		pid := ""
		select {
		case pid = <-f.found:
		default:
		}
		if pid != row.pid || rest.String() != row.rest {
			t.Errorf("%q: %q %q", row.pieces, pid, rest.String())
		}
	}
}

func TestOutputCap(t *testing.T) {
	o := &output{}
	o.add(0, bytes.Repeat([]byte("a"), keep-1))
	o.add(1, []byte("bc"))
	o.add(0, []byte("d"))
	if stdout, stderr := o.texts(); len(stdout) != keep-1 || stderr != "b"+truncated {
		t.Errorf("%d %q", len(stdout), stderr)
	}
	o = &output{}
	o.add(0, []byte("\xffok"))
	if stdout, _ := o.texts(); stdout != "\uFFFDok" {
		t.Errorf("%q", stdout)
	}
}

// TestPanicsOfOutput: output that panics counts as broken, and nothing stays locked.
func TestPanicsOfOutput(t *testing.T) {
	o := &output{}
	if n, err := (stream{o, 2}).Write([]byte("text")); n != 0 || !errors.Is(err, errFailed) || o.whole() {
		t.Errorf("%d %v", n, err)
	}
	if n, err := o.stream(0).Write([]byte("text")); n != 4 || err != nil {
		t.Errorf("then %d %v", n, err)
	}
}
