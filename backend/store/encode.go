package store

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"

	"github.com/countersign-app/countersign/backend/approval"
)

// object is a JSON object on its way to text; its keys get sorted.
type object map[string]any

// Encode returns the text of the document: indented, with sorted keys and a
// final newline, so that equal documents are equal texts.
func (d *Document) Encode() ([]byte, error) {
	top := with(d.Extra)
	top["version"] = 1
	socket := with(d.Socket.Extra)
	put(socket, "path", d.Socket.Path)
	put(socket, "token", d.Socket.Token)
	top["socket"] = socket
	top["defaults"] = d.Defaults.object()
	agents := object{}
	for id, agent := range d.Agents {
		agents[id] = agent.object()
	}
	top["agents"] = agents
	putList(top, "projects", d.Projects, itself)

	var text bytes.Buffer
	to := json.NewEncoder(&text)
	to.SetEscapeHTML(false)
	to.SetIndent("", "  ")
	if err := to.Encode(top); err != nil {
		return nil, fmt.Errorf("cannot write the policy as JSON: %w", err)
	}
	return text.Bytes(), nil
}

func (r *Rules) object() object {
	o := with(r.Extra)
	put(o, "security", r.Security)
	put(o, "ask", r.Ask)
	put(o, "askFallback", r.AskFallback)
	put(o, "autoAllowSkills", r.AutoAllowSkills)
	put(o, "presence", r.Presence)
	putList(o, "denylist", r.Denylist, denyRuleValue)
	putList(o, "safeBins", r.SafeBins, itself)
	putList(o, "safeBinTrustedDirs", r.SafeBinTrustedDirs, itself)
	putList(o, "skillBins", r.SkillBins, itself)
	return o
}

func (a *Agent) object() object {
	o := a.Rules.object()
	put(o, "displayName", a.DisplayName)
	put(o, "color", a.Color)
	putList(o, "acceptAnswersFrom", a.AcceptAnswersFrom, itself)
	putList(o, "allowlist", a.Allowlist, Entry.object)
	return o
}

func (e Entry) object() object {
	o := with(e.Extra)
	put(o, "id", e.ID)
	put(o, "pattern", e.Pattern)
	put(o, "source", e.Source)
	put(o, "argPattern", e.ArgPattern)
	if len(e.Args) > 0 {
		o["args"] = e.Args
	}
	put(o, "argsExact", e.ArgsExact)
	put(o, "cwd", e.Cwd)
	if len(e.Env) > 0 {
		o["env"] = e.Env
	}
	if len(e.Allows) > 0 {
		o["allows"] = e.Allows
	}
	if len(e.Hosts) > 0 {
		o["hosts"] = e.Hosts
	}
	put(o, "input", e.Input)
	if len(e.When) > 0 {
		o["when"] = e.When
	}
	put(o, "expiresAt", e.ExpiresAt)
	put(o, "usesLeft", e.UsesLeft)
	put(o, "sessionKey", e.SessionKey)
	if len(e.Identity) > 0 {
		o["identity"] = e.Identity
	}
	if len(e.Interpreters) > 0 {
		o["interpreters"] = e.Interpreters
	}
	if len(e.Links) > 0 {
		o["links"] = e.Links
	}
	put(o, "requireIdentity", e.RequireIdentity)
	put(o, "disabled", e.Disabled)
	put(o, "note", e.Note)
	put(o, "addedAt", e.AddedAt)
	put(o, "addedBy", e.AddedBy)
	put(o, "addedFor", e.AddedFor)
	put(o, "lastUsedAt", e.LastUsedAt)
	put(o, "lastUsedCommand", e.LastUsedCommand)
	put(o, "lastResolvedPath", e.LastResolvedPath)
	return o
}

// denyRuleValue writes a rule the way people do: a pattern alone is a string.
func denyRuleValue(d approval.DenyRule) any {
	if len(d.Args) == 0 && d.Reason == "" && !d.Anywhere {
		return d.Pattern
	}
	return d
}

func itself[T any](v T) T { return v }

func with(extra Extra) object {
	o := make(object, len(extra)+8)
	for key, value := range maps.All(extra) {
		o[key] = value
	}
	return o
}

// put writes a value that says something.
func put[T comparable](o object, key string, value T) {
	var nothing T
	if value != nothing {
		o[key] = value
	}
}

// putList writes a list, also an empty one: it can mean "none".
func putList[T, V any](o object, key string, list []T, item func(T) V) {
	if list == nil {
		return
	}
	values := make([]V, len(list))
	for i, v := range list {
		values[i] = item(v)
	}
	o[key] = values
}
