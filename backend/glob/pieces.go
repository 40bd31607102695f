package glob

import (
	"encoding/binary"
	"iter"
	"math/bits"
	"strings"
)

// maxHead is how many bytes of a pattern's literal folders are cut to pieces:
// the last ones, where patterns differ most.
const maxHead = 64

// end follows the last byte of a path or name, so that a piece at the end of a
// pattern is found at the end only.
const end = 0

// table holds positions of patterns in buckets, by hash.
type table struct {
	shift     int      // the bits of a hash that are not used
	seen      []byte   // a bit for each hash in use, eight times as fine as buckets
	starts    []uint32 // bucket b is positions[starts[b]:starts[b+1]]
	positions []uint32
}

func newTable(patterns int) table {
	width := max(8, bits.Len(uint(patterns))+1)
	return table{shift: 64 - 3 - width, seen: make([]byte, 1<<width), starts: make([]uint32, 1<<width+1)}
}

// lookUp appends the bucket of a hash if there is something in it.
func (t *table) lookUp(found []uint32, hash uint64) []uint32 {
	at := hash >> t.shift
	if t.seen[at/8]>>(at%8)&1 == 0 {
		return found
	}
	return append(found, uint32(at/8))
}

func (t *table) bucket(b uint32) []uint32 {
	return t.positions[t.starts[b]:t.starts[b+1]]
}

// fill puts position i under hashes[i], unless that is 0.
func (t *table) fill(hashes []uint64) {
	total := uint32(0)
	for _, h := range hashes {
		if h != 0 {
			at := h >> t.shift
			t.seen[at/8] |= 1 << (at % 8)
			t.starts[at/8]++
			total++
		}
	}
	t.positions = make([]uint32, total)
	sum := uint32(0)
	for b := range t.starts {
		sum += t.starts[b]
		t.starts[b] = sum // its end; filling from there makes it its start
	}
	for i := len(hashes) - 1; i >= 0; i-- {
		if h := hashes[i]; h != 0 {
			b := h >> t.shift / 8
			t.starts[b]--
			t.positions[t.starts[b]] = uint32(i)
		}
	}
}

// file puts every pattern where a look-up will come by: a literal one under
// the hash of all of it, another under its rarest piece.
func (x *Index) file() {
	x.table = newTable(len(x.patterns))
	counts := make([]uint32, len(x.starts))
	for i := range x.patterns {
		for hash := range x.patterns[i].pieces() {
			counts[hash>>x.shift/8]++
		}
	}
	hashes := make([]uint64, len(x.patterns))
	var used [9]bool
	var text []byte
	for i := range x.patterns {
		p := &x.patterns[i]
		switch {
		case p.text == "":
			continue
		case p.folded.glob == "":
			text = append(append(text[:0], p.start()...), p.folded.prefix...)
			hashes[i] = hashAll(text)
			continue
		}
		best, least := 0, uint32(0)
		for hash, size := range p.pieces() {
			if n := counts[hash>>x.shift/8]; best == 0 || n < least || n == least && size > best {
				hashes[i], best, least = hash, size, n
			}
		}
		used[best] = true
		if best == 0 {
			x.rest = append(x.rest, uint32(i))
		}
	}
	for _, size := range []int{8, 4, 2, 1} {
		if used[size] {
			x.sizes = append(x.sizes, size)
		}
	}
	x.fill(hashes)
}

// start is what comes before a pattern in the texts that are looked up: a
// bare one stands behind a slash like any name.
func (p *Pattern) start() string {
	if p.bare {
		return "/"
	}
	return ""
}

// pieces yields the hash and size of all pieces of a pattern with wildcards.
// Each is 8, 4, 2 or 1 bytes that every text it matches holds when folded.
func (p *Pattern) pieces() iter.Seq2[uint64, int] {
	return func(yield func(uint64, int) bool) {
		if p.folded.glob == "" {
			return
		}
		for run := range p.runs() {
			size := 8
			for size > len(run) {
				size /= 2
			}
			for i := range len(run) - size + 1 {
				var word [8]byte
				copy(word[:], run[i:i+size])
				if !yield(hash(binary.LittleEndian.Uint64(word[:]), size), size) {
					return
				}
			}
		}
	}
}

// runs yields the literal text between the wildcards, with end behind the
// last. What would hold for every path, a lone slash, is left out.
func (p *Pattern) runs() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		var room [maxHead + maxGlob + 2]byte
		prefix, glob := p.folded.prefix, p.folded.glob
		run := append(room[:0], p.start()...)
		run = append(run, prefix[max(0, len(prefix)-maxHead):]...)
		for i := 0; i < len(glob); i++ {
			switch c := glob[i]; {
			case c == '*' || c == '?' || strings.HasPrefix(glob[i:], "/**"):
				if string(run) != "/" && len(run) > 0 && !yield(run) {
					return
				}
				run = run[:0]
				continue // also past the slash: ** may be no folder at all
			case c == '\\':
				i++
			}
			run = append(run, glob[i])
		}
		if len(run) > 0 {
			yield(append(run, end))
		}
	}
}

// hash of the first size bytes of a word.
func hash(word uint64, size int) uint64 { return mix(word << (64 - 8*size)) }

// hashAll is the hash of a whole text.
func hashAll(text []byte) uint64 {
	sum := uint64(len(text))
	for len(text) > 0 {
		var word [8]byte
		text = text[copy(word[:], text):]
		sum = mix(sum ^ binary.LittleEndian.Uint64(word[:]))
	}
	return sum
}

// mix spreads the bits of a word; it is never 0, which stands for no hash.
func mix(word uint64) uint64 {
	high, low := bits.Mul64(word^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	return (high ^ low) | 1
}
