//go:build !darwin || !cgo

package vault

const hasKeychain = false

// keychain is never asked here.
type keychain struct{ dir, team string }

func (keychain) get(string) ([]byte, status) { return nil, noEntitlement }

func (keychain) set(string, []byte) status { return noEntitlement }
