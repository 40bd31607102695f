package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"

	"github.com/countersign-app/countersign/backend/link"
)

// maxPolicy is more than any signed policy that a node takes, in bytes.
const maxPolicy = 256 << 10

// pullPolicy gives a node the policy that was signed for the nodes, null where
// there is none. The gateway holds no key: it cannot change it.
func pullPolicy(p *peer, _ context.Context, _ json.RawMessage) (any, error) {
	info, err := os.Stat(p.opt.State.GatewayPolicy())
	if errors.Is(err, fs.ErrNotExist) {
		return json.RawMessage("null"), nil
	}
	var text []byte
	if err == nil && info.Mode().IsRegular() && info.Size() <= maxPolicy {
		text, err = os.ReadFile(p.opt.State.GatewayPolicy())
	}
	if err != nil || !json.Valid(text) {
		p.opt.Log.Error("the policy for the nodes cannot be read", "file", p.opt.State.GatewayPolicy())
		return nil, link.Refuse(link.CodeUnavailable, "the policy cannot be read")
	}
	return json.RawMessage(text), nil
}

// tellPolicy has the nodes pull a policy that is new.
func (g *Gateway) tellPolicy() {
	info, err := os.Stat(g.opt.State.GatewayPolicy())
	if err != nil {
		return
	}
	was := g.policySeen
	g.policySeen = info
	if was != nil && was.ModTime().Equal(info.ModTime()) && os.SameFile(was, info) {
		return
	}
	for _, p := range g.all() {
		if p.role == link.RoleNode {
			p.begin(func(ctx context.Context) { _ = p.conn.Send(ctx, "policy.changed", struct{}{}) })
		}
	}
}
