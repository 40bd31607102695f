package ipc

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/paths"
	"github.com/countersign-app/countersign/backend/proc"
	"github.com/countersign-app/countersign/backend/rescue"
)

// maxAnswer is the longest answer line that a client takes.
const maxAnswer = 16_777_216

// dialTime is how long a live host may take to accept.
const dialTime = 5 * time.Second

func dialSocket(path string) (*net.UnixConn, error) {
	// Before the connection is made: what is written to it later names its writer.
	d := net.Dialer{Timeout: dialTime, Control: func(_, _ string, raw syscall.RawConn) (err error) {
		if e := raw.Control(func(fd uintptr) { err = askWriters(fd) }); e != nil {
			return e
		}
		return err
	}}
	nc, err := d.Dial("unix", path)
	if err != nil {
		return nil, err
	}
	return nc.(*net.UnixConn), nil
}

// ErrNoAnswer says that the connection ended before the answer came: the
// host stopped, closed the question, or did not accept the frame.
var ErrNoAnswer = errors.New("the host closed the connection without an answer")

// Client is one kept connection to a host. Its methods may be used at the
// same time. When the context of a frame ends while no other frame waits, the
// connection is closed, so that the host ends what it does for that frame:
// give work that must be ended for certain a client of its own. After that,
// and after any error of the connection, every call fails; dial again.
type Client struct {
	nc        *net.UnixConn
	at        holder        // who was proven to be the host
	challenge string        // what it told us when we were
	done      chan struct{} // closed when the reader has ended

	writing sync.Mutex

	mu      sync.Mutex
	waiting map[string]waiter
	broken  error
}

type waiter struct {
	kind     string // the answer that fits
	answer   chan answer
	progress func(approval.EventKind) // nil for nobody
}

// answer is any line of a host.
type answer struct {
	Type     string            `json:"type"`
	ID       string            `json:"id"`
	OK       bool              `json:"ok"`
	Payload  json.RawMessage   `json:"payload"`
	Error    *Error            `json:"error"`
	Decision approval.Decision `json:"decision"`

	State approval.EventKind `json:"state"`

	Folder    folderWire `json:"folder"`
	Challenge string     `json:"challenge"`
}

// signed is a frame of kind exec or call.
type signed struct {
	Type        string `json:"type"`
	ID          string `json:"id"`
	Nonce       string `json:"nonce"`
	TS          int64  `json:"ts"`
	HMAC        string `json:"hmac"`
	RequestJSON string `json:"requestJson"`
}

// asking is a frame of kind request.
type asking struct {
	Type    string      `json:"type"`
	Token   string      `json:"token"`
	ID      string      `json:"id"`
	Request requestWire `json:"request"`
}

// Dial connects to the host of a state folder. It makes sure that what answers
// there is one of our programs, of the same user, and serves this very folder,
// before anything secret is sent. further are paths of programs of ours beside
// the one that this process runs. The errors are ErrAbsent, ErrSilent,
// ErrUnproven, ErrReplaced and those of the machine.
func Dial(state paths.State, further ...string) (*Client, error) {
	c, err := place{state, further, patience}.dial()
	if err != nil {
		return nil, fmt.Errorf("cannot reach the host: %w", err)
	}
	return c, nil
}

// Close ends the connection and everything that waits on it.
func (c *Client) Close() {
	c.nc.Close()
	<-c.done
}

// Alive reports whether the connection was whole a moment ago.
func (c *Client) Alive() bool {
	select {
	case <-c.done:
		return false
	default:
		return true
	}
}

// Exec asks the host to run a command and returns what came of it. A refusal
// is an *Error. Request.Progress must return at once.
func (c *Client) Exec(ctx context.Context, token string, x Exec) (ExecAnswer, error) {
	if err := c.NameAskers(ctx, token, x.Request.AgentID, x.Askers); err != nil {
		return ExecAnswer{}, err
	}
	x.challenge = c.challenge
	x.Progress = x.Request.Progress != nil
	text, err := encodeExec(x)
	if err != nil {
		return ExecAnswer{}, err
	}
	a, err := c.signed(ctx, kindExec, []byte(token), text, x.Request.Progress)
	if err != nil {
		return ExecAnswer{}, err
	}
	var p execPayload
	if err := json.Unmarshal(a.Payload, &p); err != nil {
		return ExecAnswer{}, fmt.Errorf("cannot read the host's answer: %w", err)
	}
	out := ExecAnswer{ExitCode: p.ExitCode, TimedOut: p.TimedOut, Success: p.Success, Stdout: p.Stdout, Stderr: p.Stderr, Receipt: p.Receipt}
	if p.Error != nil {
		out.Error = *p.Error
	}
	return out, nil
}

// NameAskers tells the host for which processes we ask from now on, if there are
// any. Where it fails nothing must be asked for them.
func (c *Client) NameAskers(ctx context.Context, token, agent string, askers []proc.ID) error {
	if len(askers) == 0 {
		return nil
	}
	return c.Call(ctx, []byte(token), MethodAskers, Askers{agent, askers}, nil)
}

// Signer has a person sign a call that a host wants confirmed. params is their
// JSON as it is sent. Its error is the call's.
type Signer func(ctx context.Context, method string, params []byte, ask ConfirmAsk) (signature []byte, err error)

// Call calls a method with the request token or the operator key and decodes
// what it returns into out, unless that is nil. A refusal is an *Error.
func (c *Client) Call(ctx context.Context, key []byte, method string, params, out any) error {
	return c.CallSigned(ctx, key, nil, method, params, out)
}

// CallSigned is Call for a method that a person may have to confirm.
func (c *Client) CallSigned(ctx context.Context, key []byte, sign Signer, method string, params, out any) error {
	w := callWire{Method: method, Params: json.RawMessage("null"), Challenge: c.challenge}
	if params != nil {
		text, err := encodeText(params)
		if err != nil {
			return err
		}
		w.Params = json.RawMessage(text)
	}
	a, err := c.call(ctx, key, w)
	var refused *Error
	if errors.As(err, &refused) && refused.Code == CodeConfirm && refused.Confirm != nil && sign != nil {
		signature, failed := sign(ctx, method, w.Params, *refused.Confirm)
		if failed != nil {
			return failed
		}
		w.Confirm = &Confirmation{Nonce: refused.Confirm.Nonce, Signature: signature}
		a, err = c.call(ctx, key, w)
	}
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(a.Payload, out); err != nil {
		return fmt.Errorf("cannot read the host's answer to %s: %w", method, err)
	}
	return nil
}

func (c *Client) call(ctx context.Context, key []byte, w callWire) (answer, error) {
	text, err := encodeText(w)
	if err != nil {
		return answer{}, err
	}
	return c.signed(ctx, kindCall, key, text, nil)
}

// Request asks whether a command may be run by the caller itself. Without a
// decision the error is ErrNoAnswer.
func (c *Client) Request(ctx context.Context, token string, q DecisionRequest) (approval.Decision, error) {
	id := uuid.NewString()
	a, err := c.do(ctx, id, waiter{kind: answerRequest}, func() any {
		return asking{kindRequest, token, id, encodeRequest(q)}
	})
	if err == nil && a.Decision == approval.DecisionUnset {
		err = ErrNoAnswer
	}
	return a.Decision, err
}

func (c *Client) signed(ctx context.Context, kind string, key []byte, requestJSON string, progress func(approval.EventKind)) (answer, error) {
	id, fits := uuid.NewString(), answerExec
	if kind == kindCall {
		fits = answerCall
	}
	a, err := c.do(ctx, id, waiter{kind: fits, progress: progress}, func() any { return newSigned(kind, id, key, requestJSON) })
	if err == nil && !a.OK {
		if a.Error == nil {
			a.Error = &Error{Code: CodeUnavailable, Message: "the host refused without a reason"}
		}
		err = a.Error
	}
	return a, err
}

func newSigned(kind, id string, key []byte, requestJSON string) signed {
	var random [16]byte
	rand.Read(random[:]) // never fails
	f := signed{
		Type: kind, ID: id, Nonce: hex.EncodeToString(random[:]),
		TS: time.Now().UnixMilli(), RequestJSON: requestJSON,
	}
	f.HMAC = sign(key, f.Nonce, strconv.FormatInt(f.TS, 10), requestJSON)
	return f
}

// do sends one frame and waits for its answer.
func (c *Client) do(ctx context.Context, id string, w waiter, frame func() any) (answer, error) {
	if err := ctx.Err(); err != nil {
		return answer{}, err
	}
	w.answer = make(chan answer, 1)
	if err := c.wait(id, w); err != nil {
		return answer{}, err
	}
	if err := c.write(frame); err != nil {
		c.drop(id)
		return answer{}, err
	}
	select {
	case a := <-w.answer:
		return a, nil
	case <-ctx.Done():
		if c.drop(id) == 0 {
			c.nc.Close() // the only way to tell the host
		}
		return answer{}, ctx.Err()
	case <-c.done:
	}
	select {
	case a := <-w.answer: // it came just before the end
		return a, nil
	default:
		return answer{}, c.broken
	}
}

func (c *Client) wait(id string, w waiter) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken == nil {
		c.waiting[id] = w
	}
	return c.broken
}

// drop gives a frame up and returns how many others wait.
func (c *Client) drop(id string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.waiting, id)
	return len(c.waiting)
}

// write sends one frame. It is made at the last moment, so that a host that
// reads slowly does not find it expired.
func (c *Client) write(frame func() any) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	line, err := encodeLine(frame())
	if err != nil {
		return err
	}
	if len(line) > maxLine+1 {
		return fmt.Errorf("the request has %d bytes and at most %d are possible", len(line), maxLine)
	}
	c.nc.SetWriteDeadline(time.Now().Add(patience))
	if _, err = c.nc.Write(line); err != nil {
		c.nc.Close() // half a frame may have gone out
		return fmt.Errorf("%w: %w", ErrNoAnswer, err)
	}
	return nil
}

// written is what a process wrote to a connection.
type written struct {
	nc *net.UnixConn
	by holder
}

func (w written) Read(b []byte) (int, error) { return readFrom(w.nc, w.by, b) }

// hear hands answers to those who wait for them. Lines that are no answer to
// anything are skipped.
func (c *Client) hear() {
	defer close(c.done)
	defer rescue.Catch(nil, "what a host answers", func() { c.lost(nil) })
	in := bufio.NewScanner(written{c.nc, c.at})
	in.Buffer(make([]byte, smallBuffer), maxAnswer)
	for in.Scan() {
		var a answer
		if json.Unmarshal(in.Bytes(), &a) != nil {
			continue
		}
		c.mu.Lock()
		w, ok := c.waiting[a.ID]
		if ok && a.Type == lineProgress && w.progress != nil {
			c.mu.Unlock()
			w.progress(a.State)
			continue
		}
		if ok = ok && w.kind == a.Type; ok {
			delete(c.waiting, a.ID)
		}
		c.mu.Unlock()
		if ok {
			w.answer <- a
		}
	}
	c.lost(in.Err())
}

// lost says why nobody gets an answer any more.
func (c *Client) lost(why error) {
	c.nc.Close()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken = ErrNoAnswer
	if why != nil && !errors.Is(why, net.ErrClosed) {
		c.broken = fmt.Errorf("%w: %w", ErrNoAnswer, why)
	}
}
