// Package metrics counts what happens and tells it in the text format that
// Prometheus reads. It holds names and numbers in memory and touches nothing
// else; what an agent or a person wrote never becomes a name or a label.
package metrics

// The format is written here, because client_golang brings protobuf and, like
// VictoriaMetrics/metrics, reads the machine's state at the start of every
// program, which a hook would pay for with each answer.

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"sync"
)

// Set is what one page tells. The zero value is empty. All methods of it and of
// what it makes may be called by many at once.
type Set struct {
	mu       sync.Mutex
	families []family
}

// family is one name with what is told of it.
type family struct {
	name, help, kind string
	write            func(b *bytes.Buffer, name string)
}

// add takes a family in. Names are written in the source: one that is there
// twice is a mistake of ours.
func (s *Set) add(name, help, kind string, write func(*bytes.Buffer, string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, taken := slices.BinarySearchFunc(s.families, name, func(f family, name string) int { return strings.Compare(f.name, name) })
	if taken {
		panic("metrics: " + name + " is there twice")
	}
	s.families = slices.Insert(s.families, at, family{name, help, kind, write})
}

// Text is what the set tells now, sorted by name.
func (s *Set) Text() []byte {
	s.mu.Lock()
	families := slices.Clone(s.families)
	s.mu.Unlock()
	var b bytes.Buffer
	for _, f := range families {
		b.WriteString("# HELP " + f.name + " " + helpText.Replace(f.help) + "\n# TYPE " + f.name + " " + f.kind + "\n")
		f.write(&b, f.name)
	}
	return b.Bytes()
}

// ServeHTTP answers with the text.
func (s *Set) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(s.Text()) // who is gone needs no answer
}

// helpText and labelText are what the format quotes.
var (
	helpText  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	labelText = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)
