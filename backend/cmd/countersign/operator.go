package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/operator"
)

// operatorCommands are about the passphrase by which a host knows its person.
type operatorCommands struct {
	Passphrase operatorPassphrase `cmd:"" help:"Set or change the passphrase that a host without a window asks for, while no host runs."`
	Sign       operatorSign       `cmd:"" help:"Show a change that is read from standard input, ask for the passphrase, and print the signature."`
}

// operatorPassphrase writes the file by which a passphrase is checked.
type operatorPassphrase struct {
	File string `help:"Write the key there, for --operator-key of a host elsewhere, and not into the state folder." placeholder:"FILE"`
	Draw bool   `help:"Show a passphrase that is drawn by chance, to be typed."`
}

func (c operatorPassphrase) Run(p *program) error {
	path := c.File
	if path == "" {
		lock, err := p.hold()
		if errors.Is(err, ipc.ErrLive) {
			return errors.New("a host is running here: end it, set the passphrase, and start it again")
		}
		if err != nil {
			return err
		}
		defer lock.Close()
		path = p.state.OperatorPublic()
	}
	t, err := openPersonTerminal(p.ctx)
	if err != nil {
		return err
	}
	defer t.Close()
	if err := oldPassphrase(t, path); err != nil {
		return err
	}
	if c.Draw {
		t.line("The passphrase, to be kept where no program reads it: " + operator.Draw())
	}
	key, err := newPassphrase(t, fmt.Sprintf("New passphrase (%d characters or more): ", operator.MinLength))
	if err != nil {
		return err
	}
	if err := key.Write(path); err != nil {
		return err
	}
	t.line("The passphrase is set. Whoever loses it ends the host, removes " + path + ", and sets one anew.")
	return p.done()
}

// oldPassphrase asks for the passphrase that is set, if one is.
func oldPassphrase(t *personTerminal, path string) error {
	key, err := operator.Read(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	typed, err := t.secret("The passphrase until now: ")
	if err != nil {
		return err
	}
	defer clear(typed)
	_, err = key.Sign(typed, operator.Statement{})
	return err
}

// operatorSign is what signs: a process of its own, because it reads the
// passphrase and nothing that can be asked to do anything else should. It also
// signs for a host elsewhere: `--signer "ssh desk countersign operator sign"`.
type operatorSign struct {
	Key    string `help:"File with the key (default: the one in the state folder)." placeholder:"FILE"`
	Secret string `help:"File with the passphrase, where nobody can type it." placeholder:"FILE"`
}

// maxStatement is more than a call can have.
const maxStatement = 4 << 20

func (c operatorSign) Run(p *program) error {
	if c.Key == "" {
		c.Key = p.state.OperatorPublic()
	}
	key, err := operator.Read(c.Key)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no passphrase in %s: set one with `countersign operator passphrase`", c.Key)
	}
	if err != nil {
		return err
	}
	text, err := io.ReadAll(io.LimitReader(p.stdin, maxStatement))
	if err != nil {
		return err
	}
	var s operator.Statement
	if err := json.Unmarshal(text, &s); err != nil || s.Nonce == "" {
		return errors.New("standard input is no change to be signed: it comes from a command with --signer")
	}
	typed, err := c.passphrase(p, s.Text)
	if err != nil {
		return err
	}
	defer clear(typed)
	signature, err := key.Sign(typed, s)
	if err != nil {
		return err
	}
	return json.NewEncoder(p.stdout).Encode(signature)
}

// passphrase is read off a terminal below what would change, or off a file.
func (c operatorSign) passphrase(p *program, text string) ([]byte, error) {
	if c.Secret != "" {
		s, err := secret(c.Secret)
		return []byte(s), err
	}
	t, err := openPersonTerminal(p.ctx)
	if err != nil {
		return nil, err
	}
	defer t.Close()
	if err := t.show(text); err != nil {
		return nil, err
	}
	t.line("")
	t.line("If you did not just type this, press Ctrl-C.")
	return t.secret(passphraseFor(text))
}

// offerPassphrase has a person set a passphrase at the first start, or go on
// without one, and reports whether it did: not at a later start.
func (p *program) offerPassphrase() (offered bool, err error) {
	for _, made := range []string{p.state.OperatorPublic(), p.state.Approvals()} {
		if _, err := os.Lstat(made); err == nil {
			return false, nil
		}
	}
	t, err := openPersonTerminal(p.ctx)
	if err != nil {
		return false, err
	}
	defer t.Close()
	t.line("A passphrase keeps programs from saying yes in your place. Each answer and each looser policy asks for it then.")
	for {
		key, err := newPassphrase(t, fmt.Sprintf("Passphrase of %d characters or more, or Enter to go on without: ", operator.MinLength))
		switch {
		case errors.Is(err, errNothingTyped):
			return true, nil
		case errors.Is(err, errUnfit):
			t.line(err.Error())
			continue
		case err != nil:
			return false, err
		}
		if err := os.MkdirAll(p.state.Dir, 0o700); err != nil {
			return false, err
		}
		return true, key.Write(p.state.OperatorPublic())
	}
}

// Why a passphrase was not set.
var (
	errNothingTyped = errors.New("nothing was typed: no passphrase was set")
	errUnfit        = errors.New("no passphrase was set")
)

// newPassphrase asks for a passphrase, twice.
func newPassphrase(t *personTerminal, question string) (operator.Key, error) {
	typed, err := t.secret(question)
	if err != nil {
		return operator.Key{}, err
	}
	defer clear(typed)
	if len(typed) == 0 {
		return operator.Key{}, errNothingTyped
	}
	key, err := operator.New(typed)
	if err != nil {
		return operator.Key{}, fmt.Errorf("%w: %w", errUnfit, err)
	}
	again, err := t.secret("The same again: ")
	if err != nil {
		return operator.Key{}, err
	}
	defer clear(again)
	if !bytes.Equal(typed, again) {
		return operator.Key{}, fmt.Errorf("%w: the two are not the same", errUnfit)
	}
	return key, nil
}
