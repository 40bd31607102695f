package link

// challenge is what a gateway says first.
type challenge struct {
	Nonce string `json:"nonce"`
	TS    int64  `json:"ts"` // unix milliseconds
}

const (
	eventChallenge = "connect.challenge"
	methodConnect  = "connect"
	// EventTick is what a gateway sends so that a silent line can be told from
	// a dead one.
	EventTick = "tick"
)

// Client says what program connects.
type Client struct {
	ID           string `json:"id"`
	DisplayName  string `json:"displayName,omitempty"`
	Version      string `json:"version"`
	Platform     string `json:"platform"`
	DeviceFamily string `json:"deviceFamily,omitempty"`
	Mode         string `json:"mode"`
	InstanceID   string `json:"instanceId,omitempty"`
}

// Auth is what a connection may be let in for. One of them is enough.
type Auth struct {
	Token       string `json:"token,omitempty"`       // shared with the gateway
	DeviceToken string `json:"deviceToken,omitempty"` // given to this device
	Password    string `json:"password,omitempty"`
}

// secret is what goes into the signed text.
func (a *Auth) secret() string {
	switch {
	case a == nil:
		return ""
	case a.Token != "":
		return a.Token
	}
	return a.DeviceToken
}

// CapCaution is the cap of a node that takes the security and ask of a command
// as what holds at least.
const CapCaution = "countersign.caution"

// Connect is the first request of a connection: who connects, as what, and
// what it offers.
type Connect struct {
	MinProtocol int             `json:"minProtocol"`
	MaxProtocol int             `json:"maxProtocol"`
	Client      Client          `json:"client"`
	Role        string          `json:"role"`
	Scopes      []string        `json:"scopes"`
	Caps        []string        `json:"caps"`
	Commands    []string        `json:"commands,omitempty"` // that a node runs
	Permissions map[string]bool `json:"permissions,omitempty"`
	PathEnv     string          `json:"pathEnv,omitempty"`
	Auth        *Auth           `json:"auth,omitempty"`
	Device      *Proof          `json:"device,omitempty"`
}

// Hello is the answer of a gateway that let a connection in.
type Hello struct {
	Type     string   `json:"type"`
	Protocol int      `json:"protocol"`
	Server   Server   `json:"server"`
	Features Features `json:"features"`
	Snapshot struct{} `json:"snapshot"`
	Auth     Granted  `json:"auth"`
	Policy   Limits   `json:"policy"`
}

const typeHello = "hello-ok"

// Server names a gateway and this connection to it.
type Server struct {
	Version string `json:"version"`
	ConnID  string `json:"connId"`
}

// Features are what a gateway knows.
type Features struct {
	Methods []string `json:"methods"`
	Events  []string `json:"events"`
}

// Granted is what a connection may do. A DeviceToken lets the device in from
// then on.
type Granted struct {
	DeviceToken string   `json:"deviceToken,omitempty"`
	Role        string   `json:"role"`
	Scopes      []string `json:"scopes"`
}

// Limits are what a connection must keep to.
type Limits struct {
	MaxPayload   int   `json:"maxPayload"`       // bytes of a frame
	MaxBuffered  int   `json:"maxBufferedBytes"` // bytes that wait to be read
	TickInterval int64 `json:"tickIntervalMs"`
}
