package node

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/link"
	"github.com/countersign-app/countersign/backend/store"
)

// eventPolicy is how a gateway tells that it has another policy for its nodes.
const eventPolicy = "policy.changed"

// pull has the host hold to the policy that the gateway signed, if it has one,
// now, whenever the gateway says that it is another one and, where that failed,
// more and more rarely: an older one holds meanwhile. Whether it counts is for
// the host: it knows the key.
func (s *session) pull(ctx context.Context) {
	wait := firstPull
	for said := ""; ctx.Err() == nil; {
		var again <-chan time.Time
		if err := s.pullOnce(ctx); err != nil {
			again, wait = time.After(wait), min(2*wait, lastPull)
			if text := display.Escape(err.Error()); text != said && ctx.Err() == nil {
				s.opt.Log.Warn("the policy of the gateway does not hold here", "error", text)
				said = text
			}
		} else {
			wait, said = firstPull, ""
		}
		select {
		case <-ctx.Done():
		case <-again:
		case <-s.policy:
			wait = firstPull
		}
	}
}

// firstPull and lastPull are how long to wait after one failed.
const (
	firstPull = time.Second
	lastPull  = 10 * time.Minute
)

func (s *session) pullOnce(ctx context.Context) error {
	var text json.RawMessage
	err := s.conn.Call(ctx, "policy.pull", struct{}{}, &text)
	var refused *link.Error
	switch {
	case errors.As(err, &refused) && refused.Code == link.CodeInvalid: // it signs no policies
		return nil
	case err != nil:
		return err
	case len(text) == 0 || string(text) == "null":
		return nil
	}
	var signed store.SignedPolicy
	if err := json.Unmarshal(text, &signed); err != nil {
		return errors.New("it cannot be read")
	}
	if err := s.road.Call(ctx, "policy.federate", signed, nil); err != nil {
		return err
	}
	s.opt.Log.Info("the policy of the gateway holds here", "serial", signed.Serial)
	return nil
}
