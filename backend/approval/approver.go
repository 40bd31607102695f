package approval

import (
	"net/url"
	"time"
)

// Approver is one of those whom a question goes to, one after the other: the
// person here, or the operators of a gateway.
type Approver struct {
	Who ApproverKind `json:"who"`
	// URL is the address of the gateway, ws:// or wss://.
	URL string `json:"url,omitempty"`
	// Seconds is how long it has before the next one is asked too.
	Seconds int `json:"seconds"`
}

// ApproverKind says who an approver is.
type ApproverKind string

const (
	ApproverPerson  ApproverKind = "person"
	ApproverGateway ApproverKind = "gateway"
)

func (k *ApproverKind) UnmarshalText(b []byte) error {
	return closed(k, "approver", b, []ApproverKind{ApproverPerson, ApproverGateway})
}

// Time is how long the approver has.
func (a Approver) Time() time.Duration { return time.Duration(a.Seconds) * time.Second }

// Gateway is the name by which answers of a gateway are accepted, HOST:PORT of
// its address; "" for no gateway.
func (a Approver) Gateway() string { return GatewayName(a.URL) }

// GatewayName is HOST:PORT of the address of a gateway, "" for what is none.
func GatewayName(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "ws" && u.Scheme != "wss" {
		return ""
	}
	return u.Host
}

// MCPClient stands among those whose answers count for an agent for its own MCP
// client (acceptAnswersFrom). It is no gateway: see store.Snapshot.
const MCPClient = "mcp-client"

// ByClient begins Answer.By where an MCP client answered; the agent's id follows.
const ByClient = "mcp client "

// ByGateway is Answer.By where the operators of a gateway answered, and which of
// them, as far as the gateway tells.
func ByGateway(gateway, operator string) string {
	if operator == "" {
		return "gateway " + gateway
	}
	return "gateway " + gateway + ", operator " + operator
}

// Turn is when a gateway is asked about a question, beside the person here.
type Turn struct {
	URL  string `json:"url"`
	From int64  `json:"from"` // unix milliseconds
	// DenyOnly tells that a yes from there does not count.
	DenyOnly bool `json:"denyOnly,omitempty"`
}
