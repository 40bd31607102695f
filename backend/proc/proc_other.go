//go:build !linux && !darwin

package proc

import (
	"errors"
	"net/netip"
)

var errPlatform = errors.New("this platform does not say who started a process")

func stat(int) (Info, error)                    { return Info{}, errPlatform }
func all() ([]Info, error)                      { return nil, errPlatform }
func exe(int) (string, string, error)           { return "", "", errPlatform }
func codeOf(int) (Code, error)                  { return Code{}, errPlatform }
func asideOf(int) (Aside, error)                { return Aside{}, errPlatform }
func environ(int) ([]byte, error)               { return nil, errPlatform }
func argv(int) ([]string, error)                { return nil, errPlatform }
func inputTerminal(int) (int, error)            { return 0, errPlatform }
func holders(_, _ netip.AddrPort) ([]ID, error) { return nil, errPlatform }
