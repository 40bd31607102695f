package host

import (
	"context"

	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/store"
)

// policyFederate takes a policy that a gateway signed, from anybody: its
// signature and its serial decide.
func policyFederate(h *Host, _ context.Context, c ipc.Call) (any, error) {
	signed, err := decode[store.SignedPolicy](c)
	if err != nil {
		return nil, err
	}
	if err := h.store.Federate(signed); err != nil {
		return nil, err
	}
	return struct{}{}, nil
}

// policyFollow has the policies of a gateway hold here too or, without a key,
// no more.
func policyFollow(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		Gateway string `json:"gateway"`
		Key     string `json:"key"`
	}](c)
	if err != nil {
		return nil, err
	}
	return h.update(ctx, c, "", Follow(params.Gateway, params.Key))
}

// Follow is the edit that policy.follow makes.
func Follow(gateway, key string) func(*store.Document) error {
	return func(d *store.Document) error {
		if key == "" {
			return d.Unfollow(gateway)
		}
		return d.Follow(store.PolicySource{Gateway: gateway, Key: key})
	}
}
