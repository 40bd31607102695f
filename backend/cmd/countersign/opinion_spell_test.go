package main

import (
	"fmt"
	"regexp"
	"strings"
)

func lineOf(words []word) string {
	var list []string
	for _, w := range words {
		list = append(list, w.text)
	}
	return strings.Join(list, " ")
}

// spell writes an option in one of its spellings.
func (m *maker) spell(t tool, o option) []word {
	value, has := word{}, len(o.values) > 0
	if has {
		value = pick(m.draws, o.values)
		if value.path {
			value.text = m.path(value.text)
		}
	}
	if o.long != "" && (o.short == "" || m.one(2)) {
		return m.spellLong(t, o, value, has)
	}
	switch {
	case t.how["go"] && has && m.one(2):
		return plainWords(pick(m.draws, []string{"", "-"}) + o.short + "=" + value.text)
	case t.how["single"] || t.how["go"]:
		if has {
			return []word{{text: o.short}, value}
		}
		return plainWords(o.short)
	}
	name := o.short
	if t.how["bundles"] && len(name) == 2 && m.one(3) {
		for _, other := range t.safe {
			if len(other.short) == 2 && len(other.values) == 0 && !other.maybe && other.short[1] > '9' && m.one(3) {
				name = other.short + name[1:]
			}
		}
	}
	switch {
	case !has, o.maybe && m.one(2):
		return plainWords(name)
	case o.maybe, len(o.short) == 2 && value.text != "" && m.one(3):
		return plainWords(name + value.text)
	}
	return []word{{text: name}, value}
}

func (m *maker) spellLong(t tool, o option, value word, has bool) []word {
	start, rest, _ := strings.Cut(o.long, "^")
	name := start + rest
	if t.how["abbreviates"] && rest != "" && m.one(3) {
		name = start + rest[:m.n(len(rest)+1)]
	}
	switch {
	case !has, o.maybe && m.one(2):
		return plainWords(name)
	case t.how["next"], !o.maybe && m.one(2):
		return []word{{text: name}, value}
	}
	return plainWords(name + "=" + value.text)
}

// path spells a path in another way that leads to the same place.
func (m *maker) path(text string) string {
	if !strings.HasPrefix(text, "/") {
		switch m.n(6) {
		case 1:
			return "./" + text
		case 2:
			return ".//" + text
		case 3:
			return "./src/../" + text
		case 4:
			return "/Users/dev/project/" + text
		case 5:
			return "../project/" + text
		}
		return text
	}
	switch m.n(5) {
	case 1:
		return "/" + text
	case 2:
		return "/etc/.." + text
	case 3:
		return "/." + text
	case 4:
		if rest, ok := strings.CutPrefix(text, "/Users/dev/"); ok {
			return "/Users/dev/project/../" + rest
		}
	}
	return text
}

// render writes words so that a shell reads these values.
func (m *maker) render(words []word) string {
	var list []string
	for i, w := range words {
		switch {
		case w.raw:
			list = append(list, w.text)
		case w.text == "{}" && m.one(2):
			list = append(list, w.text)
		default:
			list = append(list, m.quote(w.text, i == 0))
		}
	}
	sep := " "
	if m.one(20) {
		sep = pick(m.draws, []string{"  ", "\t", " \\\n "})
	}
	return strings.Join(list, sep)
}

var bare = regexp.MustCompile(`^[A-Za-z0-9_./:,@%+-][A-Za-z0-9_./:,@%+=-]*$`)

// quote writes a word in any quotes, or in several. A bare NAME=VALUE in front
// would be an assignment.
func (m *maker) quote(text string, first bool) string {
	if bare.MatchString(text) && !(first && strings.Contains(text, "=")) && !m.one(4) {
		return text
	}
	if text == "" {
		return "''"
	}
	parts := []string{text}
	if r := []rune(text); len(r) > 1 && m.one(3) {
		at := 1 + m.n(len(r)-1)
		parts = []string{string(r[:at]), string(r[at:])}
	}
	out := ""
	for _, part := range parts {
		out += m.quotePart(part, out == "" && first)
	}
	return out
}

var inDouble = strings.NewReplacer("\\", "\\\\", "$", "\\$", "`", "\\`", "\"", "\\\"")

func (m *maker) quotePart(part string, first bool) string {
	switch m.n(5) {
	case 1:
		return `"` + inDouble.Replace(part) + `"`
	case 2:
		if !strings.Contains(part, "\n") {
			var b strings.Builder
			for _, r := range part {
				b.WriteString("\\" + string(r))
			}
			return b.String()
		}
	case 3:
		m.bashOnly = true
		var b strings.Builder
		for i := range len(part) {
			fmt.Fprintf(&b, `\x%02x`, part[i])
		}
		return "$'" + b.String() + "'"
	case 4:
		if bare.MatchString(part) && !strings.Contains(part, "=") && !first {
			return part
		}
	}
	return "'" + strings.ReplaceAll(part, "'", `'\''`) + "'"
}
