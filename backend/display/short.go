package display

import "strings"

// MaxShort is how much of a command or a name a sentence repeats, in bytes.
const MaxShort = 200

// Short cuts a text that may be of any length for a sentence.
func Short(s string) string {
	if len(s) <= MaxShort {
		return s
	}
	return strings.ToValidUTF8(s[:MaxShort], "") + "…"
}
