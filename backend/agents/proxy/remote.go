package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/rescue"
)

// Remote is a server at an address, by streamable HTTP: each message is a POST,
// whose answer is one message or a stream of events. Revisions from 2026-07-28 on
// have no session and no stream of their own; what a client says about itself
// travels in the message.
//
// Headers that a tool wants made of its arguments (x-mcp-header) are not sent,
// and no authorization but a token that was given.
type Remote struct {
	url      string
	token    string
	client   *http.Client
	ctx      context.Context
	cancel   context.CancelFunc
	incoming chan []byte
	lost     chan error // the session is over
	posts    sync.WaitGroup

	mu      sync.Mutex
	session string
	version string
	flying  map[string]context.CancelFunc // by key, of requests without a session
}

// acceptTime is how long a server may take to accept a message that has no
// answer, and byeTime how long it may take to end a session.
const (
	acceptTime = 30 * time.Second
	byeTime    = 2 * time.Second
)

// Connect makes a server of an address, without connecting. token is sent as a
// bearer token if it is not empty. Without plaintext, http is for this machine
// only.
func Connect(at *url.URL, token string, plaintext bool) (*Remote, error) {
	switch {
	case at.Scheme != "https" && at.Scheme != "http" || at.Host == "":
		return nil, errors.New("the address of a server is https://HOST/PATH or http://HOST/PATH")
	case at.User != nil:
		return nil, errors.New("the address holds a password: give a token instead")
	case at.Scheme == "http" && !plaintext && !isHere(at.Hostname()):
		return nil, errors.New("http:// to another machine can be read by everybody on the way: use https://, or say --plaintext")
	}
	r := &Remote{
		url: at.String(), token: token, incoming: make(chan []byte), lost: make(chan error, 1), flying: map[string]context.CancelFunc{},
		// A redirection would take what was judged for one server to another.
		client: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }},
	}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	return r, nil
}

func isHere(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// Send posts one message. What has an answer is posted without waiting for it,
// but for initialize: what comes after it needs the session.
func (r *Remote) Send(m Message) error {
	ctx, cancel := context.WithCancel(r.ctx)
	if m.Method == "" || m.ID == nil {
		defer cancel()
		if r.revoked(m) {
			return nil
		}
		late := time.AfterFunc(acceptTime, cancel)
		defer late.Stop()
		return r.notify(ctx, m)
	}
	r.fly(m, cancel)
	answered := make(chan struct{})
	r.begin(func() {
		defer close(answered)
		defer r.landed(m, cancel)
		defer rescue.Catch(nil, "the answer of the server", func() { r.deliver(failure(m.ID, codeClosed, errFailed.Error())) })
		if err := r.call(ctx, m); err != nil && ctx.Err() == nil {
			r.deliver(failure(m.ID, codeClosed, err.Error()))
		}
	})
	if m.Method == "initialize" {
		select {
		case <-answered:
		case <-r.ctx.Done():
		}
	}
	return nil
}

// begin starts what Close waits for, and nothing after that.
func (r *Remote) begin(work func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ctx.Err() == nil {
		r.posts.Go(rescue.Guarded(nil, "what the server sends", work))
	}
}

// fly keeps how to hang up a request.
func (r *Remote) fly(m Message, cancel context.CancelFunc) {
	key, err := keyOf(m.ID)
	if err != nil || !r.modern(m) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.flying[key] = cancel
}

func (r *Remote) landed(m Message, cancel context.CancelFunc) {
	cancel()
	if key, err := keyOf(m.ID); err == nil {
		r.mu.Lock()
		delete(r.flying, key)
		r.mu.Unlock()
	}
}

// revoked hangs up the request that a notification cancels, which is how servers
// without sessions hear of it.
func (r *Remote) revoked(m Message) bool {
	if m.Method != methodCancelled {
		return false
	}
	var p struct {
		ID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(m.Params, &p) != nil {
		return false
	}
	key, _ := keyOf(p.ID)
	r.mu.Lock()
	defer r.mu.Unlock()
	cancel := r.flying[key]
	if cancel == nil {
		return false
	}
	cancel()
	return true
}

// notify posts what has no answer.
func (r *Remote) notify(ctx context.Context, m Message) error {
	resp, err := r.post(ctx, m)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		return r.status(resp)
	}
	if m.Method == "notifications/initialized" && !r.modern(m) {
		r.begin(r.listen)
	}
	return nil
}

// call posts a request and delivers what comes back.
func (r *Remote) call(ctx context.Context, m Message) error {
	resp, err := r.post(ctx, m)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	switch {
	case kind == "text/event-stream" && resp.StatusCode < 300:
		return r.follow(ctx, resp, m)
	case kind == "application/json":
		body, err := io.ReadAll(io.LimitReader(resp.Body, maxMessage+1))
		switch {
		case err != nil:
			return fmt.Errorf("the answer of the MCP server broke off: %w", err)
		case len(body) > maxMessage:
			return r.flooded()
		}
		if !answers(body, m.ID) {
			if resp.StatusCode >= 300 {
				return r.status(resp)
			}
			return errors.New("the MCP server sent what is no answer to the request")
		}
		r.learn(m, body)
		r.deliver(oneLine(body))
		return nil
	case resp.StatusCode >= 300:
		return r.status(resp)
	}
	return fmt.Errorf("the MCP server answered with %.100q, which is no message", kind)
}

// answers reports whether a message is the answer to the request with this id.
func answers(body []byte, id json.RawMessage) bool {
	m, err := parse(body)
	if err != nil || m.Method != "" {
		return false
	}
	got, err := keyOf(m.ID)
	want, _ := keyOf(id)
	return err == nil && got == want
}

// learn keeps the revision that a server agreed to.
func (r *Remote) learn(m Message, body []byte) {
	if m.Method != "initialize" {
		return
	}
	var answer struct {
		Result struct {
			Version string `json:"protocolVersion"`
		} `json:"result"`
	}
	if json.Unmarshal(body, &answer) == nil {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.version = answer.Result.Version
	}
}

func (r *Remote) post(ctx context.Context, m Message) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url, bytes.NewReader(m.Raw))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	r.sign(req)
	if v := revision(m); v != "" {
		req.Header.Set(headerVersion, v)
	}
	if r.modern(m) && m.Method != "" {
		req.Header.Set(headerMethod, m.Method)
		if name := subjectOf(m); name != "" {
			req.Header.Set(headerName, headerValue(name))
		}
	}
	return r.do(req, m.Method)
}

// do sends a request, and keeps the session that initialize opened.
func (r *Remote) do(req *http.Request, method string) (*http.Response, error) {
	resp, err := r.client.Do(req)
	if err != nil {
		var at *url.Error // which repeats the address
		if errors.As(err, &at) {
			err = at.Err
		}
		return nil, fmt.Errorf("cannot reach the MCP server: %w", err)
	}
	if s := resp.Header.Get(headerSession); s != "" && method == "initialize" {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.session = s
	}
	return resp, nil
}

// status says what a refusal means. A session that is over ends the proxy: its
// client has no way to open another one.
func (r *Remote) status(resp *http.Response) error {
	r.mu.Lock()
	session := r.session
	r.mu.Unlock()
	switch {
	case resp.StatusCode == http.StatusNotFound && session != "":
		return r.end("the MCP server has ended the session: start again")
	case resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden:
		return fmt.Errorf("the MCP server wants another authorization (%d): name the variable that holds its token with --token-env", resp.StatusCode)
	}
	return fmt.Errorf("the MCP server refused the message with status %d", resp.StatusCode)
}

// end has Receive say why no more can come.
func (r *Remote) end(why string) error {
	ended := &Ended{Code: 1, Why: why}
	select {
	case r.lost <- ended:
	default:
	}
	return ended
}

func (r *Remote) flooded() error {
	return r.end("the MCP server was left: it sent a message of more than 16 MiB")
}

// deliver hands a message to Receive.
func (r *Remote) deliver(line []byte) {
	select {
	case r.incoming <- line:
	case <-r.ctx.Done():
	}
}

// Receive hands over what comes until the session is over or Close is called.
func (r *Remote) Receive(take func([]byte) error) error {
	for {
		select {
		case line := <-r.incoming:
			if err := take(line); err != nil {
				return err
			}
		case err := <-r.lost:
			return err
		case <-r.ctx.Done():
			return nil
		}
	}
}

// Close hangs up, and tells the server that the session is over.
func (r *Remote) Close() {
	r.mu.Lock()
	first := r.ctx.Err() == nil
	r.cancel()
	r.mu.Unlock()
	r.posts.Wait()
	if first && r.session != "" {
		r.bye()
	}
	r.client.CloseIdleConnections()
}

func (r *Remote) bye() {
	ctx, cancel := context.WithTimeout(context.Background(), byeTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodDelete, r.url, nil)
	if err != nil {
		return
	}
	r.sign(req)
	if resp, err := r.client.Do(req); err == nil {
		resp.Body.Close()
	}
}

// oneLine makes one line of a message: a newline in JSON is never within a text.
func oneLine(body []byte) []byte {
	line := bytes.TrimSpace(body)
	for i, c := range line {
		if c == '\n' || c == '\r' {
			line[i] = ' '
		}
	}
	return line
}
