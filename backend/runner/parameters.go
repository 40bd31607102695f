//go:build linux || darwin

package runner

import (
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/pathname"
)

// instead reports whether the word of a form stands in the place of the value. It
// does what a form does to the variable or the shell.
func (sh *shell) instead(p approval.Part, stderr int) (use bool, e ending, ok bool) {
	value, set := sh.lookup(p.Text)
	there := set && (value != "" || !p.Form.Null)
	switch p.Form.Op {
	case approval.FormElse:
		return !there, ending{}, true
	case approval.FormThen:
		return there, ending{}, true
	case approval.FormSet:
		if !there {
			text, e, ok := sh.one(p.Form.Word, stderr)
			if !ok {
				return false, e, false
			}
			sh.set(p.Text, text)
		}
	case approval.FormNeeds:
		if there {
			break
		}
		text, e, ok := sh.one(p.Form.Word, stderr)
		switch {
		case !ok:
			return false, e, false
		case text != "":
		case !p.Form.Null:
			text = "parameter not set"
		case sh.posix():
			text = "parameter not set or null"
		default:
			text = "parameter null or not set"
		}
		return false, sh.stops(stderr, "%s: %s", p.Text, text), false
	}
	return false, ending{}, true
}

// formed is what a form makes of a value.
func (sh *shell) formed(form *approval.Form, value string, stderr int) (string, ending, bool) {
	switch form.Op {
	case approval.FormElse, approval.FormSet, approval.FormNeeds: // their words are for no value
		return value, ending{}, true
	}
	pattern, e, ok := sh.pattern(form.Word, stderr)
	if !ok {
		return "", e, false
	}
	work := pattern.Steps(len(value)) + len(form.With)
	if form.Most {
		work += len(value) * len(form.With)
	}
	if !sh.grow(work) {
		return "", ending{}, false
	}
	made, clear := form.Of(value, pattern)
	if !clear || changes(form.Op) && !pattern.Fixed() {
		sh.deny(Outer, denied(approval.ReasonRuntimeValue, "shells do not agree on what ${…} makes of a value"))
		return "", ending{}, false
	}
	return made, ending{}, true
}

// changes reports whether a form puts something in the place of what it matches.
func changes(op approval.FormOp) bool {
	return op == approval.FormReplace || op == approval.FormBegins || op == approval.FormEnds
}

// pattern makes a pattern of a word, in which values are taken as they stand: one
// without quotes must hold no sign of a pattern.
func (sh *shell) pattern(word approval.Word, stderr int) (pathname.Pattern, ending, bool) {
	var text strings.Builder
	for _, p := range word {
		value := pathname.Escape(p.Text)
		switch p.Kind {
		case approval.PartGlob:
			value = p.Text
		case approval.PartVar:
			got, e, ok := sh.value(p, stderr)
			if !ok || !sh.grow(len(got)) {
				return nil, e, false
			}
			if !p.Quoted && pathname.Signs(got) {
				sh.deny(Outer, denied(approval.ReasonRuntimeValue, "a value would be a pattern"))
				return nil, ending{}, false
			}
			value = pathname.Escape(got)
		}
		text.WriteString(value)
	}
	read, ok := pathname.Read(text.String())
	if !ok {
		sh.deny(Outer, denied(approval.ReasonTooComplex, "a pattern that a value is compared with is too long, or not clear"))
	}
	return read, ending{}, ok
}

// fits reports whether a pattern matches all of a text.
func (sh *shell) fits(text string, word approval.Word, stderr int) (fits bool, e ending, ok bool) {
	pattern, e, ok := sh.pattern(word, stderr)
	if !ok || !sh.grow(pattern.Steps(len(text))) {
		return false, e, false
	}
	if !pattern.Clear(text) {
		sh.deny(Outer, denied(approval.ReasonRuntimeValue, "shells do not agree on whether a pattern matches a value"))
		return false, ending{}, false
	}
	return pattern.Fits(text), ending{}, true
}
