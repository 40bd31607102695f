package mac

import (
	"slices"
	"strings"
	"testing"
)

// Only a person who did it counts, and the password only where it was chosen.
func TestConfirm(t *testing.T) {
	for name, c := range map[string]struct {
		touch, password int // what macOS answers
		chosen          bool
		asked           []way
		says            string // "" for a yes
	}{
		"a finger":                            {laDone, laFailed, true, []way{byTouch}, ""},
		"a finger, and nothing else counts":   {laDone, laFailed, false, []way{byTouch}, ""},
		"the wrong finger":                    {laFailed, laDone, true, []way{byTouch}, "did not recognize"},
		"cancelled":                           {-2, laDone, true, []way{byTouch}, "did not confirm"},
		"macOS took the sheet away":           {-4, laDone, true, []way{byTouch}, "did not confirm"},
		"nobody came":                         {laTooLate, laDone, true, []way{byTouch}, "in time"},
		"no sensor, the password":             {laNotHere, laDone, true, []way{byTouch, byPassword}, ""},
		"no sensor, and nothing else counts":  {laNotHere, laDone, false, []way{byTouch}, "nothing else counts"},
		"no finger enrolled, the password":    {laNotEnrolled, laDone, true, []way{byTouch, byPassword}, ""},
		"locked out, the password":            {laLockedOut, laDone, true, []way{byTouch, byPassword}, ""},
		"the keyboard with it is elsewhere":   {laUnplugged, laDone, true, []way{byTouch, byPassword}, ""},
		"it was never paired":                 {laNotPaired, laDone, false, []way{byTouch}, "nothing else counts"},
		"no sensor and the wrong password":    {laNotHere, laFailed, true, []way{byTouch, byPassword}, "did not recognize"},
		"no sensor and no password":           {laNotHere, laNoPassword, true, []way{byTouch, byPassword}, "has no password"},
		"no sensor and not here either":       {laNotHere, laNotHere, true, []way{byTouch, byPassword}, "did not confirm"},
		"a code that is new":                  {-4711, laDone, true, []way{byTouch}, "did not confirm"},
		"a code that is no error, and no yes": {0, laDone, true, []way{byTouch}, "did not confirm"},
	} {
		var asked []way
		err := confirm("allow it", c.chosen, func(w way, reason string) int {
			asked = append(asked, w)
			if w == byTouch {
				return c.touch
			}
			return c.password
		})
		if !slices.Equal(asked, c.asked) || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: asked %v, %v", name, asked, err)
		}
	}
}

func TestResponsible(t *testing.T) {
	for pid, want := range map[int]bool{1: true, 4711: true, 0: false, -1: false} {
		if got, err := responsible(pid); (err == nil) != want || want && got != pid {
			t.Errorf("%d: %d, %v", pid, got, err)
		}
	}
}
