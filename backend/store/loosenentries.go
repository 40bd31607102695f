package store

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/programs"
)

// maxCandidates bounds how many old entries with one pattern are tried.
const maxCandidates = 64

// entries compares one allowlist. Each old entry can stand for one new entry
// only, so that a lease cannot be had twice.
func (c *comparison) entries(id string) (kept []approval.Entry) {
	equal, pattern := map[string]int{}, map[string][]approval.Entry{}
	if agent := c.old.Agents[id]; agent != nil {
		for _, e := range agent.Allowlist {
			equal[permissionKey(e.Entry)]++
			pattern[e.Pattern] = append(pattern[e.Pattern], e.Entry)
		}
	}
	var rest []approval.Entry
	for _, e := range c.new.Agents[id].Allowlist {
		key := permissionKey(e.Entry)
		if equal[key] == 0 {
			rest = append(rest, e.Entry)
			continue
		}
		equal[key]--
		kept = append(kept, e.Entry)
	}
	var looser []approval.Entry
	for _, e := range rest {
		if e.Disabled || takeWider(equal, pattern[e.Pattern], e) {
			kept = append(kept, e)
			continue
		}
		looser = append(looser, e)
	}
	for _, e := range looser {
		line := Line{Agent: id, Kind: LineRule, Entry: permission(e)}
		if before, gone := takeOne(equal, pattern[e.Pattern]); gone {
			line.Changes, line.Before = true, permission(before)
		}
		if pattern[e.Pattern] != nil {
			c.say(line, "agents.%s.allowlist: the entry %q changes%s", plain(id), e.Pattern, conditions(e, ", and has no conditions now"))
			continue
		}
		c.say(line, "agents.%s.allowlist: the entry %q is new%s", plain(id), e.Pattern, conditions(e, ""))
	}
	return kept
}

// conditions says all that counts of an entry beside its pattern, as the file has
// it, and none where nothing does.
func conditions(e approval.Entry, none string) string {
	e = permission(e)
	e.Pattern = ""
	text, _ := json.Marshal(e) // plain fields cannot fail
	var fields map[string]json.RawMessage
	_ = json.Unmarshal(text, &fields)
	delete(fields, "pattern")
	if len(fields) == 0 {
		return none
	}
	var said []string
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		said = append(said, name+" "+string(fields[name]))
	}
	return ", with " + strings.Join(said, ", ")
}

// takeOne uses up one of the old entries that are there no more.
func takeOne(left map[string]int, candidates []approval.Entry) (e approval.Entry, gone bool) {
	for _, old := range candidates[:min(len(candidates), maxCandidates)] {
		if key := permissionKey(old); left[key] > 0 {
			left[key]--
			return old, true
		}
	}
	return e, false
}

// takeWider uses up one of the old entries that permits all that e permits.
func takeWider(left map[string]int, candidates []approval.Entry, e approval.Entry) bool {
	for _, old := range candidates[:min(len(candidates), maxCandidates)] {
		if key := permissionKey(old); left[key] > 0 && narrows(old, e) {
			left[key]--
			return true
		}
	}
	return false
}

// permission is an entry without what does not count for a decision. When the
// lease of a session was given counts: from then on it lasts.
func permission(e approval.Entry) approval.Entry {
	e.ExpiresAt = e.Ends()
	if e.SessionKey == "" {
		e.AddedAt = 0
	}
	e.ID, e.Note, e.AddedBy, e.AddedFor = "", "", "", ""
	e.LastUsedAt, e.LastUsedCommand, e.LastResolvedPath = 0, "", ""
	return e
}

// permissionKey is equal for entries that permit the same.
func permissionKey(e approval.Entry) string {
	text, _ := json.Marshal(permission(e)) // plain fields cannot fail
	return string(text)
}

// plainProgram reports whether an entry is for one known program that does
// not give a command more rights: an entry for one that does counts only once
// it names arguments.
func plainProgram(e approval.Entry) bool {
	plain := func(file string) bool { return !programs.Raises(path.Base(file)) }
	return !strings.ContainsAny(e.Pattern, "*?[{") && plain(e.Pattern) && len(e.Identity) > 0 &&
		!slices.ContainsFunc(e.Identity, func(id approval.Identity) bool { return !plain(id.Path) })
}

// NoWider reports whether an entry surely permits no more than another one for the
// same program, whatever files were recorded under them.
func NoWider(than, e approval.Entry) bool {
	than.Identity, than.Interpreters, than.Links = e.Identity, e.Interpreters, e.Links
	return than.Pattern == e.Pattern && narrows(than, e)
}

// narrows reports whether new surely permits no more than old, which is
// switched on: a condition is new or, for a lease, ends earlier. Identities
// must be the same: without one, the next program found is taken as known.
func narrows(old, new approval.Entry) bool {
	condition := func(old, new string) bool { return old == "" || old == new }
	switch {
	case old.Disabled,
		old.Source != new.Source,
		!slices.Equal(old.Identity, new.Identity), !slices.Equal(old.Interpreters, new.Interpreters), !slices.Equal(old.Links, new.Links),
		!maps.Equal(old.When, new.When),
		!carriesLess(old.Env, new.Env),
		!among(old.Allows, new.Allows), !among(old.Hosts, new.Hosts), len(old.Hosts) > 0 && len(new.Hosts) == 0, old.Input != new.Input,
		!condition(old.ArgPattern, new.ArgPattern),
		!condition(old.Cwd, new.Cwd),
		!condition(old.SessionKey, new.SessionKey),
		!condition(old.RequireIdentity, new.RequireIdentity):
		return false
	case old.Ends() != 0 && (new.Ends() == 0 || new.Ends() > old.Ends()),
		old.UsesLeft != nil && (new.UsesLeft == nil || *new.UsesLeft > *old.UsesLeft):
		return false
	case old.SessionKey != "" && old.AddedAt != new.AddedAt && (new.AddedAt == 0 || new.AddedAt > old.AddedAt):
		return false // without the time only the history tells when its session was over
	case len(old.Args) == 0 && len(new.Args) > 0 && !plainProgram(new):
		return false
	case old.ArgsExact:
		return new.ArgsExact && slices.Equal(old.Args, new.Args)
	}
	return len(new.Args) >= len(old.Args) && slices.Equal(old.Args, new.Args[:len(old.Args)])
}

// among reports whether all that new names is named by old too.
func among[T comparable](old, new []T) bool {
	return !slices.ContainsFunc(new, func(v T) bool { return !slices.Contains(old, v) })
}

// carriesLess reports whether new carries no variable and no value that old does not.
func carriesLess(old, new map[string][]string) bool {
	for name, values := range new {
		if slices.Contains(old[name], approval.AnyValue) {
			continue
		}
		if slices.ContainsFunc(values, func(v string) bool { return !slices.Contains(old[name], v) }) {
			return false
		}
	}
	return true
}
