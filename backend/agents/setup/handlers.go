package setup

import (
	"bytes"
	"encoding/json"
	"time"
)

// call is what a hook starts.
type call struct {
	argv []string
	line string        // the same for a shell
	wait time.Duration // how long the agent is to wait for it
}

func claudeHandler(e event, c call) any {
	onFailure := ""
	if e.closed {
		onFailure = "block"
	}
	return struct {
		Type      string   `json:"type"`
		Command   string   `json:"command"`
		Args      []string `json:"args"`
		Timeout   int      `json:"timeout"`
		OnFailure string   `json:"onFailure,omitempty"`
	}{"command", c.argv[0], c.argv[1:], seconds(c.wait), onFailure}
}

// lineHandler is that of Codex.
func lineHandler(_ event, c call) any {
	return struct {
		Type    string `json:"type"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
	}{"command", c.line, seconds(c.wait)}
}

func vscodeHandler(e event, c call) any {
	c.line += orNo
	return lineHandler(e, c)
}

// orNo ends the line of an agent that goes on where its hook breaks: what the
// shell cannot start, or what was ended, is exit code 2 and a text, a no.
const orNo = ` || { echo "Countersign gave no answer, so this does not run." >&2; exit 2; }`

func copilotHandler(_ event, c call) any {
	return struct {
		Type    string   `json:"type"`
		Exec    string   `json:"exec"`
		Args    []string `json:"args"`
		Timeout int      `json:"timeoutSec"`
	}{"command", c.argv[0], c.argv[1:], seconds(c.wait)}
}

func cursorHandler(_ event, c call) any {
	return struct {
		Command    string `json:"command"`
		Timeout    int    `json:"timeout"`
		FailClosed bool   `json:"failClosed"`
	}{c.line, seconds(c.wait), true}
}

func geminiHandler(_ event, c call) any {
	return struct {
		Name    string `json:"name"`
		Type    string `json:"type"`
		Command string `json:"command"`
		Timeout int64  `json:"timeout"` // in milliseconds
	}{"countersign", "command", c.line + orNo, c.wait.Milliseconds()}
}

func seconds(d time.Duration) int { return int(d / time.Second) }

// element is what stands in the list of an event: the handler, or a group that
// holds only it.
func (t target) element(e event, c call) []byte {
	handler := t.handler(e, c)
	if !t.grouped {
		return compact(handler)
	}
	return compact(struct {
		Matcher string `json:"matcher,omitempty"`
		Hooks   []any  `json:"hooks"`
	}{e.matcher, []any{handler}})
}

// compact is JSON in one line, with <, > and & as they are.
func compact(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v) // strings, numbers and lists always have a JSON text
	return bytes.TrimSpace(b.Bytes())
}
