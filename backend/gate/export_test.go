package gate

import "github.com/countersign-app/countersign/backend/judge"

// RequestFor is the request that a tool call is.
var RequestFor = requestFor

// ForgetSessions makes a gate like one that was just started.
func (g *Gate) ForgetSessions() { g.sessions.last = nil }

// SpoilContents makes what a question is bound to hold something else.
func SpoilContents(b any) {
	for path := range b.(*bound).Contents {
		b.(*bound).Contents[path] = judge.Content{Sum: "other"}
	}
}

// AllowedByPerson tells which answers suggestions come of.
var AllowedByPerson = judge.AllowedByPerson
