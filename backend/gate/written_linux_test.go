package gate_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/store"
)

// writesSwapped are things that a redirection writes, or would write: B is never
// written, and what is outside keeps what it holds.
var writesSwapped = []struct {
	swapped
	file string
}{
	{swapped{name: "link", flip: swapping("work/name", "work/other"), make: func(b *bench) { b.write("work/name", "A"); b.link("secret", "work/other") }}, "name"},
	{swapped{name: "hard link", flip: swapping("work/name", "work/other"), make: func(b *bench) {
		b.write("work/name", "A")
		b.write("secret", "secret")
		b.do(os.Link(b.path("secret"), b.path("work/other")))
	}}, "name"},
	{swapped{name: "pipe", flip: swapping("work/name", "work/other"), make: func(b *bench) {
		b.write("work/name", "A")
		b.do(unix.Mkfifo(b.path("work/other"), 0o600))
	}}, "name"},
	{swapped{name: "folder instead", flip: swapping("work/name", "work/other"), make: func(b *bench) {
		b.write("work/name", "A")
		b.do(os.Mkdir(b.path("work/other"), 0o700))
	}}, "name"},
	{swapped{name: "link to a folder", flip: swapping("work/dir", "work/other"), make: func(b *bench) {
		b.write("work/dir/name", "A")
		b.write("outside/name", "secret")
		b.link("outside", "work/other")
	}}, "dir/name"},
	{swapped{name: "another folder", both: true, flip: swapping("work/dir", "outside"), make: func(b *bench) {
		b.write("work/dir/name", "A")
		b.write("outside/name", "secret")
	}}, "dir/name"},
	{swapped{name: "folder above", flip: swapping("work/a", "work/b"), make: func(b *bench) {
		b.write("work/a/dir/name", "A")
		b.write("outside/dir/name", "secret")
		b.link("outside", "work/b")
	}}, "a/dir/name"},
	{swapped{name: "working directory", both: true, flip: swapping("work", "outside"), make: func(b *bench) {
		b.write("work/name", "A")
		b.write("outside/name", "secret")
	}}, "name"},
	{swapped{name: "link where nothing was", flip: flipping("secret", "work/name"), make: func(b *bench) {}}, "name"},
	{swapped{name: "link to nothing where nothing was", flip: flipping("made", "work/name"), make: func(b *bench) {}}, "name"},
	{swapped{name: "link to a file of ours", flip: swapping("work/name", "work/other"), make: func(b *bench) {
		b.write("work/name", "A")
		b.link("state/secret", "work/other")
		b.write("state/secret", "secret")
	}}, "name"},
}

// flipping puts a link where nothing is, and takes it away.
func flipping(to, name string) func(b *bench) {
	return func(b *bench) {
		err := os.Remove(b.path(name))
		if errors.Is(err, fs.ErrNotExist) {
			err = os.Symlink(b.path(to), b.path(name))
		}
		b.do(err)
	}
}

// Between the last look and the opening of a file that is written things are swapped,
// once or all the time: what was judged is written, or nothing.
func TestSwapOutput(t *testing.T) {
	t.Parallel()
	for _, what := range writesSwapped {
		for _, text := range []string{"echo B > NAME", "echo B >> NAME", "cat /etc/hostname > NAME", "{ echo B; echo C; } > NAME"} {
			t.Run(what.name+", "+text, func(t *testing.T) {
				t.Parallel()
				allows := []approval.Allowed{approval.AllowProjectWrites}
				s := newSwapper(t, what.swapped)
				s.write("secret", "secret")
				s.onlyProject("work")
				s.edit(func(d *store.Document) error {
					d.Add("*", approval.Entry{Pattern: "echo", Allows: allows})
					d.Add("*", approval.Entry{Pattern: "cat", Allows: allows})
					return nil
				})
				s.nobody()
				words := []string{"bash", "-c", strings.ReplaceAll(text, "NAME", what.file)}
				count := map[string]int{}
				for i := range swaps(t) {
					s.rest(false)
					if strings.HasSuffix(what.name, "nothing was") {
						_ = os.Remove(s.path("work/name")) // the run made it
						s.other = false
					}
					s.rest(i%4 == 1)
					s.afterCheck = nil
					if i%4 == 2 {
						s.afterCheck = sync.OnceFunc(s.flip)
					}
					s.racing(i%4 == 3 && !strings.HasSuffix(what.name, "nothing was"))
					req := s.request(words...)
					req.Cwd = s.path("work")
					got := outcome(s.Run(context.Background(), req))
					s.rest(false)
					if i%4 == 0 && got != `code 0 ""` || i%4 == 2 && !strings.HasPrefix(got, "denied") {
						t.Fatalf("round %d: %s", i, got)
					}
					if what.both && i%2 == 1 { // it may be B that was judged
						s.write("outside/name", "secret")
					}
					for _, name := range []string{"secret", "outside/name", "outside/dir/name", "state/secret"} {
						if text, err := os.ReadFile(s.path(name)); err == nil && string(text) != "secret" {
							t.Fatalf("round %d: %s, and %s was written: %q", i, got, name, text)
						}
					}
					if _, err := os.Lstat(s.path("made")); err == nil {
						t.Fatalf("round %d: %s, and a file was made elsewhere", i, got)
					}
					count[got]++
				}
				t.Logf("what became of it: %v", count)
			})
		}
	}
}
