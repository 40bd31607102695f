//go:build !linux

package main

import (
	"github.com/countersign-app/countersign/app/mac"
	"github.com/countersign-app/countersign/backend/paths"
)

// opensAtLogin is what macOS says; nil on other platforms.
func opensAtLogin(paths.State, string) *bool { return mac.OpensAtLogin() }

func openAtLogin(paths.State, string) error {
	on := mac.OpensAtLogin()
	return mac.OpenAtLogin(on == nil || !*on)
}
