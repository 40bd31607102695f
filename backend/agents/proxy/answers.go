package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/rescue"
)

// maxGarbage is how many lines of a server may be no messages.
const maxGarbage = 100

// maxShown is how much of such a line is shown, in bytes.
const maxShown = 200

// fromServer takes one line of the server. Its error ends the server.
func (p *proxy) fromServer(line []byte) (err error) {
	var m Message
	defer rescue.Catch(p.opt.Log, "a message of the server", func() {
		if err = p.dropped(nil, errFailed); err == nil && m.Method == "" && m.ID != nil {
			err = p.toClient(failure(m.ID, codeInternal, errFailed.Error()))
		}
	})
	m, err = parse(line)
	switch {
	case err != nil:
		return p.dropped(line, err)
	case p.forges(m):
		return p.dropped(line, errors.New("it has an id of the proxy's own requests"))
	case m.Method != "", string(m.ID) == "null" && m.failure != nil: // what is wrong with a message of the client
		return p.toClient(line)
	}
	key, err := keyOf(m.ID)
	if err != nil {
		return p.dropped(line, err)
	}
	c := p.calls.answered(key)
	if c == nil {
		p.unasked(m)
		return nil
	}
	if c.method == methodList && m.result != nil {
		line = p.filter(m)
	}
	return p.toClient(line)
}

// forges reports whether a server uses an id of ours, which it can only have read
// where the client keeps its log: to have its own form answered in the place of
// ours, or ours taken away.
func (p *proxy) forges(m Message) bool {
	id := m.ID
	if m.Method == methodCancelled {
		id = cancelledID(m)
	}
	_, ours := p.forms.ours(id)
	return ours
}

func (p *proxy) toClient(line []byte) error {
	if err := p.out.put(line); err != nil {
		return &Ended{Code: 1, Why: fmt.Sprintf("the MCP server was ended: it sends %v", err)}
	}
	return nil
}

// dropped counts what is no message, and gives up on a server that sends much of
// it.
func (p *proxy) dropped(line []byte, why error) error {
	if p.garbage++; p.garbage > maxGarbage {
		return &Ended{Code: 1, Why: fmt.Sprintf("the MCP server was ended: more than %d lines of its output are no messages", maxGarbage)}
	}
	text := display.Line(string(line[:min(len(line), maxShown)]))
	p.opt.Log.Warn("the server wrote what is no message; it was dropped", "error", display.Line(why.Error()), "line", text)
	return nil
}

// unasked reports the first answer that nobody waits for.
func (p *proxy) unasked(m Message) {
	if !p.strange {
		p.strange = true
		p.opt.Log.Warn("the server answered what was not asked, or was answered before; such answers are dropped", "id", display.Line(string(m.ID)))
	}
}

// listTime is how long the host may take to say which tools are denied. Later
// messages of the server wait meanwhile, so that their order stays.
const listTime = 2 * time.Second

// maxTools bounds the tools whose results are known to have a form.
const maxTools = 10_000

// filter takes the tools out of a list that the agent may not call whatever it
// tells them. All else stays as it is. Where the list cannot be read, or the host
// does not say, nothing is taken out: the calls are judged in any case.
func (p *proxy) filter(m Message) []byte {
	list, err := p.readList(m.result)
	if err != nil || len(list.names) == 0 {
		return m.Raw
	}
	ctx, cancel := context.WithTimeout(p.ctx, listTime)
	defer cancel()
	var out struct {
		Denied []string `json:"denied"`
	}
	err = p.opt.Host.Call(ctx, "tools.denied", map[string]any{
		"server": p.opt.Name, "tools": list.names, "agentId": p.opt.AgentID, "sessionKey": p.opt.SessionKey,
	}, &out)
	if err != nil || len(out.Denied) == 0 {
		return m.Raw
	}
	return list.without(m.Raw, out.Denied)
}

// toolList is the list of an answer: its array, and the name and the bytes of
// each tool, all parts of the message.
type toolList struct {
	array json.RawMessage
	names []string
	tools []json.RawMessage
}

// readList reads the list, and notes whose results have a form.
func (p *proxy) readList(result json.RawMessage) (l toolList, err error) {
	err = object(result, []string{"tools"}, func(name string, value json.RawMessage) error {
		if name == "tools" {
			l.array = value
		}
		return nil
	})
	if err != nil || l.array == nil {
		return l, errors.Join(err, errors.New("there is no list"))
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	err = elements(l.array, func(tool json.RawMessage) error {
		called, shaped := "", false
		err := object(tool, []string{"name"}, func(name string, value json.RawMessage) (err error) {
			switch name {
			case "name":
				called, err = text(value)
			case "outputSchema":
				shaped = true
			}
			return err
		})
		if shaped && len(p.shaped) < maxTools {
			p.shaped[called] = true
		}
		l.names, l.tools = append(l.names, called), append(l.tools, tool)
		return err
	})
	return l, err
}

// without is the message without the tools of these names, each with what
// separates it from the one before.
func (l toolList) without(raw []byte, denied []string) []byte {
	// A part of a message ends at the same capacity as the message.
	at := func(part []byte) int { return cap(raw) - cap(part) }
	end := at(l.tools[0])
	out := slices.Clone(raw[:end])
	kept := 0
	for i, tool := range l.tools {
		if !slices.Contains(denied, l.names[i]) {
			if kept++; kept > 1 {
				out = append(out, raw[end:at(tool)]...)
			}
			out = append(out, tool...)
		}
		end = at(tool) + len(tool)
	}
	return append(out, raw[end:]...)
}
