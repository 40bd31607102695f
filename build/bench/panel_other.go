//go:build !linux

package main

// window measures nothing: the window is looked at through AT-SPI, which only
// Linux has.
func window(string, string) error {
	row("P10", "app: not measured here, only on Linux", "", "≤ 100ms (p95)")
	return nil
}
