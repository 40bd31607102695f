package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/operator"
	"github.com/countersign-app/countersign/backend/rescue"
)

// asker shows waiting questions in a terminal, one at a time, and sends what
// is typed. It is a client of the socket like any other: with several
// terminals the first answer wins.
type asker struct {
	*program
	client  *ipc.Client
	key     []byte
	typed   chan line
	changes chan []approval.Prompt
}

// line is one line that was typed, and when.
type line struct {
	text string
	at   time.Time
}

// guard is how long after a question appears typed lines do not count: they
// were meant for something else.
const guard = 500 * time.Millisecond

// signPatience is how long a passphrase is waited for; the host waits as long.
const signPatience = 2 * time.Minute

// errAskFailed ends the asking where a mistake of ours was caught.
var errAskFailed = errors.New("Countersign failed at showing what waits: please report it")

// askInTerminal asks until the program is told to end or the terminal closes.
func (p *program) askInTerminal() error {
	client, _, err := p.dial()
	if err != nil {
		return err
	}
	defer client.Close()
	key, err := host.ReadOperatorKey(p.state.OperatorKey())
	if err != nil {
		return err
	}
	a := &asker{program: p, client: client, key: key, typed: make(chan line), changes: make(chan []approval.Prompt)}
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	watched := make(chan error, 1)
	go func() {
		defer rescue.Catch(nil, "the questions that wait", func() { watched <- errAskFailed })
		watched <- a.watch(ctx)
	}()
	go a.readTyped() // ends with the program: a read from a terminal cannot be called off
	err = a.loop(ctx, watched)
	cancel()
	return err
}

// watch passes on every change of the waiting questions.
func (a *asker) watch(ctx context.Context) error {
	var cursor uint64
	for {
		var w host.Watch // a new one each time: decoding leaves what is not named as it was
		if err := a.client.Call(ctx, a.key, "pending.watch", map[string]uint64{"cursor": cursor}, &w); err != nil {
			return err
		}
		cursor = w.Cursor
		select {
		case a.changes <- w.Waiting:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (a *asker) readTyped() {
	defer close(a.typed)
	defer rescue.Catch(nil, "what is typed", nil)
	scanner := bufio.NewScanner(a.stdin)
	for scanner.Scan() {
		a.typed <- line{scanner.Text(), time.Now()}
	}
}

// loop shows the oldest question and takes its answer.
func (a *asker) loop(ctx context.Context, watched <-chan error) error {
	var shown approval.Prompt
	var since time.Time
	for {
		select {
		case <-ctx.Done():
			return nil
		case err := <-watched:
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("the host cannot be reached any more: %w", err)
		case waiting := <-a.changes:
			now := find(waiting, shown.ID)
			if shown.ID != "" && now.ID == "" {
				fmt.Fprintln(a.stderr, "— answered elsewhere, or over.")
			}
			if now.ID == "" || now.Count != shown.Count {
				if shown = now; shown.ID == "" {
					shown = first(waiting)
				}
				if shown.ID != "" {
					since = time.Now()
					writePrompt(a.stderr, shown, len(waiting), since)
				}
			}
		case typed, open := <-a.typed:
			switch {
			case !open:
				return errors.New("the terminal was closed: questions are not shown any more")
			case shown.ID == "":
			case typed.at.Sub(since) < guard:
				fmt.Fprint(a.stderr, "(typed too early to be meant for this) > ")
			case a.answer(ctx, shown, strings.TrimSpace(typed.text)):
				shown = approval.Prompt{}
			}
		}
	}
}

// answer sends what was typed; it reports false when it was no answer.
func (a *asker) answer(ctx context.Context, p approval.Prompt, text string) bool {
	var d approval.Decision
	word, note, _ := strings.Cut(text, " ")
	switch strings.ToLower(word) {
	case "", "d", "deny", "n", "no":
		d = approval.DecisionDeny
	case "o", "once", "y", "yes":
		d = approval.AllowOnce
	case "a", "always":
		d = approval.AllowAlways
	}
	offered := false
	for _, choice := range p.Judgement.Choices {
		offered = offered || choice == d
	}
	if d != approval.DecisionDeny && len(word) == 1 && p.Judgement.Risk.Level.High() {
		offered = false // a whole word, or nothing
	}
	if !offered {
		fmt.Fprintf(a.stderr, "Type %s > ", choiceKeys(p))
		return false
	}
	params := map[string]any{"id": p.ID, "digest": p.Digest(), "count": p.Count, "decision": d, "note": strings.TrimSpace(note)}
	var denied host.DeniedUntil
	if err := a.client.CallSigned(ctx, a.key, a.sign, "pending.answer", params, &denied); err != nil {
		fmt.Fprintln(a.stderr, "—", plain(err))
		return true
	}
	fmt.Fprintln(a.stderr, "— "+string(d)+".")
	if denied.Until != 0 {
		fmt.Fprintf(a.stderr, "The same is denied until %s.\n", time.UnixMilli(denied.Until).Format(time.TimeOnly))
	}
	return true
}

// sign takes the next line that is typed for the passphrase. The host has no
// terminal that another program of ours could ask at.
func (a *asker) sign(ctx context.Context, method string, params []byte, ask ipc.ConfirmAsk) ([]byte, error) {
	if a.signer != "" {
		return a.program.sign(ctx, method, params, ask)
	}
	key, err := operator.Read(a.state.OperatorPublic())
	if err != nil {
		return nil, err
	}
	statement, err := host.Statement(a.state.Dir, method, params, ask.Text)
	if err != nil {
		return nil, err
	}
	statement.Nonce = ask.Nonce
	if err := echo(a.stdin, false); err != nil {
		return nil, err
	}
	defer func() {
		_ = echo(a.stdin, true)
		fmt.Fprintln(a.stderr)
	}()
	for _, line := range strings.Split(ask.Text, "\n") { // what is signed
		fmt.Fprintln(a.stderr, display.Escape(line))
	}
	fmt.Fprint(a.stderr, passphraseFor(ask.Text))
	select {
	case typed := <-a.typed:
		return key.Sign([]byte(typed.text), statement)
	case <-time.After(signPatience):
		return nil, errors.New("nothing was typed")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// first returns the oldest question whose caller still waits.
func first(waiting []approval.Prompt) approval.Prompt {
	for _, p := range waiting {
		if !p.CallerGone {
			return p
		}
	}
	return approval.Prompt{}
}

// find returns the question with this id, if its caller still waits.
func find(waiting []approval.Prompt, id string) approval.Prompt {
	for _, p := range waiting {
		if p.ID == id && !p.CallerGone {
			return p
		}
	}
	return approval.Prompt{}
}
