package setup

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/tailscale/hujson"

	"github.com/countersign-app/countersign/backend/approvaltest"
)

// randomSeed is the variable that repeats a run.
const randomSeed = "COUNTERSIGN_RANDOM_SEED"

// randomFiles is how many files a run makes for each agent.
const randomFiles = 150

// TestRandomFilesComeBack is the property for files that nobody wrote by hand.
func TestRandomFilesComeBack(t *testing.T) {
	approvaltest.Long(t)
	seed := rand.Uint64()
	if n, err := strconv.ParseUint(os.Getenv(randomSeed), 10, 64); err == nil {
		seed = n
	}
	t.Logf("%s=%d", randomSeed, seed)
	for number, agent := range Agents() {
		target := targetOf(t, agent)
		if target.user == "" {
			continue
		}
		for i := range randomFiles {
			w := &writer{Rand: rand.New(rand.NewPCG(seed, uint64(number*randomFiles+i))), target: target}
			in := []byte(w.file())
			if _, err := parse(in); err != nil && err != errNoValue {
				t.Fatalf("file %d is no settings file: %v\n%s", i, err, in)
			}
			if comesBack(t, in, target); t.Failed() {
				t.Fatalf("file %d for %s:\n%s", i, agent, in)
			}
		}
	}
}

// TestEditedFilesLoseOnlyOurs installs into such files, has somebody edit them,
// and cuts our hook out.
func TestEditedFilesLoseOnlyOurs(t *testing.T) {
	approvaltest.Long(t)
	seed := rand.Uint64()
	if n, err := strconv.ParseUint(os.Getenv(randomSeed), 10, 64); err == nil {
		seed = n
	}
	t.Logf("%s=%d", randomSeed, seed)
	for number, agent := range Agents() {
		target := targetOf(t, agent)
		if target.user == "" {
			continue
		}
		for i := range randomFiles {
			w := &writer{Rand: rand.New(rand.NewPCG(^seed, uint64(number*randomFiles+i))), target: target}
			d, err := putIn([]byte(w.file()), target, starting(agent))
			if err != nil {
				t.Fatal(err)
			}
			w.edit(&d.root, true)
			edited := d.root.Pack()
			if _, err := parse(edited); err != nil {
				t.Fatalf("the edited file is no settings file: %v\n%s", err, edited)
			}
			out, err := takeOut(edited, target, []string{"hooks", target.events[0].name, "Stop"})
			if err != nil {
				t.Fatalf("%v\n%s", err, edited)
			}
			if left := handlersIn(t, out, target); len(left) > 0 {
				t.Errorf("%d hooks of ours are left", len(left))
			}
			if got, want := values(t, out, target), values(t, edited, target); !cmp.Equal(want, got) {
				t.Errorf("other values changed: %s", cmp.Diff(want, got))
			}
			if got, want := comments(out, agent), comments(edited, agent); !cmp.Equal(want, got) {
				t.Errorf("comments changed: %s", cmp.Diff(want, got))
			}
			if t.Failed() {
				t.Fatalf("file %d for %s:\n%s\nbecame\n%s", i, agent, edited, out)
			}
		}
	}
}

// edit puts comments, trailing commas and hooks of others into a file.
func (w *writer) edit(v *hujson.Value, outside bool) {
	v.BeforeExtra = append(v.BeforeExtra, w.note()...)
	if outside || v.AfterExtra != nil {
		v.AfterExtra = append(v.AfterExtra, w.note()...)
	}
	switch c := v.Value.(type) {
	case *hujson.Object:
		for i := range c.Members {
			w.edit(&c.Members[i].Name, true)
			w.edit(&c.Members[i].Value, i < len(c.Members)-1)
		}
		if n := len(c.Members); n > 0 && w.IntN(4) == 0 && c.Members[n-1].Value.AfterExtra == nil {
			c.Members[n-1].Value.AfterExtra = []byte{}
		}
		c.AfterExtra = append(c.AfterExtra, w.note()...)
	case *hujson.Array:
		if w.IntN(4) == 0 && len(c.Elements) > 0 && c.Elements[0].Value.Kind() == '{' {
			other, _ := hujson.Parse([]byte(`{"type": "command", "command": "other-tool"}`))
			c.Elements = slices.Insert(c.Elements, w.IntN(len(c.Elements)+1), other)
		}
		for i := range c.Elements {
			w.edit(&c.Elements[i], i < len(c.Elements)-1)
		}
		if n := len(c.Elements); n > 0 && w.IntN(4) == 0 && c.Elements[n-1].AfterExtra == nil {
			c.Elements[n-1].AfterExtra = []byte{}
		}
		c.AfterExtra = append(c.AfterExtra, w.note()...)
	}
}

// note is a comment now and then.
func (w *writer) note() string {
	if w.IntN(12) > 0 {
		return ""
	}
	w.notes++
	return fmt.Sprintf(w.one(" /* note %d */", " // note %d\n", "\n// note %d\n", " /* note %d */ \n  "), w.notes)
}

// writer writes random settings files.
type writer struct {
	*rand.Rand
	target  target
	newline string
	deep    int
	notes   int
}

func (w *writer) one(list ...string) string { return list[w.IntN(len(list))] }

// file is a settings file, with a byte order mark now and then, and sometimes
// without a value.
func (w *writer) file() string {
	w.newline = w.one("\n", "\n", "\r\n")
	mark, tail := w.one("", "", "", "\uFEFF"), w.one("", "\n", w.newline, "// end", " /* end */")
	if w.IntN(20) == 0 {
		return mark + w.space() + tail
	}
	return mark + w.space() + w.root() + w.space() + tail
}

// space is what may stand between two parts.
func (w *writer) space() string {
	text := ""
	for range w.IntN(3) {
		text += w.one("", "", " ", "\t", w.newline, w.newline+"  ", w.newline+"\t\t",
			"/* a, [b] \"c */", "// x { \" y"+w.newline, w.newline+"    // own line"+w.newline+"  ")
	}
	return text
}

func (w *writer) root() string {
	var members []string
	if w.target.versioned && w.IntN(2) == 0 {
		members = append(members, w.member("version", "1"))
	}
	for i := range w.IntN(4) {
		members = append(members, w.member(fmt.Sprint("key", i), w.value()))
	}
	if w.IntN(3) > 0 {
		members = append(members, w.member("hooks", w.hooks()))
	}
	w.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return w.list("{", "}", members)
}

func (w *writer) hooks() string {
	var members []string
	for _, e := range w.target.events {
		if w.IntN(2) == 0 {
			members = append(members, w.member(e.name, w.elements()))
		}
	}
	members = append(members, w.member("Stop", w.elements()))
	if w.IntN(4) == 0 {
		members = nil
	}
	w.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return w.list("{", "}", members)
}

// elements are hooks of other tools.
func (w *writer) elements() string {
	var list []string
	for i := range w.IntN(3) {
		handler := w.list("{", "}", []string{
			w.member("type", `"command"`), w.member("command", fmt.Sprintf(`"other-tool --number %d // no comment"`, i)),
		})
		if w.target.grouped {
			handler = w.list("{", "}", []string{w.member("matcher", `"Bash"`), w.member("hooks", w.list("[", "]", []string{handler}))})
		}
		list = append(list, handler)
	}
	return w.list("[", "]", list)
}

func (w *writer) value() string {
	if w.deep++; w.deep > 6 || w.IntN(3) > 0 {
		w.deep--
		return w.one("1", "-0.5e3", "true", "null", `""`, `"a \"b\" // c"`, `"\u00e4 /* \\"`, `"日本"`)
	}
	defer func() { w.deep-- }()
	var parts []string
	object := w.IntN(2) == 0
	for i := range w.IntN(4) {
		part := w.value()
		if object {
			part = w.member(fmt.Sprint("k", i), part)
		}
		parts = append(parts, part)
	}
	if object {
		return w.list("{", "}", parts)
	}
	return w.list("[", "]", parts)
}

func (w *writer) member(name, value string) string {
	return `"` + name + `"` + w.space() + ":" + w.space() + value
}

// list puts parts between brackets, with space around each, and a trailing
// comma now and then.
func (w *writer) list(open, shut string, parts []string) string {
	for i := range parts {
		parts[i] = w.space() + parts[i] + w.space()
	}
	text := strings.Join(parts, ",")
	if len(parts) > 0 && w.IntN(3) == 0 {
		text += "," + w.space()
	}
	if len(parts) == 0 {
		text = w.space()
	}
	return open + text + shut
}
