package ipc

import (
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"strconv"
	"sync"
	"time"
)

const (
	// ttl is how far a frame's ts may be from our clock, both ways, inclusive.
	ttl = 10 * time.Second
	// nonceLife covers every moment at which a frame that was taken could be
	// sent again: its ts may be one ttl ahead and hold for one ttl after.
	nonceLife = 2 * ttl
	// maxNonces bounds what is remembered: ten peers at the default rate.
	maxNonces = 100_000
)

// sign returns the HMAC of a frame in lower hex. ts is the decimal text of
// the number in the frame. An empty key signs nothing: the result is empty,
// which no frame verifies against.
func sign(key []byte, nonce, ts, requestJSON string) string {
	if len(key) == 0 {
		return ""
	}
	m := hmac.New(sha256.New, key)
	for _, part := range []string{nonce, ":", ts, ":", requestJSON} {
		m.Write([]byte(part))
	}
	return hex.EncodeToString(m.Sum(nil))
}

// verified compares in constant time.
func verified(key []byte, f frame) bool {
	want := sign(key, f.nonce, f.ts, f.requestJSON)
	return want != "" && same(want, f.hmac)
}

func same(a, b string) bool { return subtle.ConstantTimeCompare([]byte(a), []byte(b)) == 1 }

// plainInteger reports whether a JSON number is written as digits with at
// most a sign, the only form whose text and value say the same.
func plainInteger(s string) bool {
	if s != "" && s[0] == '-' {
		s = s[1:]
	}
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != ""
}

// fresh reports whether ts is within ttl of now and later than start: what
// was signed before we started may have been used with whoever listened
// before us, and we do not know its nonces.
func fresh(ts string, now, start time.Time) bool {
	at, err := strconv.ParseInt(ts, 10, 64)
	if err != nil {
		return false
	}
	ms, reach := now.UnixMilli(), ttl.Milliseconds()
	return at >= ms-reach && at <= ms+reach && at > start.UnixMilli()
}

// goodNonce reports whether a nonce cannot be confused with the rest of the
// signed text: no colon, and nothing but letters, digits, - and _.
func goodNonce(s string) bool {
	if len(s) < 8 || len(s) > 128 {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_':
		default:
			return false
		}
	}
	return true
}

// nonces remembers those of verified frames for nonceLife. It keeps hashes,
// so that each takes the same small room.
type nonces struct {
	mu    sync.Mutex
	seen  map[[16]byte]struct{}
	queue []seenNonce // oldest first
	max   int
}

type seenNonce struct {
	key [16]byte
	at  time.Time
}

// take remembers a nonce and reports whether it was new. When the memory is
// full nothing is new: forgetting one early would let its frame be replayed.
func (n *nonces) take(nonce string, now time.Time) bool {
	sum := sha256.Sum256([]byte(nonce))
	key := [16]byte(sum[:16])
	n.mu.Lock()
	defer n.mu.Unlock()
	n.forget(now)
	if _, old := n.seen[key]; old || len(n.seen) >= n.max {
		return false
	}
	if n.seen == nil {
		n.seen = map[[16]byte]struct{}{}
	}
	n.seen[key] = struct{}{}
	n.queue = append(n.queue, seenNonce{key, now})
	return true
}

func (n *nonces) forget(now time.Time) {
	for len(n.queue) > 0 && now.Sub(n.queue[0].at) > nonceLife {
		delete(n.seen, n.queue[0].key)
		n.queue = n.queue[1:]
	}
	if len(n.queue) == 0 {
		n.seen, n.queue = nil, nil // gives a burst's memory back
	}
}
