//go:build !linux && !darwin

package service

import "errors"

var errPlatform = errors.New("services are not supported on this platform: start the program by hand")

func (m Manager) render(Unit) ([]byte, string, error) { return nil, "", errPlatform }
func (m Manager) reload() error                       { return errPlatform }
func (m Manager) enable(string) error                 { return errPlatform }
func (m Manager) disable(string) error                { return errPlatform }
func (m Manager) start(string) error                  { return errPlatform }
func (m Manager) stop(string) error                   { return errPlatform }
func (m Manager) pid(string) (int, error)             { return 0, errPlatform }
