package descriptors

import "testing"

// All shares together are within the limit, and each is enough to be of use.
func TestShare(t *testing.T) {
	for _, c := range []struct {
		limit uint64
		want  Shares
	}{
		{Least, Shares{Host: 64, Connections: 96, Commands: 96}},
		{1_024, Shares{Host: 256, Connections: 384, Commands: 384}},
		{4_096, Shares{Host: 280, Connections: 1_000, Commands: 2_816}},
		{1 << 20, Shares{Host: 280, Connections: 1_000, Commands: 1<<20 - 1_280}},
		{1<<64 - 1, Shares{Host: 280, Connections: 1_000, Commands: 1 << 20}},
	} {
		got := share(c.limit)
		if got != c.want || uint64(got.Host+got.Connections+got.Commands) > c.limit {
			t.Errorf("of %d: %+v, want %+v", c.limit, got, c.want)
		}
	}
}
