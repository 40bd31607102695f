package mcp

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/countersign-app/countersign/backend/rescue"
)

// lines is a connection with one message on each line. Unlike that of the SDK,
// which ends when a line cannot be read, it answers such a line and goes on: a
// slip of a client is no reason to end what runs for it.
type lines struct {
	incoming chan line
	closed   chan struct{}
	close    func()

	writing sync.Mutex
	out     io.Writer
}

// line is one line, or why there is none.
type line struct {
	text []byte
	err  error
}

func newLines(in io.Reader, out io.Writer) *lines {
	c := &lines{incoming: make(chan line), closed: make(chan struct{}), out: out}
	c.close = sync.OnceFunc(func() { close(c.closed) })
	go c.read(bufio.NewReader(in))
	return c
}

// Connect implements sdk.Transport.
func (c *lines) Connect(context.Context) (sdk.Connection, error) { return c, nil }

// SessionID implements sdk.Connection: there is only one.
func (*lines) SessionID() string { return "" }

// Close implements sdk.Connection. A read of the input that goes on cannot be
// ended; nobody waits for it.
func (c *lines) Close() error {
	c.close()
	return nil
}

func (c *lines) read(in *bufio.Reader) {
	defer rescue.Catch(nil, "what an MCP client sends", c.close)
	for {
		text, err := readLine(in)
		select {
		case c.incoming <- line{text, err}:
		case <-c.closed:
			return
		}
		if err != nil && !errors.Is(err, errTooLong) {
			return
		}
	}
}

var errTooLong = fmt.Errorf("the message is longer than %d bytes", maxMessage)

// readLine reads one line. Of one that is too long nothing is kept. What stands
// at the end of the input without a line end is a line too.
func readLine(in *bufio.Reader) ([]byte, error) {
	var text []byte
	tooLong := false
	for {
		part, err := in.ReadSlice('\n')
		if tooLong = tooLong || len(text)+len(part) > maxMessage; tooLong {
			text = nil
		} else {
			text = append(text, part...)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
		case tooLong && (err == nil || errors.Is(err, io.EOF)):
			return nil, errTooLong // the end of the input is found again
		case err != nil && len(text) > 0:
			return text, nil
		default:
			return text, err
		}
	}
}

// Read implements sdk.Connection.
func (c *lines) Read(ctx context.Context) (jsonrpc.Message, error) {
	for {
		var next line
		select {
		case next = <-c.incoming:
		case <-c.closed:
			return nil, io.EOF
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if next.err != nil && !errors.Is(next.err, errTooLong) {
			return nil, next.err
		}
		if next.err == nil && len(bytes.TrimSpace(next.text)) == 0 {
			continue
		}
		message, refused := decode(next)
		if refused == nil {
			return message, nil
		}
		if err := c.put(refused); err != nil {
			return nil, err
		}
	}
}

// decode reads a message, or says what is answered instead.
func decode(next line) (message jsonrpc.Message, refused []byte) {
	defer rescue.Catch(nil, "a line of an MCP client", func() { message, refused = nil, refusal(jsonrpc.CodeInternalError, errFailed) })
	err := next.err
	if err == nil {
		err = unambiguous(next.text)
	}
	if err != nil {
		return nil, refusal(jsonrpc.CodeParseError, err)
	}
	if bytes.TrimSpace(next.text)[0] == '[' {
		return nil, refusal(jsonrpc.CodeInvalidRequest, errBatch)
	}
	message, err = jsonrpc.DecodeMessage(next.text)
	if err != nil {
		return nil, refusal(jsonrpc.CodeInvalidRequest, errShape)
	}
	return message, nil
}

// errShape is in place of what the library says, which is about its own insides.
var errShape = errors.New(`this is no message of JSON-RPC 2.0: it needs "jsonrpc": "2.0", and a method that is a text; an id is a text or a whole number`)

var errBatch = errors.New("several messages in one are not taken: send them one by one")

// refusal answers a message of which not even the id is known.
func refusal(code int64, err error) []byte {
	text, _ := json.Marshal(map[string]any{ // it holds nothing that cannot be encoded
		"jsonrpc": "2.0", "id": nil, "error": map[string]any{"code": code, "message": err.Error()},
	})
	return text
}

// Write implements sdk.Connection.
func (c *lines) Write(ctx context.Context, message jsonrpc.Message) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	text, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	return c.put(text)
}

func (c *lines) put(text []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.out.Write(append(text, '\n'))
	return err
}
