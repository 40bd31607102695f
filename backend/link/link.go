// Package link speaks the WebSocket of a gateway, for both of its ends:
// frames, the identity of a device, the handshake, and one connection on which
// both ends call each other.
//
// It knows words, not what they mean: what a method does is for the node and
// the gateway. Nothing that an end says before its handshake is over is handed
// to anybody.
//
// The wire is protocol 4 of OpenClaw 2026.9.
package link

import "time"

const (
	// Protocol is the version that we speak, and NodeProtocol the oldest one
	// that a node may offer.
	Protocol     = 4
	NodeProtocol = 3

	// MaxPayload is the longest frame in bytes, and MaxBuffered what may wait
	// for one connection.
	MaxPayload  = 25 << 20
	MaxBuffered = 50 << 20
	// maxEarly is the longest frame in bytes before the handshake is over.
	maxEarly = 64 << 10

	// TickInterval is how often a gateway sends a tick.
	TickInterval = 30 * time.Second
	// shake is how long a handshake may take.
	shake = 15 * time.Second
	// patience is how long one frame may take to be written.
	patience = 10 * time.Second
)

// Roles of a connection.
const (
	RoleNode     = "node"
	RoleOperator = "operator"
)
