// Package model is an invented model on loopback that real agents talk to in
// tests: it has them run commands, one a turn, and ends. Only tests import it.
//
// It speaks what Claude Code needs of Anthropic's Messages API and what Codex
// needs of OpenAI's Responses API, both with streaming. It holds no state: which
// command is next is the number of results that the conversation has so far.
package model

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
)

// Model is an invented model that listens until its test ends.
type Model struct {
	// URL is its address, which Claude Code takes as ANTHROPIC_BASE_URL. Codex
	// wants /v1 behind it.
	URL string

	commands []string

	mu      sync.Mutex
	results []string
	strange []string
}

// Start has a model listen that wants these commands run, in this order.
func Start(t testing.TB, commands ...string) *Model {
	t.Helper()
	m := &Model{commands: commands}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/messages", m.messages)
	mux.HandleFunc("POST /v1/messages/count_tokens", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"input_tokens":1}`)
	})
	mux.HandleFunc("POST /v1/responses", m.responses)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		m.note(r.Method + " " + r.URL.Path)
		http.NotFound(w, r)
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	m.URL = server.URL
	return m
}

// Results are what the agent said became of each command, in the order of the
// commands; those that it did not come to are missing.
func (m *Model) Results() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.results)
}

// Strange are the requests that it did not know, for the log of a test that
// fails.
func (m *Model) Strange() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.strange)
}

func (m *Model) note(what string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.strange = append(m.strange, what)
}

// next keeps the results so far and returns the command that follows, false
// after the last.
func (m *Model) next(results []string) (command string, more bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(results) >= len(m.results) { // a conversation beside it has none
		m.results = results
	}
	if len(results) >= len(m.commands) {
		return "", false
	}
	return m.commands[len(results)], true
}

// maxBody is more than an agent's first request holds, which is some 100 kB.
const maxBody = 16 << 20

// read decodes a request, and answers one that cannot be read.
func (m *Model) read(w http.ResponseWriter, r *http.Request, into any) bool {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err == nil {
		err = json.Unmarshal(body, into)
	}
	if err != nil {
		m.note(r.URL.Path + ": " + err.Error())
		http.Error(w, err.Error(), http.StatusBadRequest)
		return false
	}
	return true
}

// text is the text of a content that is a string or a list of blocks with text.
func text(raw json.RawMessage) string {
	var whole string
	if json.Unmarshal(raw, &whole) == nil {
		return whole
	}
	var blocks []struct{ Text string }
	if json.Unmarshal(raw, &blocks) != nil {
		return string(raw)
	}
	for _, b := range blocks {
		whole += b.Text
	}
	return whole
}

// object is a JSON object that is written.
type object map[string]any

// send writes one event of a stream.
func send(w http.ResponseWriter, event object) {
	line, err := json.Marshal(event)
	if err != nil {
		panic(err)
	}
	fmt.Fprintf(w, "event: %s\ndata: %s\n\n", event["type"], line)
}
