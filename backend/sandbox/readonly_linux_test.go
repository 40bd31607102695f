package sandbox

import (
	"os"
	"testing"

	"github.com/countersign-app/countersign/backend/config"
)

// TestRootWritesNothing: root owns the files by which a kernel is changed, so that
// a box of root that has no rights could still write them by their mode.
func TestRootWritesNothing(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("skipped: only root owns the files of the kernel")
	}
	w := newWorld(t, config.Bubblewrap)
	for _, at := range []string{
		"/proc/sys/kernel/printk_ratelimit_burst", "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/modprobe", "/proc/sys/fs/file-max",
		"/proc/sys/vm/swappiness", "/proc/sys/net/ipv4/ip_forward", "/proc/irq/default_smp_affinity", "/proc/self/oom_score_adj",
	} {
		for _, network := range []bool{false, true} {
			w.End("main")
			w.config.Network = network
			// The same value again: where the box is open, nothing changes.
			got := w.sh("v=$(cat " + at + " 2>/dev/null) || { echo none; exit; }; (echo \"$v\" > " + at + ") 2>/dev/null || echo refused")
			if got != "refused\n[0]" && got != "none\n[0]" {
				t.Errorf("%s with network %t: %q", at, network, got)
			}
		}
	}
	for _, row := range []struct{ name, find, want string }{
		{"files", "find /proc /sys -type f -writable", ""},
		{"folders", "find /proc /sys -type d -writable", ""},
		{"devices", "find /dev -not -type l -writable | sort | tr '\\n' ' '", "/dev/full /dev/null /dev/pts /dev/pts/ptmx /dev/random /dev/shm /dev/tty /dev/urandom /dev/zero "},
		{"a new file", "echo x > /dev/pts/x || echo x > /proc/x || echo x > /dev/x || echo x > /sys/x || echo refused", "refused\n"},
		{"what programs need", "cat /proc/self/comm; echo x > /dev/null && echo out > /dev/stdout && echo again > /proc/self/fd/1", "cat\nout\nagain\n"},
	} {
		if got := w.sh("(" + row.find + ") 2>/dev/null; :"); got != row.want+"[0]" {
			t.Errorf("%s: %s", row.name, got[:min(len(got), 600)])
		}
	}
}
