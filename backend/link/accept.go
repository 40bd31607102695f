package link

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/coder/websocket"
)

// Accept takes a connection to a gateway: it sends a challenge, checks that
// the device proved itself, and lets admit decide about the rest. admit must
// not trust Connect further than its signature goes: the token is its matter.
//
// Which names and pages may call is settled before. The error says why nobody
// came in; the other end was told.
func Accept(w http.ResponseWriter, r *http.Request, admit func(*Connect) (*Hello, *Error)) (*Conn, *Connect, error) {
	ws, err := websocket.Accept(w, r, nil)
	if err != nil {
		return nil, nil, err
	}
	c := newConn(ws)
	ctx, cancel := context.WithTimeout(r.Context(), shake)
	defer cancel()
	connect, err := c.challenge(ctx, admit)
	if err != nil {
		ws.Close(websocket.StatusPolicyViolation, "connect refused")
		return nil, nil, err
	}
	ws.SetReadLimit(MaxPayload)
	return c, connect, nil
}

func (c *Conn) challenge(ctx context.Context, admit func(*Connect) (*Hello, *Error)) (*Connect, error) {
	ch := challenge{Nonce: rand.Text(), TS: time.Now().UnixMilli()}
	if err := c.Send(ctx, eventChallenge, ch); err != nil {
		return nil, err
	}
	f, err := c.read(ctx)
	if err != nil {
		return nil, err
	}
	hello, connect, refusal := receive(f, ch, admit)
	if err := c.Reply(ctx, f.ID, hello, refusal); err != nil {
		return nil, err
	}
	if refusal != nil {
		return nil, refusal
	}
	return connect, nil
}

// receive judges the first frame.
func receive(f frame, ch challenge, admit func(*Connect) (*Hello, *Error)) (*Hello, *Connect, *Error) {
	if f.Type != typeRequest || f.Method != methodConnect {
		return nil, nil, Refuse(CodeInvalid, "the first frame must be connect")
	}
	var connect Connect
	if err := json.Unmarshal(f.Params, &connect); err != nil {
		return nil, nil, Refuse(CodeInvalid, "invalid connect params: %s", where(err))
	}
	oldest := Protocol
	if connect.Role == RoleNode {
		oldest = NodeProtocol
	}
	switch {
	case connect.Role != RoleNode && connect.Role != RoleOperator:
		return nil, nil, Refuse(CodeInvalid, "invalid role")
	case connect.MaxProtocol < oldest || connect.MinProtocol > Protocol || connect.MinProtocol > connect.MaxProtocol:
		return nil, nil, &Error{Code: CodeInvalid, Message: "protocol mismatch", Details: fmt.Appendf(nil, `{"expectedProtocol":%d}`, Protocol)}
	}
	if refusal := connect.verify(ch); refusal != nil {
		return nil, nil, refusal
	}
	hello, refusal := admit(&connect)
	if refusal != nil {
		return nil, nil, refusal
	}
	hello.Type, hello.Protocol = typeHello, min(Protocol, connect.MaxProtocol)
	hello.Policy = Limits{MaxPayload: MaxPayload, MaxBuffered: MaxBuffered, TickInterval: TickInterval.Milliseconds()}
	return hello, &connect, nil
}

// where names the field that is wrong, and not its value.
func where(err error) string {
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) && wrong.Field != "" {
		return wrong.Field + " is no " + wrong.Type.String()
	}
	return "not a JSON object"
}
