//go:build !darwin

package mac

import "errors"

// FromFinder is false here.
func FromFinder() bool { return false }

// KeepErrors does nothing here: sessions keep what their programs print.
func KeepErrors(string) error { return nil }

// Bundle is "" here: programs are files of their own.
func Bundle() string { return "" }

// OpenAnew is not needed here.
func OpenAnew([]string) error { return errors.New("this platform has no apps to open") }
