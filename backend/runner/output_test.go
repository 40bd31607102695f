//go:build linux || darwin

package runner

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"os/exec"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
)

// piece is output that arrived at once.
type piece struct {
	stream int
	text   string
}

func collected(pieces ...piece) approval.Result {
	c := &collector{sum: sha256.New()}
	for _, p := range pieces {
		c.add(p.stream, []byte(p.text))
	}
	var r approval.Result
	c.result(&r, "")
	return r
}

func TestWhatIsKept(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	const out, err = 0, 1
	for name, test := range map[string]struct {
		pieces         []piece
		stdout, stderr string
		cut            bool
	}{
		"nothing":            {nil, "", "", false},
		"one stream":         {[]piece{{out, "a"}, {out, "b"}}, "ab", "", false},
		"stderr only":        {[]piece{{err, "a"}}, "", "a", false},
		"in turn":            {[]piece{{out, "a"}, {err, "1"}, {out, "b"}, {err, "2"}}, "ab", "12", false},
		"exactly full":       {[]piece{{out, x(keepHead)}}, x(keepHead), "", false},
		"one too many":       {[]piece{{out, x(keepHead + 1)}}, x(keepHead) + truncated, "", true},
		"full, then stderr":  {[]piece{{out, x(keepHead)}, {err, "e"}}, x(keepHead) + truncated, "", true},
		"stderr says it":     {[]piece{{err, "e"}, {out, x(keepHead)}}, x(keepHead - 1), "e" + truncated, true},
		"both count":         {[]piece{{out, x(keepHead / 2)}, {err, x(keepHead)}}, x(keepHead / 2), x(keepHead/2) + truncated, true},
		"inside ä":           {[]piece{{out, x(keepHead-1) + "ä"}}, x(keepHead-1) + truncated, "", true},
		"inside 😀":           {[]piece{{out, x(keepHead-3) + "😀"}}, x(keepHead-3) + truncated, "", true},
		"after 😀":            {[]piece{{out, x(keepHead-4) + "😀x"}}, x(keepHead-4) + "😀" + truncated, "", true},
		"ä in two pieces":    {[]piece{{out, x(keepHead-2) + "\xc3"}, {err, "e"}, {out, "\xa4"}}, x(keepHead-2) + truncated, "e" + truncated, true},
		"not text":           {[]piece{{out, x(keepHead-1) + "\xff\xff"}}, x(keepHead-1) + "\xff" + truncated, "", true},
		"only continuations": {[]piece{{out, strings.Repeat("\x80", keepHead+1)}}, strings.Repeat("\x80", keepHead) + truncated, "", true},
		"broken at its end":  {[]piece{{out, "a\xc3"}}, "a\xc3", "", false},
	} {
		t.Run(name, func(t *testing.T) {
			got := collected(test.pieces...)
			stderr := test.stderr
			if name == "ä in two pieces" { // said once
				test.stdout = strings.TrimSuffix(test.stdout, truncated)
			}
			if string(got.Stdout) != test.stdout || string(got.Stderr) != stderr || got.Truncated != test.cut {
				t.Errorf("got %d and %d bytes ending in %q and %q, %v", len(got.Stdout), len(got.Stderr), end10(got.Stdout), end10(got.Stderr), got.Truncated)
			}
			sum, size := sha256.New(), 0
			for _, p := range test.pieces {
				sum.Write([]byte(p.text))
				size += len(p.text)
			}
			if got.OutputHash != hexOf(sum) || got.OutputSize != int64(size) {
				t.Errorf("got hash %s of %d bytes", got.OutputHash, got.OutputSize)
			}
		})
	}
}

func end10(b []byte) []byte { return b[max(0, len(b)-30):] }

func hexOf(h hash.Hash) string { return hex.EncodeToString(h.Sum(nil)) }

func TestTail(t *testing.T) {
	long := strings.Repeat("a", 1_000_000)
	for name, test := range map[string]struct {
		pieces []piece
		want   string
	}{
		"short":              {[]piece{{0, "a"}, {1, "b"}, {0, "c"}}, "abc"},
		"exactly":            {[]piece{{0, long[:keepTail]}}, long[:keepTail]},
		"one more":           {[]piece{{0, "x" + long[:keepTail]}}, long[:keepTail]},
		"characters":         {[]piece{{0, "x" + strings.Repeat("😀", keepTail)}}, strings.Repeat("😀", keepTail)},
		"over the head":      {[]piece{{0, long[:keepHead]}, {1, "end"}}, long[:keepTail-3] + "end"},
		"far beyond":         {[]piece{{0, long}, {1, "end"}}, long[:keepTail-3] + "end"},
		"characters, beyond": {[]piece{{0, long + strings.Repeat("ä", keepTail-1)}, {1, "."}}, strings.Repeat("ä", keepTail-1) + "."},
		"many pieces":        {[]piece{{0, long}, {1, long}, {0, long[:tailBytes]}, {1, "z"}}, long[:keepTail-1] + "z"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := collected(test.pieces...); string(got.Tail) != test.want {
				t.Errorf("got %d bytes, want %d: %q", len(got.Tail), len(test.want), end10(got.Tail))
			}
		})
	}
	if got := collected(piece{0, strings.Repeat("\x80", 1_000_000)}); len(got.Tail) > tailBytes {
		t.Errorf("what is no text gives %d bytes", len(got.Tail))
	}
}

func TestOutputOfRuns(t *testing.T) {
	needs(t, "head", "yes", "seq")
	r, dir := newRunner(t), scratch(t)
	for _, test := range []struct {
		text           string
		stdout, stderr int // lengths
		size           int64
	}{
		{`head -c 1048576 /dev/zero`, keepHead + len(truncated), 0, 1 << 20},
		{`sh -c 'head -c 1048576 /dev/zero >&2'`, 0, keepHead + len(truncated), 1 << 20},
		{`head -c 200000 /dev/zero`, 200_000, 0, 200_000},
		{`sh -c 'echo first; head -c 300000 /dev/zero >&2; echo last'`, 6, keepHead - 6 + len(truncated), 300_011},
		{`yes | head -c 250000 | cat`, keepHead + len(truncated), 0, 250_000},
		{`cat /dev/null`, 0, 0, 0},
	} {
		got := run1(t, r, textJob(t, dir, test.text))
		if code(got) != 0 || got.OutputSize != test.size {
			t.Errorf("%s: got %d bytes, %+v", test.text, got.OutputSize, got.Error)
		}
		// Which stream arrived first is not ours to say when both are full.
		if !strings.Contains(test.text, "first") && (len(got.Stdout) != test.stdout || len(got.Stderr) != test.stderr) {
			t.Errorf("%s: got %d and %d bytes", test.text, len(got.Stdout), len(got.Stderr))
		}
		if !utf8.Valid(got.Stdout) || !utf8.Valid(got.Stderr) {
			t.Errorf("%s: cut inside a character", test.text)
		}
	}
	got := run1(t, r, textJob(t, dir, `seq 100000; seq 100000`))
	want, err := exec.Command("sh", "-c", "seq 100000; seq 100000").Output()
	must(t, err)
	sum := sha256.Sum256(want)
	if got.OutputHash != hex.EncodeToString(sum[:]) || !bytes.Equal(got.Stdout, append(want[:keepHead:keepHead], truncated...)) || !bytes.HasSuffix(want, got.Tail) {
		t.Errorf("got %d bytes, hash %s", got.OutputSize, got.OutputHash)
	}
}

// Somebody who got hold of the pipe and cannot be found does not hold us up
// for ever.
func TestHeldPipe(t *testing.T) {
	c, err := newCollector(func() { t.Error("some of it is lost") })
	must(t, err)
	held, err := unix.Dup(c.write[0])
	must(t, err)
	defer unix.Close(held)
	write(c.write[0], "said\n")
	write(c.write[1], "and this\n")
	c.finish(20 * time.Millisecond)
	var r approval.Result
	c.result(&r, "")
	if string(r.Stdout) != "said\n" || string(r.Stderr) != "and this\n" {
		t.Errorf("got %q, %q", r.Stdout, r.Stderr)
	}
}

func TestEcho(t *testing.T) {
	needs(t, "bash")
	for _, seed := range echoSeeds {
		checkEcho(t, seed)
	}
}

var echoSeeds = []string{
	"-e\x00\\Ͻ",
	"", "a", "a\x00b", "-n\x00a", "-e\x00a\\tb", "-E\x00\\t", "-ne\x00\\x41", "-en\x00\\u00e4", "-\x00a", "-nn", "-neE\x00\\n", "--\x00a", "-nq\x00a",
	"-e\x00\\0101\\0\\01\\08", "-e\x00a\\cb\x00c", "-e\x00\\", "-e\x00\\\\n", "-e\x00\\xg\\x4\\x414", "-e\x00\\uD83D\\u1F600\\U1F600", "-e\x00\\1\\9\\q\\e\\E",
	"-e\x00\\U7fffffff", "-e\x00\\uffff\\U110000", "-e\x00\\a\\b\\f\\r\\v\\'\\\"\\?",
}

// checkEcho compares with the real one. Arguments are separated by NUL.
func checkEcho(t *testing.T, joined string) {
	t.Helper()
	args := strings.Split(joined, "\x00")
	bash := exec.Command("bash", append([]string{"-c", `builtin echo "$@"`, "bash"}, args...)...)
	bash.Env = []string{"LC_ALL=C.UTF-8"}
	want, err := bash.Output()
	must(t, err)
	if got := echo(args); got != string(want) {
		t.Errorf("echo %q: got %q, want %q", args, got, want)
	}
}

func FuzzEcho(f *testing.F) {
	needs(f, "bash")
	for _, seed := range echoSeeds {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, joined string) {
		if !utf8.ValidString(joined) || len(joined) > 1000 {
			t.Skip("skipped: arguments are text")
		}
		checkEcho(t, joined)
	})
}

// A line of ours stands behind the errors, and before the mark that some are lost.
func TestLineOfOurs(t *testing.T) {
	for written, want := range map[string]string{"": "line\n", "x": "x\nline\n", "x\n": "x\nline\n"} {
		c, err := newCollector(func() {})
		if err != nil {
			t.Fatal(err)
		}
		write(c.write[1], written)
		write(c.write[0], strings.Repeat("o", keepHead+1))
		var r approval.Result
		c.finish(time.Second)
		c.result(&r, "line\n")
		if got := string(r.Stderr); got != want+truncated || strings.Contains(string(r.Stdout), "line") {
			t.Errorf("%q: %q", written, got)
		}
	}
}
