//go:build linux || darwin

package runner

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/proc"
)

// Whoever is slow to see what lives, or cannot see it, still ends it.
func TestEndingWithSlowLooks(t *testing.T) {
	blind := errors.New("no look")
	for name, test := range map[string]struct {
		slow   int // this look takes longer than the whole patience with programs
		err    error
		deaf   bool // to TERM
		signal []unix.Signal
	}{
		"quick":               {0, nil, false, []unix.Signal{unix.SIGTERM}},
		"a slow first look":   {1, nil, false, []unix.Signal{unix.SIGTERM}},
		"a slow second, deaf": {2, nil, true, []unix.Signal{unix.SIGTERM, unix.SIGKILL}},
		"no look":             {0, blind, false, []unix.Signal{unix.SIGKILL}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var sent []unix.Signal
				looks := 0
				find := func() ([]proc.Info, error) {
					if looks++; looks == test.slow {
						time.Sleep(grace + giveUp + 100*time.Millisecond)
					}
					over := len(sent) > 0 && (!test.deaf || slices.Contains(sent, unix.SIGKILL))
					if test.err != nil || over {
						return nil, test.err
					}
					return []proc.Info{{PID: 1 << 30, Group: 7}}, nil
				}
				_, err := end(find, func(sig unix.Signal) map[int]bool {
					sent = append(sent, sig)
					return map[int]bool{7: true}
				}, func() time.Duration { return grace })
				if !errors.Is(err, test.err) || !slices.Equal(sent, test.signal) {
					t.Errorf("%v, sent %v, want %v", err, sent, test.signal)
				}
			})
		})
	}
}
