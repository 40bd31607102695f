package config

import (
	"regexp"
	"strings"
	"sync"

	"github.com/countersign-app/countersign/backend/approval"
)

// Override is what a session wants instead of what its agent's configuration
// says. What is unset there holds.
type Override struct {
	Host     approval.Host     `json:"host,omitempty"`
	Security approval.Security `json:"security,omitempty"`
	Ask      approval.Ask      `json:"ask,omitempty"`
	Node     string            `json:"node,omitempty"`
}

// Over lays an override above another one.
func (o Override) Over(below Override) Override {
	for _, field := range []struct{ have, under *string }{
		{(*string)(&o.Host), (*string)(&below.Host)}, {(*string)(&o.Security), (*string)(&below.Security)},
		{(*string)(&o.Ask), (*string)(&below.Ask)}, {&o.Node, &below.Node},
	} {
		if *field.have == "" {
			*field.have = *field.under
		}
	}
	return o
}

// Slash is a command to the gateway in a message of a person.
type Slash struct {
	// Exec tells that this is /exec, with what it sets. Auto is host=auto, and
	// Save keeps what the session has after its end.
	Exec bool
	Set  Override
	Auto bool
	Save bool
	// Elevated is the level of /elevated: on, ask, full or off; empty for none.
	Elevated string
	// Bad are the words that nobody knows, such as "ask=never".
	Bad []string
	// Rest is the message without the command.
	Rest string
}

// A command stands at the start of a message or after a blank.
var slashes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?:^|\s)/(exec|elevated|elev)(?:$|[\s:])`) })

// ParseSlash finds the first command in a message.
func ParseSlash(message string) (s Slash, found bool) {
	at := slashes().FindStringSubmatchIndex(message)
	if at == nil {
		return Slash{Rest: message}, false
	}
	rest := strings.TrimLeft(message[at[3]:], ": \t\r\n")
	if message[at[2]:at[3]] == "exec" {
		s.Exec = true
		rest = s.exec(rest)
	} else {
		rest = s.elevated(rest)
	}
	s.Rest = strings.TrimSpace(strings.TrimSpace(message[:at[0]]) + " " + strings.TrimSpace(rest))
	return s, true
}

// exec takes settings up to the first word that is none.
func (s *Slash) exec(text string) (rest string) {
	for text != "" {
		word, after := cutWord(text)
		name, value, is := word, "", word == "save"
		if i := strings.IndexAny(word, "=:"); i > 0 {
			name, value, is = strings.ToLower(word[:i]), word[i+1:], true
		}
		if !is || !s.set(name, value, word) {
			return text
		}
		text = after
	}
	return ""
}

// set takes one setting, and reports whether it is one.
func (s *Slash) set(name, value, word string) bool {
	var err error
	switch name {
	case "save":
		s.Save = true
	case "host":
		if s.Auto = value == "auto"; s.Auto {
			s.Set.Host = ""
		} else {
			err = s.Set.Host.UnmarshalText([]byte(value))
		}
	case "security":
		err = s.Set.Security.UnmarshalText([]byte(value))
	case "ask":
		err = s.Set.Ask.UnmarshalText([]byte(value))
	case "node":
		s.Set.Node = value
	default:
		return false
	}
	if err != nil || name == "node" && value == "" {
		s.Bad = append(s.Bad, word)
	}
	return true
}

var levels = map[string]string{
	"on": "on", "true": "on", "yes": "on", "1": "on", "off": "off", "false": "off", "no": "off", "0": "off",
	"ask": "ask", "prompt": "ask", "approval": "ask", "approve": "ask",
	"full": "full", "auto": "full", "auto-approve": "full", "autoapprove": "full",
}

// elevated takes the level, if the next word is one.
func (s *Slash) elevated(text string) (rest string) {
	word, after := cutWord(text)
	if s.Elevated = levels[strings.ToLower(word)]; s.Elevated == "" {
		if word != "" {
			s.Bad = append(s.Bad, word)
		}
		return text
	}
	return after
}

func cutWord(text string) (word, rest string) {
	i := strings.IndexAny(text, " \t\r\n")
	if i < 0 {
		return text, ""
	}
	return text[:i], strings.TrimLeft(text[i:], " \t\r\n")
}
