package ipc

// credential says which secret verified a frame, or which one a method needs.
type credential int

const (
	byNothing credential = iota
	byToken              // the request token, which may only ask and read
	byKey                // the operator key
)

// asks are the methods that ask for a permission, as frames of kind exec and
// request do: who calls them is remembered as one that asked.
var asks = map[string]bool{"tool.decide": true, "approved.run": true}

// bridges are the methods for our own programs alone: what they say that somebody
// at a gateway or an MCP client said, anybody could say.
var bridges = map[string]bool{MethodAskers: true, "pending.escalated": true, "pending.own": true, "pending.elicited": true}

// MethodAskers tells, before our own program asks for it, which processes are at
// the other end of a connection over loopback: they are remembered too as such
// that asked. Its parameters are Askers.
const MethodAskers = "askers.add"

// methods are those of kind call, with the weakest credential that each
// accepts.
var methods = map[string]credential{
	"status":         byToken,
	"pending.list":   byToken,
	"pending.watch":  byToken,
	"policy.get":     byToken,
	"entries.list":   byToken,
	"projects.list":  byToken,
	"explain":        byToken,
	"tool.explain":   byToken,
	"denylist":       byToken,
	"history.list":   byToken,
	"history.stops":  byToken,
	"history.verify": byToken,
	"running.list":   byToken,
	"metrics":        byToken,
	"standing.list":  byToken,
	"prepare":        byToken,
	"which":          byToken,
	"start.show":     byToken,
	"policy.file":    byToken,
	// What it loosens waits for a person, as an edit of the file does, which
	// every program of the user can make.
	"policy.propose": byToken,
	// It only tightens, and its signature says whose it is.
	"policy.federate": byToken,
	// A request as those of kind exec and request are.
	"tool.decide":  byToken,
	"tools.denied": byToken,
	MethodAskers:   byToken,
	"approved.run": byToken, // who has the id may run what was allowed under it

	"pending.escalated": byToken,
	"pending.own":       byToken,
	"pending.elicited":  byToken,

	"pending.answer":   byKey,
	"pending.hold":     byKey,
	"standing.forget":  byKey,
	"policy.set":       byKey,
	"policy.follow":    byKey,
	"charters.use":     byKey,
	"skills.use":       byKey,
	"policy.accept":    byKey,
	"policy.reject":    byKey,
	"entries.add":      byKey,
	"projects.add":     byKey,
	"start.take":       byKey,
	"projects.remove":  byKey,
	"environment.read": byKey,
	"entries.remove":   byKey,
	"running.stop":     byKey,
	"leases.end":       byKey,
	"pause":            byKey,
	"resume":           byKey,
	"stop":             byKey,
	"window.open":      byKey,
}
