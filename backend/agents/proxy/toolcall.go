package proxy

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// The methods that are read here. Those of isJudged ask the host.
const (
	methodCall      = "tools/call"
	methodList      = "tools/list"
	methodRead      = "resources/read"
	methodPrompt    = "prompts/get"
	methodCancelled = "notifications/cancelled"
)

// Names under which policy knows what is no tool of a server. A tool of this
// name is judged by the same rules.
const (
	toolRead   = "resource_read"
	toolPrompt = "prompt_get"
)

// isJudged reports whether the host is asked about a method.
func isJudged(method string) bool {
	return method == methodCall || method == methodRead || method == methodPrompt
}

// looksJudged reports whether a method is one that is judged to a reader that
// does not mind case or blanks, and none to others.
func looksJudged(method string) bool {
	plain := strings.ToLower(strings.TrimSpace(method))
	return isJudged(plain) && plain != method
}

// params are what is read of a judged request.
type params struct {
	name, uri string
	arguments json.RawMessage
	// progress is the token under which the client wants to hear of progress,
	// nil for none; modern tells that it speaks a revision in which every request
	// names its revision.
	progress json.RawMessage
	modern   bool
}

// readParams reads the parameters of a judged request strictly: what was judged
// must be what every server reads.
func readParams(m Message) (p params, err error) {
	if m.Params == nil {
		return p, errors.New("params are missing")
	}
	known := []string{"name", "arguments", "uri", "_meta"}
	err = object(m.Params, known, func(name string, value json.RawMessage) (err error) {
		switch name {
		case "name":
			p.name, err = text(value)
		case "uri":
			p.uri, err = text(value)
		case "arguments":
			if p.arguments = value; string(value) == "null" {
				p.arguments = nil
				return nil
			}
			// Many servers read arguments into fields without minding case.
			err = object(value, nil, func(string, json.RawMessage) error { return nil })
		case "_meta":
			err = p.readMeta(value)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		return nil
	})
	if err == nil {
		err = strict(m.Params)
	}
	return p, err
}

const metaRevision = "io.modelcontextprotocol/protocolVersion"

func (p *params) readMeta(value json.RawMessage) error {
	return object(value, nil, func(name string, value json.RawMessage) error {
		switch name {
		case "progressToken":
			if _, err := keyOf(value); err != nil {
				return errors.New("the progress token must be a text or a number")
			}
			p.progress = value
		case metaRevision:
			p.modern = true
		}
		return nil
	})
}

// toolCall is what the host judges of a request.
func (p *proxy) toolCall(method string, r params) (approval.ToolCall, error) {
	call := approval.ToolCall{
		Server: p.opt.Name, Cwd: p.opt.Cwd, AgentID: p.opt.AgentID, SessionKey: p.opt.SessionKey, Source: "proxy",
		Who: approval.Theirs, Deadline: time.Now().Add(p.opt.Wait).UnixMilli(),
	}
	if p.elicits.Load() && !r.modern {
		call.Ticket = rand.Text()
	}
	var args any
	switch method {
	case methodCall:
		if r.name == "" {
			return call, errors.New("name is missing")
		}
		call.Tool = r.name
		if call.Args = r.arguments; call.Args == nil {
			call.Args = json.RawMessage("{}")
		}
		return call, nil
	case methodRead:
		if r.uri == "" {
			return call, errors.New("uri is missing")
		}
		call.Tool, args = toolRead, map[string]string{"uri": r.uri}
	case methodPrompt:
		if r.name == "" {
			return call, errors.New("name is missing")
		}
		call.Tool = toolPrompt
		if args = map[string]any{"name": r.name}; r.arguments != nil {
			args = map[string]any{"name": r.name, "arguments": r.arguments}
		}
	}
	var err error
	call.Args, err = json.Marshal(args)
	return call, err
}
