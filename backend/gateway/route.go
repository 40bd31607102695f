package gateway

import (
	"slices"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/config"
	"github.com/countersign-app/countersign/backend/link"
)

// route is where a command runs, and with how much caution at least. The host
// there may have more.
type route struct {
	Host     approval.Host
	Security approval.Security
	Ask      approval.Ask
	// Bound is the node that the agent is bound to, Node the one that was asked
	// for; either may be empty.
	Bound, Node string
	Timeout     time.Duration
	// Path are folders that come first where programs are looked for, in a
	// sandbox: hosts go by the environment of their person.
	Path []string
	// Sandbox is nil where none is configured.
	Sandbox *config.Sandbox
	// Elevated is the level that the session is at; empty for none.
	Elevated string
	// Origins tells for each field where its value comes from.
	Origins map[string]string
}

// resolve joins what a call asks for, what its session was set to, and what is
// configured for its agent, in this order. A call may tighten security and
// ask, and loosen them only where its session is elevated; another host than
// the configured one must be listed.
func resolve(e config.Exec, s session, asks config.Override) (route, error) {
	r := route{Host: e.Host, Security: e.Security, Ask: e.Ask, Bound: e.Node, Timeout: e.Timeout, Path: e.PathPrepend, Sandbox: e.Sandbox, Elevated: s.Elevated, Origins: map[string]string{}}
	for _, field := range []string{"host", "security", "ask", "node"} {
		r.Origins[field] = "built in"
		if from := e.Origins[field]; from != "" {
			r.Origins[field] = from
		}
	}
	r.lay(s.Override, "/exec")
	if s.Elevated != "" {
		r.lay(elevation(s.Elevated), "/elevated "+s.Elevated)
	}
	if asks.Host != "" && asks.Host != r.Host {
		if !slices.Contains(e.Hosts, asks.Host) {
			return r, link.Refuse(link.CodeInvalid, "exec host not allowed (configured is %s, requested %s): list it in tools.exec.hosts", r.Host, asks.Host)
		}
		r.Host, r.Origins["host"] = asks.Host, "the call"
	}
	security, ask := asks.Security, asks.Ask
	if s.Elevated == "" {
		if security != "" {
			security = approval.StricterSecurity(r.Security, security)
		}
		if ask != "" {
			ask = approval.StricterAsk(r.Ask, ask)
		}
	}
	if security == r.Security {
		security = ""
	}
	if ask == r.Ask {
		ask = ""
	}
	r.lay(config.Override{Security: security, Ask: ask}, "the call")
	r.Node = asks.Node
	return r, nil
}

// lay puts an override on top.
func (r *route) lay(o config.Override, origin string) {
	if o.Host != "" {
		r.Host, r.Origins["host"] = o.Host, origin
	}
	if o.Security != "" {
		r.Security, r.Origins["security"] = o.Security, origin
	}
	if o.Ask != "" {
		r.Ask, r.Origins["ask"] = o.Ask, origin
	}
	if o.Node != "" {
		r.Bound, r.Origins["node"] = o.Node, origin
	}
}

// elevation is what a level of /elevated sets. The host's own file caps it.
func elevation(level string) config.Override {
	o := config.Override{Host: approval.HostGateway, Security: approval.SecurityFull}
	switch level {
	case "ask":
		o.Ask = approval.AskAlways
	case "full":
		o.Ask = approval.AskOff
	}
	return o
}

// heeded refuses a node that would not take our caution: what holds there
// could be less.
func (r *route) heeded(node *peer) error {
	if slices.Contains(node.caps, link.CapCaution) || r.Security == approval.SecurityFull && r.Ask == approval.AskOff {
		return nil
	}
	return link.Refuse(link.CodeInvalid, "the node %s decides by its own policy alone, and security=%s ask=%s is wanted here: set security=full and ask=off for it, or take a node of Countersign", node.device.ID, r.Security, r.Ask)
}

// denied refuses what may not run on a host at all.
func (r *route) denied() error {
	if r.Host == approval.HostSandbox || r.Security != approval.SecurityDeny {
		return nil
	}
	return &link.Error{
		Code: link.CodeUnavailable, Message: "SYSTEM_RUN_DISABLED: security=deny (" + r.Origins["security"] + ")", Details: []byte(`{"reason":"security=deny"}`),
	}
}
