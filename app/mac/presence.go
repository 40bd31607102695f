package mac

import "errors"

// way is how a person shows that it is them: an LAPolicy of LAContext.h.
type way int

const (
	byTouch    way = 1
	byPassword way = 2 // or Touch ID, as macOS likes
)

// Codes of LAError.h.
const (
	laDone        = 1 // ours: no LAError is positive
	laFailed      = -1
	laNoPassword  = -5
	laNotHere     = -6
	laNotEnrolled = -7
	laLockedOut   = -8
	laTooLate     = -9
	laNotPaired   = -12
	laUnplugged   = -13
)

// Confirm has the person show that it is them. macOS says "Countersign is trying
// to" and then the reason. Where there is no Touch ID, the login password does
// if password, and else nothing. It waits for them, two minutes at most, and
// returns nil only for a person who did it.
func Confirm(reason string, password bool) error { return confirm(reason, password, authenticate) }

func confirm(reason string, password bool, ask func(w way, reason string) int) error {
	code := ask(byTouch, reason)
	switch code {
	case laNotHere, laNotEnrolled, laLockedOut, laNotPaired, laUnplugged:
		if !password {
			return errors.New("Touch ID cannot be used now, and you chose that nothing else counts")
		}
		code = ask(byPassword, reason)
	}
	switch code {
	case laDone:
		return nil
	case laFailed:
		return errors.New("macOS did not recognize you")
	case laNoPassword:
		return errors.New("this account has no password to ask for")
	case laTooLate:
		return errors.New("nobody confirmed it in time")
	}
	return errors.New("you did not confirm it")
}
