package hook

import (
	"strings"
	"unicode/utf8"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
)

// maxText bounds what an agent is told, in bytes.
const maxText = 4000

// silent is the answer that says nothing.
func silent() Answer { return Answer{} }

// printed is the answer that prints a value as JSON.
func printed(v any) Answer { return Answer{Stdout: encode(v)} }

// specific is how Claude Code, and those who follow it, take an answer to an
// event.
func specific(event string, fields map[string]any) Answer {
	fields["hookEventName"] = event
	return printed(map[string]any{"hookSpecificOutput": fields})
}

// blocked is exit code 2, by which most agents take the text for why they must
// not go on.
func blocked(text string) Answer { return Answer{Stderr: plain(text) + "\n", Code: 2} }

// plain makes a text safe for a model and for a terminal: lines stay, what else
// would move or hide characters becomes visible. It is cut at maxText.
func plain(text string) string {
	if len(text) > maxText {
		cut := maxText
		for cut > 0 && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut] + "…"
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = display.Escape(line)
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// reason is what an agent's model reads about a denial.
func reason(o approval.Outcome) string {
	text := o.Receipt.Message
	switch {
	case text != "" && o.Receipt.Reason == approval.ReasonInvalid: // it says what is wrong, and nothing else
		text = "Countersign cannot judge this call, so it does not run: " + text
	case text == "":
		text = strings.TrimSpace("Countersign: " + o.Receipt.Sentence + " " + string(approval.EndingFor(o.Receipt.Reason)))
	}
	return plain(text)
}

// unasked is the same where nobody could be asked.
func unasked(why string) string {
	if why == "" {
		why = "no answer came"
	}
	return plain("Countersign: " + why + ". " + string(approval.EndingNobody))
}

// unread is what is said of input that cannot be read.
func unread(err error) string {
	return "Countersign cannot read what the hook was given, so it does not run: " + err.Error()
}

// deniesOnly answers PreToolUse of Claude Code and Codex: what is not denied goes
// the way of their own rules.
func deniesOnly(o approval.Outcome, _ string) Answer {
	if o.Verdict == approval.VerdictAllow || o.Verdict == approval.VerdictAsk {
		return silent()
	}
	return specific(preToolUse, map[string]any{
		"permissionDecision": "deny", "permissionDecisionReason": reason(o),
	})
}
