package gate_test

import (
	"bytes"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
)

// mapping is a file that a program writes through its memory, which leaves no
// trace in the times of the file.
type mapping struct {
	b    *bench
	name string
	text []byte
}

func (b *bench) mapped(name string) *mapping {
	b.t.Helper()
	f, err := os.OpenFile(b.path(name), os.O_RDWR, 0)
	if err != nil {
		b.t.Fatal(err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		b.t.Fatal(err)
	}
	text, err := unix.Mmap(int(f.Fd()), 0, int(st.Size()), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		b.t.Fatal(err)
	}
	m := &mapping{b, name, text}
	m.set("good", "good")               // from here on the page is dirty
	time.Sleep(1100 * time.Millisecond) // and what is known of the file counts as settled
	return m
}

// set writes other words of the same length, and makes sure that the file does
// not tell.
func (m *mapping) set(was, now string) {
	m.b.t.Helper()
	copy(m.text[bytes.Index(m.text, []byte(was)):], now)
	text, err := os.ReadFile(m.b.path(m.name))
	if err != nil || !bytes.Contains(text, []byte(now)) {
		m.b.t.Fatalf("%q, %v", text, err)
	}
}

func (m *mapping) close() {
	if m.text != nil {
		_ = unix.Munmap(m.text)
		m.text = nil
	}
}

// What a program writes through a mapping is not run as what was allowed, though
// the times of the file stay the same, and neither while it has the mapping.
func TestWrittenThroughMemory(t *testing.T) {
	t.Parallel()
	b := newBench(t, approval.Entry{Pattern: "~/bin/*"})
	b.canAsk.Store(false)
	b.put("bin/a", "#!/bin/sh\necho good\n")
	b.want([]string{"a"}, `code 0 "good\n"`)
	m := b.mapped("bin/a")
	defer m.close()
	b.want([]string{"a"}, "denied ask-fallback")
	m.set("good", "evil")
	b.want([]string{"a"}, "denied ask-fallback")
	b.want([]string{"nice", "a"}, "denied ask-fallback")
	m.close()
	b.want([]string{"a"}, "denied ask-fallback")
	b.put("bin/a", "#!/bin/sh\necho good\n")
	b.want([]string{"a"}, `code 0 "good\n"`)
}

// A person's yes is for what the file held when it was shown.
func TestWrittenThroughMemoryWhileAsked(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(m *mapping){
		"kept mapped": func(*mapping) {},
		"unmapped":    (*mapping).close,
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.put("bin/a", "#!/bin/sh\necho good\n")
			m := b.mapped("bin/a")
			defer m.close()
			b.person(once, func() {
				m.set("good", "evil")
				before(m)
			})
			b.want([]string{"a"}, "denied drifted")
		})
	}
}
