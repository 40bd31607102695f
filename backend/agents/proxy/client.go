package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"unicode"

	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/rescue"
)

// proxy is one client and one server.
type proxy struct {
	opt     Options
	ctx     context.Context
	server  Server
	out     *outbox
	calls   *calls
	forms   *forms
	pace    pace
	judging sync.WaitGroup

	last chan struct{} // of readClient: closed when the judged request before was settled

	elicits atomic.Bool // the client shows forms

	garbage int  // of fromServer: lines of the server that were no messages
	strange bool // of fromServer: an answer that nobody waits for was reported

	mu     sync.Mutex
	shaped map[string]bool // tools of which the server said what their results look like
}

// closed is a channel that nobody waits for.
func closed() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// readClient takes what the client sends until that ends.
func (p *proxy) readClient() {
	in := newLines(p.opt.In)
	for {
		line, err := in.next()
		switch {
		case errors.Is(err, errTooLong):
			p.refuse(Message{}, codeInvalidRequest, err)
			if in.skip() != nil {
				return
			}
		case err != nil:
			return
		default:
			p.fromClient(line)
		}
	}
}

var (
	errReturn = errors.New("the message holds a carriage return, which some servers take for its end")
	errMethod = errors.New("the method must be written as the protocol does")
)

// fromClient takes one message of the client.
func (p *proxy) fromClient(line []byte) {
	var m Message
	defer rescue.Catch(p.opt.Log, "a message of the client", func() { p.refuse(m, codeInternal, errFailed) })
	m, err := parse(line)
	if err == nil {
		err = unclear(m)
	}
	switch {
	case errors.Is(err, errNotJSON):
		p.refuse(Message{}, codeParse, err)
	case err != nil:
		p.refuse(m, codeInvalidRequest, err)
	case m.Method == methodCancelled:
		p.cancelled(m)
	case m.Method == "" && p.forms.take(m):
	case m.Method == "" || m.ID == nil:
		p.send(m)
	case isJudged(m.Method):
		p.judge(m)
	default:
		if _, err := p.calls.begin(p.ctx, m, passed); err != nil {
			p.refuse(m, codeInvalidRequest, err)
			return
		}
		if m.Method == methodInitialize {
			p.elicits.Store(showsForms(m))
		}
		p.send(m)
	}
}

var errFailed = errors.New("Countersign failed at this message, so it was not passed on: its log says where")

// unclear says why a server could take a message for another one than we do.
func unclear(m Message) error {
	switch {
	case bytes.IndexByte(m.Raw, '\r') >= 0: // never within a text
		return errReturn
	case looksJudged(m.Method) || strings.ContainsFunc(m.Method, unicode.IsControl):
		return errMethod
	case m.ID != nil:
		_, err := keyOf(m.ID)
		return err
	case m.Method == "":
		return errors.New("an answer needs the id of what it answers")
	case isJudged(m.Method):
		return errors.New("the request needs an id")
	}
	return nil
}

// send passes a message on. A request that the server will not see is answered.
func (p *proxy) send(m Message) {
	err := p.server.Send(m)
	if err == nil {
		return
	}
	if m.Method == "" || m.ID == nil {
		p.opt.Log.Warn("a message did not reach the server", "error", display.Line(err.Error()))
		return
	}
	if key, keyErr := keyOf(m.ID); keyErr == nil && p.calls.answered(key) != nil {
		p.out.put(failure(m.ID, codeClosed, err.Error()))
	}
}

// cancelled ends the question about a request that the client does not want any
// more. The server hears of it only if it has the request.
func (p *proxy) cancelled(m Message) {
	key, err := keyOf(cancelledID(m))
	if err == nil && p.calls.revoke(key) {
		p.send(m)
	}
}

// cancelledID is the id of the request that a notification cancels, nil for none.
func cancelledID(m Message) (id json.RawMessage) {
	err := object(m.Params, []string{"requestId"}, func(name string, value json.RawMessage) error {
		if name == "requestId" {
			id = value
		}
		return nil
	})
	if err != nil {
		return nil
	}
	return id
}

// refuse answers a message of the client that goes no further. One without an id
// that can be read, or that is no request, gets the answer for nobody.
func (p *proxy) refuse(m Message, code int, why error) {
	id := m.ID
	if _, err := keyOf(id); err != nil || m.Method == "" {
		id = nil
	}
	if m.Method != "" && m.ID == nil {
		p.opt.Log.Warn("a notification of the client was not passed on", "error", display.Line(why.Error()))
		return
	}
	p.out.put(failure(id, code, why.Error()))
}
