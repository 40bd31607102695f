package mac

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// launchd starts what is opened from Finder, the Dock or by open.
const launchd = 1

// FromFinder tells that nobody reads what this process prints.
func FromFinder() bool { return os.Getppid() == launchd }

// KeepErrors has what this process prints as errors, and why it crashes, go to
// Countersign.log among the logs of the person.
func KeepErrors(home string) error {
	log, err := openLog(filepath.Join(home, "Library/Logs/Countersign/Countersign.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	return unix.Dup2(int(log.Fd()), int(os.Stderr.Fd()))
}

// Bundle is the app that this program is the window of, "" for none.
func Bundle() string {
	self, err := os.Executable()
	if err != nil {
		return ""
	}
	return bundleOf(self)
}

// OpenAnew starts the app of this program once more, with these arguments. A
// process that became another program by itself would keep the places that the
// window server and the menu bar gave to the one before.
func OpenAnew(args []string) error {
	out, err := exec.Command("/usr/bin/open", append([]string{"-n", Bundle(), "--args"}, args...)...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("macOS does not start the app: %w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}
