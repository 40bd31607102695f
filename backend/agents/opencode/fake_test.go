package opencode

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// fake is a server that behaves like that of opencode 1.18.33, as far as it is
// talked to here.
type fake struct {
	t        *testing.T
	address  string
	password string
	http     *http.Server

	mu       sync.Mutex
	waits    map[string]string   // requests that wait, by id
	second   map[string]string   // those of the second generation
	messages map[string][]string // what /session/S/message/M answers, one after the other
	streams  map[chan string]bool
	replies  chan reply
	joined   chan struct{} // a value for each stream that was opened
	refuse   int           // status of the next reply, 0 for as it should be
	idle     func() bool   // whether its follower decides nothing
}

// reply is one that the server was sent.
type reply struct{ path, query, body string }

const folder = "/home/ann/app"

func newFake(t *testing.T) *fake {
	t.Helper()
	s := &fake{
		t: t, waits: map[string]string{}, second: map[string]string{}, messages: map[string][]string{}, streams: map[chan string]bool{},
		replies: make(chan reply, 100), joined: make(chan struct{}, 100),
	}
	s.listen("127.0.0.1:0")
	t.Cleanup(s.stop)
	return s
}

func (s *fake) listen(address string) {
	s.t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		s.t.Fatal(err)
	}
	s.address = l.Addr().String()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /global/event", s.stream)
	mux.HandleFunc("GET /path", func(w http.ResponseWriter, r *http.Request) { writeJSON(w, map[string]string{"directory": folder}) })
	mux.HandleFunc("GET /permission", func(w http.ResponseWriter, r *http.Request) { s.list(w, r.URL.Query().Get("directory"), false) })
	mux.HandleFunc("GET /api/permission/request", func(w http.ResponseWriter, r *http.Request) {
		s.list(w, r.URL.Query().Get("location[directory]"), true)
	})
	mux.HandleFunc("GET /session/{session}/message/{message}", s.message)
	mux.HandleFunc("POST /permission/{id}/reply", s.reply)
	mux.HandleFunc("POST /session/{session}/permissions/{id}", s.reply)
	mux.HandleFunc("POST /api/session/{session}/permission/{id}/reply", s.reply)
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) { // every other path is a page
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<html></html>")
	})
	s.http = &http.Server{Handler: s.guarded(mux)}
	go s.http.Serve(l)
}

func (s *fake) guarded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "..") { // no path of ours, and the mux would hide it
			s.replies <- reply{path: r.URL.Path}
		}
		if user, password, _ := r.BasicAuth(); s.password != "" && (user != "opencode" || password != s.password) {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// stop ends the server and all its connections, as if it had died.
func (s *fake) stop() { _ = s.http.Close() }

func (s *fake) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	events := make(chan string, 1000)
	s.mu.Lock()
	s.streams[events] = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		delete(s.streams, events)
		s.mu.Unlock()
	}()
	fmt.Fprintf(w, "data: %s\n\n", `{"payload":{"id":"evt_0","type":"server.connected","properties":{}}}`)
	w.(http.Flusher).Flush()
	s.joined <- struct{}{}
	for {
		select {
		case text := <-events:
			if _, err := io.WriteString(w, text); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		case <-r.Context().Done():
			return
		}
	}
}

// raw writes a text to all streams.
func (s *fake) raw(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for events := range s.streams {
		events <- text
	}
}

// event sends an event of a folder.
func (s *fake) event(folder, kind, properties string) {
	s.raw(fmt.Sprintf("data: {\"directory\":%q,\"project\":\"global\",\"payload\":{\"id\":\"evt_1\",\"type\":%q,\"properties\":%s}}\n\n", folder, kind, properties))
}

// asks puts a request and tells of it.
func (s *fake) asks(id, request string) {
	s.wait(id, request)
	s.event(folder, "permission.asked", request)
}

// wait puts a request and tells nobody.
func (s *fake) wait(id, request string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.waits[id] = request
}

func (s *fake) list(w http.ResponseWriter, at string, second bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	waits, list := s.waits, []json.RawMessage{}
	if second {
		waits = s.second
	}
	for _, text := range waits {
		if at == folder {
			list = append(list, json.RawMessage(text))
		}
	}
	if second {
		writeJSON(w, map[string]any{"location": map[string]string{"directory": at}, "data": list})
		return
	}
	writeJSON(w, list)
}

func (s *fake) message(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := r.PathValue("message")
	answers := s.messages[key]
	if len(answers) == 0 {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	if len(answers) > 1 {
		s.messages[key] = answers[1:]
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, answers[0])
}

// keeps has a message answer with these parts, one answer after the other.
func (s *fake) keeps(message string, parts ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, part := range parts {
		s.messages[message] = append(s.messages[message], `{"info":{"id":"`+message+`"},"parts":[{"type":"step-start"},`+part+`]}`)
	}
}

func toolPart(call, tool, status, input string) string {
	return fmt.Sprintf(`{"type":"tool","callID":%q,"tool":%q,"state":{"status":%q,"input":%s}}`, call, tool, status, input)
}

// reply takes a reply to a request that waits, and tells everybody of it.
func (s *fake) reply(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	status := s.refuse
	s.refuse = 0
	id := r.PathValue("id")
	_, first := s.waits[id]
	_, second := s.second[id]
	if status == 0 && !first && !second {
		status = http.StatusNotFound
	}
	if status == 0 {
		delete(s.waits, id)
		delete(s.second, id)
	}
	s.mu.Unlock()
	s.replies <- reply{r.URL.Path, r.URL.RawQuery, string(body)}
	if status != 0 {
		w.WriteHeader(status)
		return
	}
	s.event(folder, "permission.replied", `{"sessionID":"ses_1","requestID":"`+id+`","reply":"once"}`)
	writeJSON(w, true)
}

// person answers a request in opencode's own window.
func (s *fake) person(id string) {
	s.mu.Lock()
	delete(s.waits, id)
	s.mu.Unlock()
	s.event(folder, "permission.replied", `{"sessionID":"ses_1","requestID":"`+id+`","reply":"reject"}`)
}

// next is the next reply that arrives.
func (s *fake) next() reply {
	s.t.Helper()
	select {
	case r := <-s.replies:
		return r
	case <-time.After(20 * time.Second):
		s.t.Fatal("no reply arrives")
		return reply{}
	}
}

// none sees that nothing was replied but to a last request: it comes behind all
// others in the stream, for it is in no list, and then nothing is being decided
// any more.
func (s *fake) none() {
	s.t.Helper()
	s.event(folder, "permission.asked", bashRequest("per_last", "true"))
	if r := s.next(); !strings.Contains(r.path, "per_last") {
		s.t.Errorf("a reply arrives that nobody gave: %+v", r)
	}
	for end := time.Now().Add(20 * time.Second); !s.idle(); time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			s.t.Fatal("something is decided without end")
		}
	}
	select {
	case r := <-s.replies:
		s.t.Errorf("a reply arrives that nobody gave: %+v", r)
	default:
	}
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

func bashRequest(id, command string) string {
	return fmt.Sprintf(`{"id":%q,"sessionID":"ses_1","permission":"bash","patterns":[%q],"metadata":{"command":%q},"always":["x *"]}`, id, command, command)
}
