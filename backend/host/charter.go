package host

import (
	"context"
	"fmt"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/config"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/store"
)

// UseCharter is the edit that has a charter hold for an agent, as its file is
// now.
func UseCharter(files config.Charters, home, agentID, name string) (func(*store.Document) error, error) {
	charter, sum, err := files.Read(name)
	if err != nil {
		return nil, err
	}
	permits := charter.Permits(name)
	for i := range permits {
		if permits[i].Leased() { // it ends some time after it is given
			permits[i].AddedAt = time.Now().UnixMilli()
		}
		if _, tool := approval.ToolPattern(permits[i].Pattern); !tool {
			RecordIdentity(&permits[i], home)
		}
	}
	return func(d *store.Document) error {
		return d.UseCharter(agentID, approval.CharterRef{Name: name, SHA256: sum}, permits)
	}, nil
}

// chartersUse has a charter hold for an agent, or with drop no more.
func chartersUse(h *Host, ctx context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		AgentID string `json:"agentId"`
		Name    string `json:"name"`
		SHA256  string `json:"sha256"` // of the version that the person looked at
		Drop    bool   `json:"drop"`
	}](c)
	if err != nil {
		return nil, err
	}
	if params.Drop {
		return h.update(ctx, c, "", func(d *store.Document) error { return d.DropCharter(params.AgentID, params.Name) })
	}
	files := config.Charters{Dir: h.opt.State.Charters()}
	charter, sum, err := files.Read(params.Name)
	switch {
	case err != nil:
		return nil, err
	case sum != params.SHA256:
		return nil, fmt.Errorf("the charter %s was changed meanwhile: look at it again", params.Name)
	}
	use, err := UseCharter(files, h.opt.Home, params.AgentID, params.Name)
	if err != nil {
		return nil, err
	}
	return h.update(ctx, c, "", func(d *store.Document) error {
		if err := use(d); err != nil {
			return err
		}
		return d.CharterIs(params.AgentID, params.Name, params.SHA256)
	}, charterLines(params.Name, charter)...)
}

// charterLines say what a charter forbids and asks about, which the policy holds by
// a hash alone: another version can do less.
func charterLines(name string, c config.Charter) []string {
	line := func(does string, list []string) string {
		if len(list) == 0 {
			return fmt.Sprintf("The charter %s %s nothing", name, does)
		}
		return fmt.Sprintf("The charter %s %s %q", name, does, list)
	}
	return []string{line("forbids", c.AlwaysReject), line("asks each time about", c.RequireConfirmation), line("hands on to the next approver", c.Escalate)}
}
