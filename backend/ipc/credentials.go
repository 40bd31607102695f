package ipc

import (
	"encoding/json"
	"errors"

	"github.com/countersign-app/countersign/backend/approval"
)

// operates asks the door whether the peer may operate.
func (c *conn) operates(challenge string) error { return c.passes(challenge, c.s.door.MayOperate) }

// passesOn asks the door whether the peer may say what somebody said elsewhere.
func (c *conn) passesOn(challenge string) error { return c.passes(challenge, c.s.door.Ours) }

func (c *conn) passes(challenge string, door func(approval.Peer) error) error {
	if !c.ours {
		return errors.New("this process did not run Countersign's own program when it connected")
	}
	if err := c.still(door); err != nil {
		return err
	}
	if c.challenge == "" || !same(challenge, c.challenge) {
		return errors.New("this call does not carry the challenge of its connection: restart Countersign, if another version was installed")
	}
	return nil
}

// still asks the door about the peer, which must be who it was before and
// after, as far as the kernel tells: a connection can be passed on, and a
// process can become another program. macOS tells; on Linux it is always who
// connected.
func (c *conn) still(passes func(approval.Peer) error) error {
	if err := c.same(); err != nil {
		return err
	}
	if err := passes(c.peer); err != nil {
		return err
	}
	return c.same()
}

func (c *conn) same() error {
	if now, err := c.s.peerOf(c.nc); err != nil || now != c.at {
		return errors.New("the process that connected does not hold this connection any more")
	}
	return nil
}

// verify makes the checks of a signed frame, in the order of the protocol:
// ts, HMAC, nonce. It returns what verified the frame.
func (c *conn) verify(f frame) (credential, *Error) {
	now := c.s.now()
	if f.mistyped || f.ts == "" {
		return byNothing, invalidPayload()
	}
	if !fresh(f.ts, now, c.s.started) {
		return byNothing, invalid("expired request", reasonTTL)
	}
	by := byNothing
	if goodNonce(f.nonce) {
		by = c.s.credential(f)
	}
	if by == byNothing {
		return by, invalidAuth()
	}
	if !c.s.nonces.take(f.nonce, now) {
		return byNothing, invalid("expired request", approval.ReasonReplay)
	}
	return by, nil
}

// refuse answers a frame that goes no further, and counts it when its sender
// did not know the secret.
func (c *conn) refuse(f frame, e *Error) bool {
	c.send(refusal(f, e))
	if e != nil && e.Reason == reasonHMAC {
		return c.failed()
	}
	return true
}

// failed counts a failed authentication of this process.
func (c *conn) failed() bool {
	all := c.s.callers.failed(c.who)
	if all == nil {
		return true
	}
	c.s.log.Warn("a process failed to authenticate too often and is shut out for a minute",
		"pid", c.peer.PID, "program", c.peer.Exe)
	for _, other := range all {
		other.kill()
	}
	return false
}

// remember tells the door that this process asks, before it may, and each time:
// it can have other parents by now, and others can be in its family.
func (c *conn) remember(agent string) bool {
	family, err := c.s.door.Remember(c.peer, agent)
	if err != nil {
		c.s.log.Warn("a process that asks cannot be seen", "pid", c.peer.PID, "why", err)
		return false
	}
	c.family, c.looked = family, true
	return true
}

// asking is the peer with the family whose frames it sends: that of those for whom
// our program asks, else its own.
func (c *conn) asking() approval.Peer {
	if !c.looked {
		c.family, c.looked = c.s.door.Family(c.peer), true
	}
	peer := c.peer
	peer.Family = c.family
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.asker != "" {
		peer.Family = c.asker
	}
	return peer
}

// agentIn is what the parameters of a call name as the agent, for a refusal that
// says whose family a process is of. Whoever serves the call reads them strictly.
func agentIn(params json.RawMessage) string {
	var named struct {
		AgentID string `json:"agentId"`
	}
	_ = json.Unmarshal(params, &named)
	return named.AgentID
}
