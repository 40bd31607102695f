package opencode

import (
	"encoding/json"
	"net/url"
	"strings"
)

// request is one permission request of the server.
type request struct {
	id, session string
	// directory is the folder of the server that it is from, "" where it was not
	// told.
	directory string
	// message and call are those of the tool call that it is about, "" if none is.
	message, call string
	// reply is the path that takes its answer.
	reply  string
	fields map[string]json.RawMessage // as the server tells it
}

// readRequest reads a request of any generation. Its ids go into paths, so they
// are what ids are made of.
func readRequest(text json.RawMessage, directory string) (r request, ok bool) {
	if json.Unmarshal(text, &r.fields) != nil {
		return r, false
	}
	r.directory = directory
	r.id, r.session = r.word("id"), r.word("sessionID")
	if !plain(r.id) || !plain(r.session) {
		return r, false
	}
	var call struct {
		Message string `json:"messageID"`
		Call    string `json:"callID"`
	}
	switch {
	case r.word("permission") != "":
		_ = json.Unmarshal(r.fields["tool"], &call) // without one it is about no call
		r.reply = "/permission/" + r.id + "/reply" + r.where()
	case r.word("action") != "":
		_ = json.Unmarshal(r.fields["source"], &call)
		r.reply = "/api/session/" + r.session + "/permission/" + r.id + "/reply"
	default:
		call.Message, call.Call = r.word("messageID"), r.word("callID")
		r.reply = "/session/" + r.session + "/permissions/" + r.id + r.where()
	}
	if plain(call.Message) && call.Call != "" {
		r.message, r.call = call.Message, call.Call
	}
	return r, true
}

// word is a field that is a text, "" if it is not there.
func (r request) word(name string) (s string) {
	if json.Unmarshal(r.fields[name], &s) != nil {
		return ""
	}
	return s
}

// where says which folder of the server a path is about.
func (r request) where() string { return inFolder(r.directory) }

func inFolder(directory string) string {
	if directory == "" {
		return ""
	}
	return "?directory=" + url.QueryEscape(directory)
}

// inLocation is the same in the second generation.
func inLocation(directory string) string {
	if directory == "" {
		return ""
	}
	return "?location%5Bdirectory%5D=" + url.QueryEscape(directory)
}

// plain reports whether a text is an id.
func plain(id string) bool {
	return id != "" && len(id) <= 200 && !strings.ContainsFunc(id, func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
}

// with is the request as the hook reads it: with the folder and the call.
func (r request) with(directory string, call *toolCall) []byte {
	fields := map[string]any{}
	for name, value := range r.fields {
		fields[name] = value
	}
	delete(fields, "call")
	fields["directory"] = directory
	if call != nil {
		fields["call"] = call
	}
	text, err := json.Marshal(fields)
	if err != nil {
		return nil // which no agent reads
	}
	return text
}
