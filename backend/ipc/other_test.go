//go:build !linux && !darwin

package ipc

import (
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/paths"
)

func TestSaysWhyNot(t *testing.T) {
	_, listen := Listen(Options{Path: `C:\s`, Token: func() string { return "t" }})
	_, dial := Dial(paths.State{Dir: `C:\s`})
	for _, err := range []error{listen, dial} {
		if err == nil || !strings.Contains(err.Error(), "peer") {
			t.Errorf("%v", err)
		}
	}
}
