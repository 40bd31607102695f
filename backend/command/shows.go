package command

import (
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// showing are the effects of what shows more than files, and of what opens files that
// nobody names.
func showing() map[effect]rule {
	return map[effect]rule{
		"environment": {reason: approval.ReasonProtectedState, says: "%[1]s shows all variables, of which some are secret, or may be", check: func(a *arguments, _ use) bool {
			return a.who == approval.Ours && a.Secrets != nil && !a.Secrets()
		}},
		"shown":    {reason: approval.ReasonProtectedState, says: "%[1]s shows %[2]s, which may be secret", check: func(_ *arguments, u use) bool { return !hides(u.value) }},
		"bsd":      {reason: approval.ReasonProtectedState, says: "%[1]s shows the variables of programs", check: plainBSD},
		"settings": {reason: approval.ReasonProtectedState, says: "%[1]s shows git's settings, which hold a secret, or may", check: func(a *arguments, _ use) bool { return !a.secretSettings() }},
		"input":    {reason: approval.ReasonRuntimeValue, says: "%[1]s opens what its input names, which is known only when it runs"},
	}
}

// takesBSD are letters of ps of which the last one takes the next word.
var takesBSD = expression(`^[A-Za-z]*[oOkUptN]$`)

// plainBSD reports whether a word of ps that is no option has no letter in it that
// shows variables. Behind some letters it is a value.
func plainBSD(a *arguments, u use) bool {
	if n := len(a.named); n > 1 && takesBSD().MatchString(a.named[n-2].text) {
		return true
	}
	end := strings.IndexFunc(u.value+" ", func(r rune) bool { return r|0x20 < 'a' || r|0x20 > 'z' })
	return !strings.ContainsAny(u.value[:end], "eE")
}
