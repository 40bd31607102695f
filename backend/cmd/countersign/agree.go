package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/operator"
	"github.com/countersign-app/countersign/backend/store"
)

// errUnsigned says that the person did not agree.
var errUnsigned = errors.New("the signature is wrong, so nothing was changed")

// agree has the person sign what an edit without a host loosens, if they set a
// passphrase. No host runs that would ask for it, or it was hidden from us.
func (p *program) agree(method string, params any, loosens []string) error {
	key, err := operator.Read(p.state.OperatorPublic())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(loosens) > store.MaxReasons:
		return host.ErrTooMuch
	}
	call, err := json.Marshal(params)
	if err != nil {
		return err
	}
	ask := ipc.ConfirmAsk{
		Nonce: rand.Text(),
		Text:  fmt.Sprintf("  %s\nNo host runs in %s: this program changes the file itself.", strings.Join(loosens, "\n  "), display.Line(p.state.Dir)),
	}
	signature, err := p.sign(p.ctx, method, call, ask)
	if err != nil {
		return err
	}
	statement, err := host.Statement(p.state.Dir, method, call, ask.Text)
	if err != nil {
		return err
	}
	if statement.Nonce = ask.Nonce; !key.Verify(statement, signature) {
		return errUnsigned
	}
	return nil
}
