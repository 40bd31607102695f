// Package fair gives out a number of places, so that nobody who takes many keeps
// the others out.
//
// It knows names and numbers and nothing else. What must never happen here: more
// places are taken than there are, or one stays taken that was left.
package fair

import "sync"

// Places are given out to whoever asks for one. Nobody has more of them than are
// free: the first who takes all that it gets has a half, the second a quarter, and
// one is left for who comes next as long as these are not very many.
type Places struct {
	mu    sync.Mutex
	most  int
	taken int
	by    map[string]int
}

// New makes so many places.
func New(most int) *Places { return &Places{most: most, by: map[string]int{}} }

// Take takes a place for somebody, and reports whether there was one. own is how
// many they may have in any case, while there are any. Nobody is called "": the
// number of places alone bounds it.
func (p *Places) Take(who string, own int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.taken >= p.most || who != "" && p.by[who] >= max(own, p.most-p.taken) {
		return false
	}
	p.taken++
	p.by[who]++
	return true
}

// Leave gives a place back.
func (p *Places) Leave(who string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.taken--
	if p.by[who]--; p.by[who] == 0 {
		delete(p.by, who)
	}
}

// Taken is how many places are taken.
func (p *Places) Taken() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.taken
}
