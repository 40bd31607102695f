package host

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/ipc"
)

// leasesEnd takes back leases: one by its id, those of a session, or all.
func leasesEnd(h *Host, _ context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		ID         string `json:"id"`
		SessionKey string `json:"sessionKey"`
		All        bool   `json:"all"`
	}](c)
	if err != nil {
		return nil, err
	}
	if params.ID == "" && params.SessionKey == "" && !params.All {
		return nil, errors.New("cannot end leases: say which one, which session's, or all")
	}
	n, err := h.EndLeases(func(_ string, e approval.Entry) bool {
		return params.All || e.ID == params.ID && e.ID != "" || e.SessionKey == params.SessionKey && e.SessionKey != ""
	})
	if err != nil {
		return nil, err
	}
	if n == 0 && params.ID != "" {
		return nil, fmt.Errorf("no lease %s: see `countersign leases list`", display.Escape(params.ID))
	}
	return map[string]int{"ended": n}, nil
}
