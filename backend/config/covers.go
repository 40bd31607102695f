package config

import (
	"reflect"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/programs"
	"github.com/countersign-app/countersign/backend/toolnames"
)

// both returns what two lists have in common: of two that meet the narrower one. A
// list that is not there says nothing.
func both[T any](a, b []T, covers func(wide, narrow T) bool) []T {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	list := []T{}
	add := func(x T) {
		if !slices.ContainsFunc(list, func(y T) bool { return reflect.DeepEqual(x, y) }) {
			list = append(list, x)
		}
	}
	for _, x := range a {
		for _, y := range b {
			switch {
			case covers(y, x):
				add(x)
			case covers(x, y):
				add(y)
			}
		}
	}
	return list
}

// covers reports whether an entry surely permits all that another one does. Programs
// meet by the same pattern alone: one with a wildcard does not stand for all that
// its text matches. What it does not know must be the same.
func covers(wide, narrow approval.Entry) bool {
	wideTool, isTool := approval.ToolPattern(wide.Pattern)
	if tool, ok := approval.ToolPattern(narrow.Pattern); ok != isTool || isTool && !coversTool(wideTool, tool) || !isTool && wide.Pattern != narrow.Pattern {
		return false
	}
	set := func(wide, narrow string) bool { return wide == "" || wide == narrow }
	switch {
	case !coversArgs(wide, narrow),
		!set(wide.Cwd, narrow.Cwd), !set(wide.ArgPattern, narrow.ArgPattern), !set(wide.SessionKey, narrow.SessionKey), !set(wide.RequireIdentity, narrow.RequireIdentity),
		wide.ExpiresAt != 0 && (narrow.ExpiresAt == 0 || narrow.ExpiresAt > wide.ExpiresAt),
		wide.UsesLeft != nil && (narrow.UsesLeft == nil || *narrow.UsesLeft > *wide.UsesLeft):
		return false
	}
	for name, pattern := range wide.When {
		if told, ok := narrow.When[name]; !ok || told != pattern {
			return false
		}
	}
	return reflect.DeepEqual(rest(wide), rest(narrow))
}

// rest is an entry without what covers compares, and what decides nothing.
func rest(e approval.Entry) approval.Entry {
	e.Pattern, e.Args, e.ArgsExact, e.Cwd, e.ArgPattern, e.SessionKey, e.RequireIdentity, e.ExpiresAt, e.UsesLeft, e.When = "", nil, false, "", "", "", "", 0, nil, nil
	e.ID, e.Source, e.Note, e.AddedAt, e.AddedBy, e.AddedFor = "", "", "", 0, "", ""
	e.LastUsedAt, e.LastUsedCommand, e.LastResolvedPath = 0, "", ""
	return e
}

// coversArgs reports whether the first words of one entry stand for those of another.
func coversArgs(wide, narrow approval.Entry) bool {
	switch {
	case len(wide.Args) > len(narrow.Args),
		wide.ArgsExact && (!narrow.ArgsExact || len(wide.Args) != len(narrow.Args)):
		return false
	case len(wide.Args) == 0 && programs.Raises(wide.Pattern[strings.LastIndexByte(wide.Pattern, '/')+1:]):
		return len(narrow.Args) == 0 // without words it permits nothing
	}
	for i, word := range wide.Args {
		if word != "*" && word != narrow.Args[i] {
			return false
		}
	}
	return true
}

// coversTool reports whether one pattern of tools stands for another: every tool, a
// group for its tools, or a wildcard at the end for what begins so.
func coversTool(wide, narrow string) bool {
	group := toolnames.Group(wide)
	switch {
	case wide == narrow, wide == "*":
		return true
	case group != nil:
		tools := toolnames.Group(narrow)
		if tools == nil {
			tools = []string{narrow}
		}
		return !slices.ContainsFunc(tools, func(tool string) bool { return !slices.Contains(group, tool) })
	}
	prefix, ok := strings.CutSuffix(wide, "*")
	ofServer := strings.Contains(prefix, "/")                                                 // else it is for the agent's own
	other := alias(narrow) || toolnames.Group(narrow) != nil || strings.Contains(narrow, `\`) // it means what it does not say
	return ok && !other && !strings.ContainsAny(prefix, `*\`) && strings.HasPrefix(narrow, prefix) && ofServer == strings.Contains(narrow, "/")
}
