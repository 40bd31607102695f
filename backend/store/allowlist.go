package store

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
)

// Bounds of an allowlist that comes from a file: its size in bytes, and how
// many entries it has.
const (
	MaxImport        = 1 << 20
	maxImportEntries = 10_000
)

// EncodeAllowlist returns an allowlist as the text of a policy file that holds
// nothing else. What an entry was used for, and which files this machine has for
// it, are left out.
func EncodeAllowlist(agentID string, list []Entry) ([]byte, error) {
	d := &Document{}
	agent := d.Agent(agentID)
	agent.Allowlist = []Entry{}
	for _, e := range list {
		agent.Allowlist = append(agent.Allowlist, Entry{Entry: carried(e.Entry), Extra: e.Extra})
	}
	return d.Encode()
}

// ParseAllowlist reads an allowlist out of a policy file: the one of the agent,
// or else that of the only one it has a list of. Everything in the file is
// checked as by Parse, and its other settings are not looked at. An entry with a
// field that we do not know is refused, because the field may narrow it. What
// comes back says nothing of use, and claims nothing of files.
func ParseAllowlist(name string, text []byte, home, agentID string) ([]approval.Entry, error) {
	if len(text) > MaxImport {
		return nil, &FieldError{name, 0, "", "is larger than 1 MiB"}
	}
	d, err := Parse(name, text, home)
	if err != nil {
		return nil, err
	}
	from, err := d.listed(agentID)
	if err != nil {
		return nil, &FieldError{name, 0, "agents", err.Error()}
	}
	list := d.Agents[from].Allowlist
	if len(list) > maxImportEntries {
		return nil, &FieldError{name, 0, "agents." + from + ".allowlist", fmt.Sprintf("has more than %d entries", maxImportEntries)}
	}
	var entries []approval.Entry
	for i, e := range list {
		for _, key := range slices.Sorted(maps.Keys(e.Extra)) {
			return nil, &FieldError{name, 0, fmt.Sprintf("agents.%s.allowlist[%d].%s", from, i, key), unknownKey}
		}
		entries = append(entries, carried(e.Entry))
	}
	return entries, nil
}

// listed returns whose list is meant.
func (d *Document) listed(agentID string) (string, error) {
	var with []string
	for _, id := range slices.Sorted(maps.Keys(d.Agents)) {
		if len(d.Agents[id].Allowlist) > 0 {
			with = append(with, id)
		}
	}
	switch {
	case slices.Contains(with, agentID):
		return agentID, nil
	case len(with) == 1:
		return with[0], nil
	case len(with) == 0:
		return "", errors.New("have no entries")
	}
	return "", fmt.Errorf("several have entries (%d), and %q is none of them", len(with), agentID)
}

// carried is what of an entry means the same elsewhere.
func carried(e approval.Entry) approval.Entry {
	e.ID, e.Source, e.AddedAt, e.AddedBy, e.AddedFor = "", "", 0, "", ""
	e.LastUsedAt, e.LastUsedCommand, e.LastResolvedPath = 0, "", ""
	e.Identity, e.Interpreters, e.Links = nil, nil, nil
	return e
}

// Missing tells of each entry whether an agent has none like it, and neither
// does the list before it. One that is switched off counts, and so does one that
// has learned which files run under it.
func (d *Document) Missing(agentID string, list []approval.Entry) []bool {
	have := map[string]bool{}
	key := func(e approval.Entry) string {
		e = carried(e)
		e.Disabled = false
		return permissionKey(e)
	}
	if agent := d.Agents[agentID]; agent != nil {
		for _, e := range agent.Allowlist {
			have[key(e.Entry)] = true
		}
	}
	missing := make([]bool, len(list))
	for i, e := range list {
		missing[i] = !have[key(e)]
		have[key(e)] = true
	}
	return missing
}
