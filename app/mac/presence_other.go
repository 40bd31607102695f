//go:build !darwin || !cgo

package mac

// CanConfirm is false: there is no Touch ID here.
const CanConfirm = false

func authenticate(way, string) int { return laNotHere }
