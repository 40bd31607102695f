package node

import (
	"context"
	"os/exec"
)

// notify shows a notification by AppleScript. The texts are its arguments and
// never part of the script.
func notify(ctx context.Context, n note) error {
	return exec.CommandContext(ctx, "/usr/bin/osascript", "-e", "on run argv", "-e", "display notification (item 2 of argv) with title (item 1 of argv)", "-e", "end run",
		"--", n.Title, n.Body).Run()
}
