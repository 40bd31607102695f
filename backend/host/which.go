package host

import (
	"context"
	"fmt"

	"github.com/countersign-app/countersign/backend/ipc"
)

// maxBins is how many programs one call may look for.
const maxBins = 1000

// which finds programs as a command would: {bins} returns the paths of those
// that are there.
func which(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		Bins []string `json:"bins"`
	}](c)
	if err != nil {
		return nil, err
	}
	if len(params.Bins) > maxBins {
		return nil, fmt.Errorf("cannot look for more than %d programs at once", maxBins)
	}
	m, err := h.ready(ctx)
	if err != nil {
		return nil, err
	}
	found := map[string]string{}
	for _, name := range params.Bins {
		if path := m.Analyzer.Which(name); path != "" {
			found[name] = path
		}
	}
	return map[string]any{"bins": found}, nil
}
