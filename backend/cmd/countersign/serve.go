package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"sync"

	"github.com/countersign-app/countersign/backend/agents/remote"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/ipc"
)

// approvalsServe lets other programs of the person answer questions.
type approvalsServe struct {
	Listen    string   `help:"Where to listen, on this machine." default:"127.0.0.1:18790" placeholder:"HOST:PORT"`
	TokenFile string   `name:"token-file" help:"File with the token that lets a program in (default: a fresh one, printed on this terminal)." placeholder:"FILE"`
	Origin    []string `help:"Web page that may connect, as https://HOST:PORT; may be repeated." placeholder:"ORIGIN"`
}

func (c approvalsServe) Run(p *program) error {
	token, err := c.token(p)
	if err != nil {
		return err
	}
	key, err := host.ReadOperatorKey(p.state.OperatorKey())
	if err != nil {
		return err
	}
	client, _, err := p.dial()
	if err != nil {
		return err
	}
	defer client.Close()
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("cannot listen: %w", err)
	}
	fmt.Fprintf(p.stderr, "questions are answered at ws://%s/approvals\n", l.Addr())
	server := remote.New(remote.Options{Host: remoteHost{program: p, client: client, key: key, yes: new(sync.Mutex)}, Token: token, Origins: c.Origin})
	return server.Serve(p.ctx, l)
}

// token is what lets a program in. One that lay in the state folder could be read
// by every program of this user, those that a command started among them: so a
// person carries it from the terminal to where it is wanted.
func (c approvalsServe) token(p *program) (string, error) {
	if c.TokenFile != "" {
		token, err := secret(c.TokenFile)
		if err == nil && len(token) < 32 {
			err = fmt.Errorf("the token in %s is too short: use 32 characters or more", c.TokenFile)
		}
		return token, err
	}
	if f, ok := p.stderr.(*os.File); !ok || !foreground(f) {
		return "", exit{exitUsage, "without a terminal nobody would see the token: give --token-file"}
	}
	token := rand.Text() + rand.Text()
	fmt.Fprintln(p.stderr, "token of this run, for the program that answers:", token)
	return token, nil
}

// remoteHost asks the host over its socket.
type remoteHost struct {
	*program
	client *ipc.Client
	key    []byte
	yes    *sync.Mutex // a person is asked for one passphrase at a time
}

func (h remoteHost) Watch(ctx context.Context, cursor uint64) (uint64, []approval.Prompt, error) {
	var w host.Watch
	err := h.client.Call(ctx, h.key, "pending.watch", map[string]uint64{"cursor": cursor}, &w)
	return w.Cursor, w.Waiting, err
}

func (h remoteHost) Answer(ctx context.Context, q approval.Prompt, d approval.Decision, note string) error {
	if d != approval.DecisionDeny {
		h.yes.Lock()
		defer h.yes.Unlock()
	}
	return plain(h.client.CallSigned(ctx, h.key, h.sign, "pending.answer", map[string]any{"id": q.ID, "digest": q.Digest(), "count": q.Count, "decision": d, "note": note}, nil))
}
