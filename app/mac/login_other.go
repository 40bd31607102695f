//go:build !darwin || !cgo

package mac

import "errors"

// OpensAtLogin is nil: this is not macOS, or it cannot be asked.
func OpensAtLogin() *bool { return nil }

// OpenAtLogin fails.
func OpenAtLogin(bool) error {
	return errors.New("this platform is not asked to open the app at login yet")
}
