package setup

import (
	"path"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/machine"
)

// TestHooksAreProtected: no tool and no command takes the gate out of an agent's
// settings without a question.
func TestHooksAreProtected(t *testing.T) {
	a := &command.Analyzer{World: machine.Disk{}, Home: "/home/ann"}
	for _, target := range targets() {
		var files []string
		if target.user != "" {
			files = append(files, path.Join("/home/ann", target.folder, target.user))
		}
		if target.project != "" {
			files = append(files, path.Join("/home/ann/app", target.project))
		}
		for _, file := range files {
			if got := a.Protected(file, false); got != approval.ProtectedStartup && got != approval.ProtectedKeys {
				t.Errorf("%s: %s is protected as %q", target.agent, file, got)
			}
		}
	}
}
