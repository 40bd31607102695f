package host

import (
	"context"
	"encoding/json"

	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/store"
)

// PolicyFile is the policy file as others may see it: without the request
// token. It is what `policy.file` returns.
type PolicyFile struct {
	Path   string          `json:"path"`
	Exists bool            `json:"exists"`
	File   json.RawMessage `json:"file"`
	Hash   string          `json:"hash"`
	// Held says what of a proposal waits for a person.
	Held []string `json:"held,omitempty"`
}

func policyFile(h *Host, _ context.Context, _ ipc.Call) (any, error) {
	return h.policyFile(h.store.Snapshot())
}

func (h *Host) policyFile(snap store.Snapshot) (any, error) {
	if snap.Broken != nil {
		return nil, snap.Broken
	}
	doc := *snap.Document
	doc.Socket.Token = ""
	text, err := doc.Encode()
	if err != nil {
		return nil, err
	}
	f := PolicyFile{Path: h.opt.State.Approvals(), Exists: true, File: text, Hash: snap.Hash}
	if snap.Held != nil {
		f.Held = snap.Held.Loosens
	}
	return f, nil
}

// policyPropose takes {file, baseHash} from somebody who may only ask.
func policyPropose(h *Host, _ context.Context, c ipc.Call) (any, error) {
	params, err := decode[struct {
		File     json.RawMessage `json:"file"`
		BaseHash string          `json:"baseHash"`
	}](c)
	if err != nil {
		return nil, err
	}
	snap, err := h.store.Propose(params.BaseHash, params.File)
	if err != nil {
		return nil, err
	}
	return h.policyFile(snap)
}
