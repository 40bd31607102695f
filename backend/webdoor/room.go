package webdoor

import (
	"net"
	"net/http"
	"slices"
	"sync"

	"github.com/countersign-app/countersign/backend/rescue"
)

// Room bounds the connections of a server to a number, as its ConnState. Where
// there are more, the one that has asked nothing for longest makes room: who
// connects and says nothing keeps nobody out. Where all ask, the newest goes.
// Connections that were taken over do not count.
func Room(most int) func(net.Conn, http.ConnState) {
	var mu sync.Mutex
	open := 0
	var silent []net.Conn // oldest first
	return func(c net.Conn, state http.ConnState) {
		mu.Lock()
		defer mu.Unlock()
		if i := slices.Index(silent, c); i >= 0 {
			silent = slices.Delete(silent, i, i+1)
		}
		switch state {
		case http.StateNew:
			open++
			silent = append(silent, c)
			if first := silent[0]; open > most { // its own end counts it out
				go rescue.Guarded(nil, "the end of a connection", func() { first.Close() })() // over TLS it may wait for the other end
				silent = silent[1:]
			}
		case http.StateIdle:
			silent = append(silent, c)
		case http.StateClosed, http.StateHijacked:
			open--
		}
	}
}
