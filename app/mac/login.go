package mac

import "errors"

// errApprove is told where the person switched the app off themselves.
var errApprove = errors.New("macOS wants you to allow it: System Settings, General, Login Items")

// atLogin is what a status of SMAppService means: whether the app opens at
// login, nil where it cannot, as when it runs from no bundle. 3, not found, is
// also said of a bundle that was never registered.
func atLogin(status int, program string) *bool {
	on := status == 1
	switch status {
	case 0, 1, 2, 3: // not registered, enabled, to be approved by the person
		if bundleOf(program) != "" {
			return &on
		}
	}
	return nil // what later versions may say
}

// approval is the error where a change of the login item waits for the person.
func approval(on bool, status int) error {
	if on && status == 2 {
		return errApprove
	}
	return nil
}
