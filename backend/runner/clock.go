//go:build linux || darwin

package runner

import (
	"fmt"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// time runs a part of the plan and says on stderr how long that took, as bash
// does.
func (sh *shell) time(n *approval.Node, io stdio, tested bool) ending {
	began, user, system := time.Now(), sh.user.Load(), sh.system.Load()
	e := sh.walk(&n.Kids[0], io, tested)
	form, in := "\nreal\t%s\nuser\t%s\nsys\t%s\n", minutes
	if n.Portable {
		form, in = "real %s\nuser %s\nsys %s\n", seconds
	}
	write(io[2], fmt.Sprintf(form, in(time.Since(began)),
		in(time.Duration(sh.user.Load()-user)), in(time.Duration(sh.system.Load()-system))))
	return e
}

func minutes(d time.Duration) string {
	return fmt.Sprintf("%dm%.3fs", int(d.Minutes()), (d % time.Minute).Seconds())
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.2f", d.Seconds()) }
