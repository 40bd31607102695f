package service

import (
	"errors"
	"slices"
	"strings"
	"testing"
)

// TestLaunchdCalls replaces and ends services of an invented launchd, which takes its
// time to let go of one.
func TestLaunchdCalls(t *testing.T) {
	refused := errors.New("exit status 5")
	for _, row := range []struct {
		name   string
		do     func(launchd) error
		loaded bool
		looks  int // that it takes to end
		fails  string
		want   []string
		err    bool
	}{
		{"the first", func(l launchd) error { return l.replace("node", "/f") }, false, 0, "", []string{"print", "bootstrap"}, false},
		{"another one", func(l launchd) error { return l.replace("node", "/f") }, true, 0, "", []string{"print", "bootout", "print", "bootstrap"}, false},
		{"one that ends slowly", func(l launchd) error { return l.replace("node", "/f") }, true, 2, "", []string{"print", "bootout", "print", "pause", "print", "pause", "print", "bootstrap"}, false},
		{"one that never ends", func(l launchd) error { return l.replace("node", "/f") }, true, endLooks, "", nil, true},
		{"nobody at the screen", func(l launchd) error { return l.replace("node", "/f") }, false, 0, "bootstrap", []string{"print", "bootstrap"}, true},
		{"stop", func(l launchd) error { return l.stop("node") }, true, 1, "", []string{"bootout", "print", "pause", "print"}, false},
		{"stop fails", func(l launchd) error { return l.stop("node") }, true, 0, "bootout", []string{"bootout"}, true},
	} {
		var got []string
		loaded, left := row.loaded, row.looks
		l := launchd{domain: "gui/501", pause: func() { got = append(got, "pause") }, call: func(words ...string) (string, error) {
			got = append(got, words[0])
			if want := map[bool]string{true: "gui/501", false: "gui/501/app.countersign.node"}[words[0] == "bootstrap"]; words[1] != want {
				t.Errorf("%s: %s", row.name, strings.Join(words, " "))
			}
			switch {
			case words[0] == row.fails:
				return "", refused
			case words[0] == "bootout":
				loaded = false
			case words[0] == "bootstrap" && (loaded || left > 0):
				t.Errorf("%s: it is started while the old one is there", row.name)
			case words[0] == "print" && !loaded && left == 0:
				return "", refused
			case words[0] == "print" && !loaded:
				left--
			}
			return "", nil
		}}
		err := row.do(l)
		if (err != nil) != row.err || row.want != nil && !slices.Equal(got, row.want) {
			t.Errorf("%s: %v, %q", row.name, err, got)
		}
	}
}
