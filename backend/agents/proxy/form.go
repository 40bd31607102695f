package proxy

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
)

const (
	methodInitialize = "initialize"
	methodElicit     = "elicitation/create"
)

// maxForms is how many calls are about a form at once: each has a connection to
// the host, and nobody reads more.
const maxForms = 8

// forms are the requests of ours that the client has not answered. Nobody else
// has the beginning of their ids, so that a server's requests never have one of
// them; an answer under any of them is for us, also a late one.
type forms struct {
	prefix string
	room   chan struct{} // holds a value for each call that is about one

	mu   sync.Mutex
	last int
	open map[string]chan Message // by key
}

func newForms() *forms {
	return &forms{prefix: "countersign-" + rand.Text() + "-", room: make(chan struct{}, maxForms), open: map[string]chan Message{}}
}

// begin makes an id, and the channel that gets its answer.
func (l *forms) begin() (id string, answer <-chan Message) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last++
	id = l.prefix + strconv.Itoa(l.last)
	c := make(chan Message, 1)
	l.open["text "+id] = c
	return id, c
}

func (l *forms) end(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, "text "+id)
}

// ours reports whether an id is one of ours.
func (l *forms) ours(id json.RawMessage) (key string, ours bool) {
	key, err := keyOf(id)
	return key, err == nil && strings.HasPrefix(key, "text "+l.prefix)
}

// take takes an answer of the client that is for us. The first one counts.
func (l *forms) take(m Message) bool {
	key, ours := l.ours(m.ID)
	if !ours {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.open[key]; c != nil {
		delete(l.open, key)
		c <- m
	}
	return true
}

// showsForms reports whether a client says in initialize that it shows forms: the
// elicitation of a client that names no mode is one.
func showsForms(m Message) bool {
	shows := false
	err := object(m.Params, []string{"capabilities"}, func(name string, capabilities json.RawMessage) error {
		if name != "capabilities" {
			return nil
		}
		return object(capabilities, []string{"elicitation"}, func(name string, modes json.RawMessage) error {
			if name != "elicitation" {
				return nil
			}
			form, url := false, false
			err := object(modes, []string{"form", "url"}, func(mode string, _ json.RawMessage) error {
				form, url = form || mode == "form", url || mode == "url"
				return nil
			})
			shows = form || !url
			return err
		})
	})
	return err == nil && shows
}

// What can be chosen in a form. No is the first, which many clients choose
// beforehand.
const (
	formNo  = "deny"
	formYes = "allow once"
)

type elicitation struct {
	Version string `json:"jsonrpc"`
	ID      string `json:"id"`
	Method  string `json:"method"`
	Params  form   `json:"params"`
}

type form struct {
	Message string `json:"message"`
	Schema  schema `json:"requestedSchema"`
}

type schema struct {
	Type       string            `json:"type"`
	Properties map[string]choice `json:"properties"`
	Required   []string          `json:"required"`
}

type choice struct {
	Type  string   `json:"type"`
	Title string   `json:"title"`
	Enum  []string `json:"enum"`
}

// newForm asks the client's person. Without mayAllow they can only deny.
func newForm(id, message string, mayAllow bool) []byte {
	answers := []string{formNo}
	if mayAllow {
		answers = append(answers, formYes)
	}
	one := choice{Type: "string", Title: "Countersign", Enum: answers}
	return encode(elicitation{ID: id, Method: methodElicit, Params: form{message, schema{"object", map[string]choice{"decision": one}, []string{"decision"}}}})
}

// maxFormText bounds what a form shows, in bytes. What is longer nobody reads in
// one, and it is never shown in part.
const maxFormText = 8000

var errLong = errors.New("the question is too long for a form")

// formText is the whole question. What agents and servers chose stands in lines
// of four blanks, each with all its breaks made visible: clients that draw
// Markdown show that as it is.
func formText(p approval.Prompt, mayAllow bool) (string, error) {
	tool := p.Plan.Tool
	if tool == nil {
		return "", errors.New("the question is about no tool")
	}
	var b strings.Builder
	line := func(format string, args ...any) {
		b.WriteString("    " + display.Escape(fmt.Sprintf(format, args...)) + "\n")
	}
	b.WriteString("Countersign asks: may this tool be called?\n\n")
	line("%s %s", tool.FullName(), tool.Args)
	for _, f := range tool.Files {
		leads := ""
		if f.Real != "" && f.Real != f.Path {
			leads = " → " + f.Real
		}
		line("file     %s%s", f.Path, leads)
	}
	for _, a := range tool.Addresses {
		line("address  %s", a.URL)
	}
	line("agent    %s", p.AgentID)
	line("folder   %s", p.Plan.Cwd.Path)
	line("because  %s", p.Judgement.Sentence)
	line("risk     %s", p.Judgement.Risk.Level)
	b.WriteString("\n")
	if mayAllow {
		b.WriteString("An answer holds for this one call. ")
	} else {
		b.WriteString("Only in Countersign itself can this be allowed. ")
	}
	b.WriteString("Without one Countersign goes on asking by itself.")
	if b.Len() > maxFormText {
		return "", errLong
	}
	return b.String(), nil
}

// formAnswer reads what the client answered: unset for anything but a choice.
func formAnswer(m Message) (d approval.Decision) {
	action := ""
	err := object(m.result, []string{"action", "content"}, func(name string, value json.RawMessage) (err error) {
		switch name {
		case "action":
			action, err = text(value)
		case "content":
			if value[0] != '{' {
				return nil // null of a form that was closed
			}
			err = object(value, []string{"decision"}, func(name string, value json.RawMessage) error {
				if name != "decision" {
					return nil
				}
				chosen, err := text(value)
				switch chosen {
				case formNo:
					d = approval.DecisionDeny
				case formYes:
					d = approval.AllowOnce
				}
				return err
			})
		}
		return err
	})
	if err != nil || action != "accept" {
		return approval.DecisionUnset
	}
	return d
}

type withdrawal struct {
	Version string    `json:"jsonrpc"`
	Method  string    `json:"method"`
	Params  withdrawn `json:"params"`
}

type withdrawn struct {
	ID     string `json:"requestId"`
	Reason string `json:"reason"`
}

// withdraw takes a form back that nobody needs any more.
func withdraw(id string) []byte {
	return encode(withdrawal{Method: methodCancelled, Params: withdrawn{id, "the question was answered elsewhere, or is over"}})
}
