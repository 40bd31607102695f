package setup

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// own is one handler of ours in a settings file.
type own struct {
	event   string
	element int // in the list of the event
	handler int // in the group, -1 where handlers stand in the list themselves
	argv    []string
	words   string // what it says, and the group around it
}

// ownHandlers returns the handlers of a file that start us for this agent,
// under whatever event and matcher they stand.
func ownHandlers(root *hujson.Value, agent string) (list []own) {
	hooks := member(root, "hooks")
	if hooks == nil {
		return nil
	}
	events, ok := hooks.Value.(*hujson.Object)
	if !ok {
		return nil
	}
	for i := range events.Members {
		elements := items(&events.Members[i].Value)
		for j := range elements {
			list = append(list, ownIn(&elements[j], own{event: nameOf(events, i), element: j}, agent)...)
		}
	}
	return list
}

// ownIn looks into one element of the list of an event.
func ownIn(element *hujson.Value, at own, agent string) (list []own) {
	if argv := starts(element, agent); argv != nil {
		at.handler, at.argv, at.words = -1, argv, at.event+" "+canonical(element)
		return []own{at}
	}
	handlers := items(member(element, "hooks"))
	for k := range handlers {
		if argv := starts(&handlers[k], agent); argv != nil {
			at.handler, at.argv = k, argv
			at.words = at.event + " " + canonical(member(element, "matcher")) + " " + canonical(&handlers[k])
			list = append(list, at)
		}
	}
	return list
}

// starts returns the words that a handler starts, if that is us.
func starts(handler *hujson.Value, agent string) []string {
	for _, name := range []string{"command", "exec", "bash"} {
		line := stringOf(member(handler, name))
		if line == "" {
			continue
		}
		argv := []string{line}
		for _, arg := range items(member(handler, "args")) {
			argv = append(argv, stringOf(&arg))
		}
		if len(argv) == 1 {
			argv = unquote(strings.TrimSuffix(line, orNo))
		}
		if startsUs(argv, agent) {
			return argv
		}
	}
	return nil
}

// canonical is a value as text that is the same however it is laid out.
func canonical(v *hujson.Value) string {
	var parsed any
	if v == nil || json.Unmarshal([]byte(small(v)), &parsed) != nil {
		return ""
	}
	return string(compact(parsed))
}

// fingerprint is the hash of our part of a file.
func fingerprint(list []own) string {
	var words []string
	for _, o := range list {
		words = append(words, o.words)
	}
	slices.Sort(words) // the order of events says nothing
	return hashOf([]byte(strings.Join(words, "\n")))
}

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}
