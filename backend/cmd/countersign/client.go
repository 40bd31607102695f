package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"time"

	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/store"
)

// errNoHost says that nobody listens on the socket.
var errNoHost = exit{exitNoHost, "no host is running here: start one with `countersign host run`"}

// errNoPolicy says that there is no policy file.
var errNoPolicy = exit{exitNoHost, "there is no policy here yet: `countersign host run` makes one"}

// document reads the policy file as it is on disk.
func (p *program) document() (*store.Document, error) {
	doc, err := host.ReadDocument(p.state, p.home)
	return doc, ending(err)
}

// dial connects to the host of the state folder. The document is nil while
// the policy file is broken.
func (p *program) dial() (*ipc.Client, *store.Document, error) {
	client, doc, err := host.Dial(p.state, p.home)
	return client, doc, ending(err)
}

// ending gives the errors that end the program with a code of their own.
func ending(err error) error {
	switch {
	case errors.Is(err, host.ErrNobody):
		return errNoHost
	case errors.Is(err, host.ErrNoPolicy):
		return errNoPolicy
	}
	return err
}

// read calls a reading method with the request token.
func (p *program) read(method string, params, out any) error {
	client, doc, err := p.dial()
	if err != nil {
		return err
	}
	defer client.Close()
	key, err := p.readingKey(doc)
	if err != nil {
		return err
	}
	return plain(client.Call(p.ctx, key, method, params, out))
}

// readingKey is what proves that we may read: the request token, or the
// operator key while the file with the token is broken.
func (p *program) readingKey(doc *store.Document) ([]byte, error) {
	if doc != nil {
		return []byte(doc.Socket.Token), nil
	}
	return host.ReadOperatorKey(p.state.OperatorKey())
}

// operate calls a method with the operator key, and with the signature of the
// person where the host wants it.
func (p *program) operate(method string, params, out any) error {
	client, _, err := p.dial()
	if err != nil {
		return err
	}
	defer client.Close()
	key, err := host.ReadOperatorKey(p.state.OperatorKey())
	if err != nil {
		return err
	}
	return plain(client.CallSigned(p.ctx, key, p.sign, method, params, out))
}

// lockPatience is how long an edit without a host waits for another one.
const lockPatience = 5 * time.Second

// hold takes the lock of the state folder, as a host would: no host starts
// and no other edit without one runs meanwhile.
func (p *program) hold() (*ipc.Lock, error) {
	if err := os.MkdirAll(p.state.Dir, 0o700); err != nil {
		return nil, err
	}
	for end := time.Now().Add(lockPatience); ; {
		lock, err := ipc.Hold(p.state.Lock())
		if !errors.Is(err, ipc.ErrLive) || time.Now().After(end) {
			return lock, err
		}
		select {
		case <-time.After(10 * time.Millisecond):
		case <-p.ctx.Done():
			return nil, p.ctx.Err()
		}
	}
}

// done says that a change was made.
func (p *program) done() error {
	return p.print(map[string]bool{"ok": true}, func(io.Writer) {})
}

// plain takes the code of the wire out of a refusal: people read the sentence.
func plain(err error) error {
	var refused *ipc.Error
	if errors.As(err, &refused) {
		return errors.New(refused.Message)
	}
	return err
}

// print writes a value as JSON if that was asked for, else as text.
func (p *program) print(value any, text func(io.Writer)) error {
	if !p.json {
		text(p.stdout)
		return nil
	}
	e := json.NewEncoder(display.JSONWriter{To: p.stdout})
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(value)
}
