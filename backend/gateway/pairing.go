package gateway

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/countersign-app/countersign/backend/link"
)

// platforms are those whose nodes may run commands, with their families. A node
// that names another one is not believed.
var platforms = map[string]string{"macos": "mac", "linux": "linux", "windows": "windows"}

// surface fills in which commands of a node may be called: what it offers and
// a person approved. A person is asked about the rest.
func (p *peer) surface() {
	offers := p.offers
	if platforms[plain(p.device.Platform)] != plain(p.device.Family) || p.device.Family == "" {
		offers = slices.DeleteFunc(slices.Clone(offers), system)
	}
	p.commands = common(offers, p.device.Commands)
	if len(p.commands) == len(offers) {
		return
	}
	wants := p.device
	wants.Commands, wants.Secret = offers, ""
	var w *waiting
	err := p.devices.change(func(f *deviceFile) (err error) {
		w, err = f.wait(stageSurface, wants)
		return err
	})
	if err != nil {
		p.opt.Log.Error("cannot ask about the commands of a node", "device", p.device.ID, "error", err)
		return
	}
	if w.fresh {
		p.tell(scopePairing, "node.pair.requested", w)
	}
}

// plain is how platforms are compared: ASCII alone is folded.
func plain(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// system tells the commands that run programs or change what may run.
func system(command string) bool { return len(command) > 7 && command[:7] == "system." }

// offered are the commands of a node that may be called now.
func (p *peer) offered() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.commands
}

type requestParams struct {
	RequestID string `json:"requestId"`
}

// pairList lists who waits and who was let in, of one stage.
func pairList(stage, role string) func(*peer, context.Context, json.RawMessage) (any, error) {
	return func(p *peer, _ context.Context, _ json.RawMessage) (any, error) {
		f := p.devices.list()
		waits := slices.DeleteFunc(f.Waiting, func(w *waiting) bool { return w.Stage != stage })
		paired := slices.DeleteFunc(f.Devices, func(d device) bool { return role != "" && d.Role != role })
		for i := range paired {
			paired[i].Secret = ""
		}
		return map[string]any{"pending": waits, "paired": paired}, nil
	}
}

// pairApprove lets in who waits, or lets the commands of a node be called.
func pairApprove(stage, event string) func(*peer, context.Context, json.RawMessage) (any, error) {
	return func(p *peer, _ context.Context, params json.RawMessage) (any, error) {
		var q requestParams
		if err := read(params, &q); err != nil {
			return nil, err
		}
		var w *waiting
		err := p.devices.change(func(f *deviceFile) (err error) {
			if w, err = f.take(q.RequestID, stage); err != nil {
				return err
			}
			if err := p.mayApprove(w); err != nil {
				return err
			}
			if stage == stageDevice {
				_, err = f.put(w.device)
				return err
			}
			have := f.find(w.ID, w.Role)
			if have == nil {
				return link.Refuse(link.CodeInvalid, "the node was removed")
			}
			have.Commands = w.Commands
			return nil
		})
		if err != nil {
			return nil, err
		}
		if n := p.node(w.ID); n != nil && stage == stageSurface {
			n.mu.Lock()
			n.commands = common(n.offers, w.Commands)
			n.mu.Unlock()
		}
		p.tell(scopePairing, event, map[string]any{"requestId": w.RequestID, "deviceId": w.ID, "decision": "approved"})
		return map[string]any{"requestId": w.RequestID, "device": w.device}, nil
	}
}

// mayApprove refuses to hand out what the connection does not have itself.
// Whoever lets commands run needs every scope.
func (p *peer) mayApprove(w *waiting) error {
	if slices.ContainsFunc(w.Commands, system) && !p.may(scopeAdmin) {
		return link.Refuse(link.CodeInvalid, "missing scope: %s", scopeAdmin)
	}
	for _, scope := range w.Scopes {
		if !p.may(scope) {
			return link.Refuse(link.CodeInvalid, "missing scope: %s", scope)
		}
	}
	return nil
}

func pairReject(stage, event string) func(*peer, context.Context, json.RawMessage) (any, error) {
	return func(p *peer, _ context.Context, params json.RawMessage) (any, error) {
		var q requestParams
		if err := read(params, &q); err != nil {
			return nil, err
		}
		var w *waiting
		err := p.devices.change(func(f *deviceFile) (err error) {
			w, err = f.take(q.RequestID, stage)
			return err
		})
		if err != nil {
			return nil, err
		}
		p.tell(scopePairing, event, map[string]any{"requestId": w.RequestID, "deviceId": w.ID, "decision": "rejected"})
		return map[string]any{"requestId": w.RequestID, "deviceId": w.ID}, nil
	}
}

// pairRemove puts a device out: its token is worth nothing any more, and its
// connections end. A role removes it as that alone.
func pairRemove(role string) func(*peer, context.Context, json.RawMessage) (any, error) {
	return func(p *peer, _ context.Context, params json.RawMessage) (any, error) {
		var q struct {
			DeviceID string `json:"deviceId"`
			NodeID   string `json:"nodeId"`
		}
		if err := read(params, &q); err != nil {
			return nil, err
		}
		id := q.DeviceID + q.NodeID // one of them is empty
		gone := func(have device) bool { return have.ID == id && (role == "" || have.Role == role) }
		err := p.devices.change(func(f *deviceFile) error {
			if !slices.ContainsFunc(f.Devices, gone) {
				return link.Refuse(link.CodeInvalid, "unknown device")
			}
			f.Devices = slices.DeleteFunc(f.Devices, gone)
			f.Waiting = slices.DeleteFunc(f.Waiting, func(w *waiting) bool { return gone(w.device) })
			return nil
		})
		if err != nil {
			return nil, err
		}
		for _, other := range p.all() {
			if gone(other.device) {
				go other.hangUp("this device was removed")
			}
		}
		return map[string]any{"deviceId": id}, nil
	}
}

// rename gives a node another name.
func rename(p *peer, _ context.Context, params json.RawMessage) (any, error) {
	var q struct {
		NodeID string `json:"nodeId"`
		Name   string `json:"displayName"`
	}
	if err := read(params, &q); err != nil {
		return nil, err
	}
	if !isName(q.Name) {
		return nil, link.Refuse(link.CodeInvalid, "displayName must be from 1 to %d bytes of text that can be shown", maxName)
	}
	err := p.devices.change(func(f *deviceFile) error {
		have := f.find(q.NodeID, link.RoleNode)
		if have == nil {
			return link.Refuse(link.CodeInvalid, "unknown node")
		}
		have.Name, have.Renamed = q.Name, true
		return nil
	})
	if err != nil {
		return nil, err
	}
	return map[string]any{"nodeId": q.NodeID, "displayName": q.Name}, nil
}
