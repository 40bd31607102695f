package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/countersign-app/countersign/backend/link"
)

// nodeInfo is a node that was let in, as it is now.
type nodeInfo struct {
	ID        string   `json:"nodeId"`
	Name      string   `json:"displayName,omitempty"`
	Platform  string   `json:"platform,omitempty"`
	Family    string   `json:"deviceFamily,omitempty"`
	Version   string   `json:"version,omitempty"`
	IP        string   `json:"remoteIp,omitempty"`
	Caps      []string `json:"caps"`
	Commands  []string `json:"commands"` // that may be called
	Waiting   []string `json:"pendingCommands,omitempty"`
	Paired    bool     `json:"paired"`
	Connected bool     `json:"connected"`
	Since     int64    `json:"connectedAtMs,omitempty"`
	Approved  int64    `json:"approvedAtMs,omitempty"`
}

// known are all nodes that were let in.
func (g *Gateway) known() []nodeInfo {
	f := g.devices.list()
	waits := map[string][]string{}
	for _, w := range f.Waiting {
		if w.Stage == stageSurface {
			waits[w.ID] = w.Commands
		}
	}
	list := []nodeInfo{}
	for _, d := range f.Devices {
		if d.Role != link.RoleNode {
			continue
		}
		n := nodeInfo{
			ID: d.ID, Name: d.Name, Platform: d.Platform, Family: d.Family, IP: d.IP, Caps: []string{}, Commands: []string{},
			Paired: true, Approved: d.Since, Waiting: waits[d.ID],
		}
		if p := g.node(d.ID); p != nil {
			n.Connected, n.Since, n.Version, n.IP = true, p.since.UnixMilli(), p.client.Version, p.ip
			n.Caps, n.Commands = p.caps, p.offered()
		}
		list = append(list, n)
	}
	slices.SortFunc(list, func(a, b nodeInfo) int { return strings.Compare(a.ID, b.ID) })
	return list
}

func nodeList(p *peer, _ context.Context, _ json.RawMessage) (any, error) {
	return map[string]any{"ts": time.Now().UnixMilli(), "nodes": p.known()}, nil
}

func nodeDescribe(p *peer, _ context.Context, params json.RawMessage) (any, error) {
	var q struct {
		NodeID string `json:"nodeId"`
	}
	if err := read(params, &q); err != nil {
		return nil, err
	}
	for _, n := range p.known() {
		if n.ID == q.NodeID {
			return n, nil
		}
	}
	return nil, link.Refuse(link.CodeInvalid, "unknown nodeId")
}

// minPrefix is how much of an id names a node.
const minPrefix = 6

// find returns the node that a query names: by its id, its name, its address
// or the beginning of its id, in this order. Nodes that are connected come
// before those that are not.
func find(query string, list []nodeInfo) (nodeInfo, error) {
	ways := []func(nodeInfo) bool{
		func(n nodeInfo) bool { return n.ID == query },
		func(n nodeInfo) bool { return normal(query) != "" && normal(n.Name) == normal(query) },
		func(n nodeInfo) bool { return n.IP == query },
		func(n nodeInfo) bool { return len(query) >= minPrefix && strings.HasPrefix(n.ID, query) },
	}
	for _, fits := range ways {
		var all, connected []nodeInfo
		for _, n := range list {
			if fits(n) {
				all = append(all, n)
				if n.Connected {
					connected = append(connected, n)
				}
			}
		}
		switch {
		case len(connected) == 1:
			return connected[0], nil
		case len(connected) > 1:
			return nodeInfo{}, link.Refuse(link.CodeInvalid, "ambiguous node: %q is %s", query, names(connected))
		case len(all) == 1:
			return all[0], nil
		case len(all) > 1:
			return nodeInfo{}, link.Refuse(link.CodeInvalid, "ambiguous node: %q is %s, and none of them is connected", query, names(all))
		}
	}
	return nodeInfo{}, link.Refuse(link.CodeInvalid, "unknown node: %q (known: %s)", query, names(list))
}

// normal is how names are compared: letters and digits in lower case, and one
// dash for everything between them.
func normal(name string) string {
	words := strings.FieldsFunc(strings.ToLower(norm.NFC.String(name)), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) })
	return strings.Join(words, "-")
}

func names(list []nodeInfo) string {
	if len(list) == 0 {
		return "none"
	}
	var out []string
	for _, n := range list {
		out = append(out, fmt.Sprintf("%s (%s)", n.Name, n.ID[:min(len(n.ID), 12)]))
	}
	return strings.Join(out, ", ")
}

// choose picks the node where a command runs: the one that was asked for, else
// the one that the agent is bound to, else the only one that there is. An
// agent that is bound gets no other one.
func choose(asked, bound string, list []nodeInfo) (nodeInfo, error) {
	var n nodeInfo
	var err error
	switch {
	case asked != "":
		if n, err = find(asked, list); err != nil {
			return n, err
		}
		if bound == "" {
			break
		}
		if to, err := find(bound, list); err != nil || to.ID != n.ID {
			return n, link.Refuse(link.CodeInvalid, "exec node not allowed (bound to %s, requested resolved to %s)", bound, n.ID)
		}
	case bound != "":
		if n, err = find(bound, list); err != nil {
			return n, err
		}
	default:
		fit := slices.DeleteFunc(slices.Clone(list), func(n nodeInfo) bool { return !n.Connected || !slices.Contains(n.Commands, link.CommandRun) })
		switch len(fit) {
		case 1:
			return fit[0], nil
		case 0:
			return n, link.Refuse(link.CodeUnavailable, "no node is connected that may run commands (known: %s)", names(list))
		}
		return n, link.Refuse(link.CodeInvalid, "several nodes may run commands, so name one: %s", names(fit))
	}
	switch {
	case !n.Connected:
		return n, link.Refuse(link.CodeUnavailable, "the node %s is not connected", names([]nodeInfo{n}))
	case !slices.Contains(n.Commands, link.CommandRun):
		return n, link.Refuse(link.CodeInvalid, "the node %s may not run commands: approve what it offers", names([]nodeInfo{n}))
	}
	return n, nil
}
