package proxy

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
)

// Names of headers.
const (
	headerSession = "Mcp-Session-Id"
	headerVersion = "Mcp-Protocol-Version"
	headerMethod  = "Mcp-Method"
	headerName    = "Mcp-Name"
	headerLast    = "Last-Event-ID"
)

// modernVersion is the first revision without sessions. Revisions are dates.
const modernVersion = "2026-07-28"

// sign adds the headers that every request has.
func (r *Remote) sign(req *http.Request) {
	req.Header.Set("Accept", "application/json, text/event-stream")
	if r.token != "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.version != "" {
		req.Header.Set(headerVersion, r.version)
	}
	if r.session != "" {
		req.Header.Set(headerSession, r.session)
	}
}

// modern reports whether a message is of a revision without sessions.
func (r *Remote) modern(m Message) bool {
	v := revision(m)
	if v == "" {
		r.mu.Lock()
		defer r.mu.Unlock()
		v = r.version
	}
	return v >= modernVersion
}

// revision is the revision that a message names, "" for none.
func revision(m Message) string {
	var p struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	v := ""
	if m.Method != "" && m.Params != nil && json.Unmarshal(m.Params, &p) == nil {
		_ = json.Unmarshal(p.Meta[metaRevision], &v)
	}
	if strings.Trim(v, "0123456789-") != "" { // it goes into a header
		return ""
	}
	return v
}

// subjectOf is what a header repeats of a judged request.
func subjectOf(m Message) string {
	if !isJudged(m.Method) {
		return ""
	}
	p, err := readParams(m)
	if err == nil && m.Method == methodRead {
		return p.uri
	}
	return p.name
}

// headerValue writes a text so that it is one header: what is not plain ASCII, or
// could be taken for what is written here, as =?base64?…?=.
func headerValue(s string) string {
	plain := strings.Trim(s, " \t") == s && !strings.HasPrefix(s, "=?base64?") && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' })
	if plain {
		return s
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?="
}
