package gateway

import (
	"net/http"

	"github.com/countersign-app/countersign/backend/link"
	"github.com/countersign-app/countersign/backend/metrics"
	"github.com/countersign-app/countersign/backend/rescue"
	"github.com/countersign-app/countersign/backend/webdoor"
)

// counts are what /metrics tells. None of it names an agent, a session or a
// command.
type counts struct {
	requests, refused, turnedAway, runs, denied *metrics.Counter
}

// measure makes the counts, and the set that serves them.
func (g *Gateway) measure() *metrics.Set {
	all := new(metrics.Set)
	counter := func(name, help string) *metrics.Counter { return all.Counter("countersign_gateway_"+name, help) }
	gauge := func(name, help string, now func() int) {
		all.Gauge("countersign_gateway_"+name, help, func() float64 { return float64(now()) })
	}
	g.counts = counts{
		requests:   counter("requests_total", "Requests of nodes and operators."),
		refused:    counter("requests_refused_total", "Requests that were refused."),
		turnedAway: counter("connections_refused_total", "Connections that were not let in."),
		runs:       counter("runs_total", "Commands of agents that were led to a host."),
		denied:     counter("runs_denied_total", "Commands of agents that did not run."),
	}
	all.Tally("countersign_panics_total", "Mistakes in Countersign that were caught while it served somebody.", rescue.Caught)
	gauge("nodes", "Nodes that are connected.", func() int { return g.connected(link.RoleNode) })
	gauge("operators", "Operators that are connected.", func() int { return g.connected(link.RoleOperator) })
	gauge("runs", "Commands of agents that have not ended.", g.runs.open)
	return all
}

func (g *Gateway) connected(role string) (n int) {
	for _, p := range g.all() {
		if p.role == role {
			n++
		}
	}
	return n
}

// handler serves the doors: the WebSocket, and three pages that tell how the
// gateway is. Nobody needs a token for those: they tell no secret. No web page
// calls any of them.
func (g *Gateway) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", g.metrics)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if _, bad := g.config.Current(); bad != nil {
			say(w, http.StatusServiceUnavailable, "the configuration cannot be used: see the log")
			return
		}
		say(w, http.StatusOK, "ok")
	})
	mux.HandleFunc("GET /{$}", g.serveLine)
	return webdoor.Guard(webdoor.Anywhere(g.opt.Names), nil, mux)
}

func say(w http.ResponseWriter, code int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	_, _ = w.Write([]byte(text + "\n")) // who is gone needs no answer
}
