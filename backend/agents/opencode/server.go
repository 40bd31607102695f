package opencode

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/proc"
)

const (
	callTime = 10 * time.Second // that one request of ours may take
	// startTries is how often is looked for the input of a call that opencode
	// has not written down yet, and startWait how long is waited between.
	startTries = 20
	startWait  = 50 * time.Millisecond
)

// server is an opencode that listens on this machine.
type server struct {
	base, password string
	client         *http.Client

	mu     sync.Mutex
	stream net.Conn // of the events, nil before the first
}

func newServer(base, password string) *server {
	t := &http.Transport{
		DialContext: dial, DisableCompression: true, ResponseHeaderTimeout: callTime,
		MaxIdleConnsPerHost: 4, IdleConnTimeout: time.Minute,
	}
	refuse := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &server{base: base, password: password, client: &http.Client{Transport: t, CheckRedirect: refuse}}
}

// dial connects to this machine and to no other, whatever localhost means here.
func dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if tcp, ok := conn.RemoteAddr().(*net.TCPAddr); !ok || !tcp.IP.IsLoopback() {
		conn.Close()
		return nil, errURL
	}
	return conn, nil
}

// events opens the stream of events of all folders.
func (s *server) events(ctx context.Context) (io.ReadCloser, error) {
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(got httptrace.GotConnInfo) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.stream = got.Conn
	}})
	resp, err := s.send(ctx, http.MethodGet, "/global/event", nil)
	if err != nil {
		return nil, err
	}
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != "text/event-stream" {
		resp.Body.Close()
		return nil, fmt.Errorf("what answers there is no opencode that is known here: it sends %q and no events", kind)
	}
	return resp.Body, nil
}

// peers are the processes that send the events, at this moment.
func (s *server) peers() ([]proc.ID, error) {
	s.mu.Lock()
	stream := s.stream
	s.mu.Unlock()
	if stream == nil {
		return nil, proc.ErrNobody
	}
	return proc.Peers(stream)
}

// send sends a request. The caller closes the body of the answer.
func (s *server) send(ctx context.Context, method, path string, body []byte) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, s.base+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if s.password != "" {
		req.SetBasicAuth("opencode", s.password)
	}
	resp, err := s.client.Do(req)
	if err != nil {
		return nil, err
	}
	switch {
	case resp.StatusCode == http.StatusUnauthorized:
		err = errors.New("the server wants another password: set OPENCODE_SERVER_PASSWORD as it was set for opencode")
	case resp.StatusCode < 200 || resp.StatusCode > 299:
		err = &statusError{resp.StatusCode}
	}
	if err != nil {
		resp.Body.Close()
		return nil, err
	}
	return resp, nil
}

type statusError struct{ code int }

func (e *statusError) Error() string {
	return fmt.Sprintf("the server answered with status %d", e.code)
}

// get reads one JSON answer. The server answers paths that it does not know with
// a page.
func (s *server) get(ctx context.Context, path string, out any) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	resp, err := s.send(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != "application/json" {
		return fmt.Errorf("the server does not know %s", path)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err != nil {
		return err
	}
	if len(text) > maxAnswer {
		return errors.New("the server's answer is larger than 8 MiB")
	}
	return json.Unmarshal(text, out)
}

// waiting returns the requests that wait in the server's own folder and in
// others.
func (s *server) waiting(ctx context.Context, folders []string, log *slog.Logger) (list []request) {
	var own struct {
		Directory string `json:"directory"`
	}
	if err := s.get(ctx, "/path", &own); err == nil && own.Directory != "" && !slices.Contains(folders, own.Directory) {
		folders = append(folders, own.Directory)
	}
	for _, folder := range folders {
		found, err := s.waitingIn(ctx, folder)
		if err != nil && ctx.Err() == nil {
			log.Warn("what waits in opencode already is not known", "error", display.Line(err.Error()))
		}
		list = append(list, found...)
	}
	return list
}

// waitingIn asks for both generations. A server that does not know the second
// one has none of it.
func (s *server) waitingIn(ctx context.Context, folder string) (list []request, err error) {
	var first []json.RawMessage
	var second struct {
		Data []json.RawMessage `json:"data"`
	}
	err = s.get(ctx, "/permission"+inFolder(folder), &first)
	_ = s.get(ctx, "/api/permission/request"+inLocation(folder), &second)
	for _, text := range append(first, second.Data...) {
		if r, ok := readRequest(text, folder); ok {
			list = append(list, r)
		}
	}
	return list, err
}

// toolCall is a call of a tool as opencode keeps it.
type toolCall struct {
	Tool  string          `json:"tool"`
	Input json.RawMessage `json:"input"`
}

// complete returns a request with what is to be known of its call. What cannot
// be told is left out, and the hook refuses where it needs it.
func (s *server) complete(ctx context.Context, r request) []byte {
	folder := r.directory
	if folder == "" {
		var session struct {
			Directory string `json:"directory"`
		}
		_ = s.get(ctx, "/session/"+r.session, &session)
		folder = session.Directory
	}
	if r.message == "" {
		return r.with(folder, nil)
	}
	return r.with(folder, s.call(ctx, r))
}

// call finds the call of a request, nil if it is not to be found. A call that
// just began may not be written down yet.
func (s *server) call(ctx context.Context, r request) *toolCall {
	path := "/session/" + r.session + "/message/" + r.message + r.where()
	for range startTries {
		var message struct {
			Parts []part `json:"parts"`
		}
		if s.get(ctx, path, &message) != nil {
			return nil
		}
		i := slices.IndexFunc(message.Parts, func(p part) bool { return p.Type == "tool" && p.CallID == r.call })
		if i >= 0 && message.Parts[i].State.Status != "pending" {
			return &toolCall{message.Parts[i].Tool, message.Parts[i].State.Input}
		}
		select {
		case <-time.After(startWait):
		case <-ctx.Done():
			return nil
		}
	}
	return nil
}

// part is a part of a message.
type part struct {
	Type   string `json:"type"`
	CallID string `json:"callID"`
	Tool   string `json:"tool"`
	State  struct {
		Status string          `json:"status"`
		Input  json.RawMessage `json:"input"`
	} `json:"state"`
}

// reply sends the answer to a request. One that is gone was answered elsewhere.
func (s *server) reply(ctx context.Context, r request, body []byte) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	resp, err := s.send(ctx, http.MethodPost, r.reply, body)
	var status *statusError
	if errors.As(err, &status) && status.code == http.StatusNotFound {
		return nil
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind == "text/html" {
		return errors.New("the server does not know how to take the reply")
	}
	return nil
}
