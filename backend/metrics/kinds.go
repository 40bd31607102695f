package metrics

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
)

// Counter only grows.
type Counter struct{ n atomic.Uint64 }

// Counter adds a counter. By custom its name ends in _total.
func (s *Set) Counter(name, help string) *Counter {
	c := new(Counter)
	s.add(name, help, "counter", func(b *bytes.Buffer, name string) { line(b, name, float64(c.n.Load())) })
	return c
}

// Inc counts one.
func (c *Counter) Inc() { c.n.Add(1) }

// Gauge adds a number that is asked for when somebody reads it.
func (s *Set) Gauge(name, help string, now func() float64) {
	s.add(name, help, "gauge", func(b *bytes.Buffer, name string) { line(b, name, now()) })
}

// Tally adds a counter whose number is kept elsewhere.
func (s *Set) Tally(name, help string, now func() uint64) {
	s.add(name, help, "counter", func(b *bytes.Buffer, name string) { line(b, name, float64(now())) })
}

// Counters is a counter for each value of one label.
type Counters struct {
	mu sync.Mutex
	n  map[string]uint64
}

// Counters adds counters that differ in a label. Each value is kept for good,
// so it is one of a few words that the source knows, such as a reason.
func (s *Set) Counters(name, help, label string) *Counters {
	c := &Counters{n: map[string]uint64{}}
	s.add(name, help, "counter", func(b *bytes.Buffer, name string) {
		c.mu.Lock()
		defer c.mu.Unlock()
		for _, value := range slices.Sorted(maps.Keys(c.n)) {
			line(b, name+"{"+label+`="`+labelText.Replace(value)+`"}`, float64(c.n[value]))
		}
	})
	return c
}

// Inc counts one of a value.
func (c *Counters) Inc(value string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n[value]++
}

// Histogram tells how many of the values it saw were at most how large.
type Histogram struct {
	mu     sync.Mutex
	bounds []float64
	counts []uint64 // between the bounds; the last one is above all of them
	sum    float64
}

// Histogram adds one with these upper bounds, which grow. Times are in seconds.
func (s *Set) Histogram(name, help string, bounds ...float64) *Histogram {
	h := &Histogram{bounds: bounds, counts: make([]uint64, len(bounds)+1)}
	s.add(name, help, "histogram", h.write)
	return h
}

// Observe counts a value.
func (h *Histogram) Observe(value float64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	at, _ := slices.BinarySearch(h.bounds, value)
	h.counts[at]++
	h.sum += value
}

func (h *Histogram) write(b *bytes.Buffer, name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	total := uint64(0)
	for i, n := range h.counts {
		bound := math.Inf(1)
		if i < len(h.bounds) {
			bound = h.bounds[i]
		}
		total += n
		line(b, fmt.Sprintf("%s_bucket{le=%q}", name, number(bound)), float64(total))
	}
	line(b, name+"_sum", h.sum)
	line(b, name+"_count", float64(total))
}

func line(b *bytes.Buffer, name string, value float64) {
	b.WriteString(name + " " + number(value) + "\n")
}

// number writes a value as the format wants it: +Inf, -Inf and NaN are words.
func number(value float64) string { return strconv.FormatFloat(value, 'g', -1, 64) }
