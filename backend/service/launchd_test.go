package service

import (
	"errors"
	"maps"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestLaunchdCalls replaces and ends services of an invented launchd, which takes its
// time to let go of one.
func TestLaunchdCalls(t *testing.T) {
	slow, busy := errors.New("exit status 36"), errors.New("exit status 5")
	replace := func(l launchd) error { return l.replace("node", "/f") }
	stop := func(l launchd) error { return l.stop("node") }
	for _, row := range []struct {
		name   string
		do     func(launchd) error
		loaded bool
		looks  int // that it takes to end
		fails  map[string][]error
		want   string
		err    bool
	}{
		{"the first", replace, false, 0, nil, "print bootstrap", false},
		{"another one", replace, true, 0, nil, "print bootout print bootstrap", false},
		{"one that ends slowly", replace, true, 2, map[string][]error{"bootout": {slow}}, "print bootout print pause print pause print bootstrap", false},
		{"a name that is not free yet", replace, true, 0, map[string][]error{"bootstrap": {busy, busy}}, "print bootout print bootstrap pause bootstrap pause bootstrap", false},
		{"one that never ends", replace, true, endLooks, nil, "", true},
		{"nobody at the screen", replace, false, 0, map[string][]error{"bootstrap": {errNoSession}}, "print bootstrap", true},
		{"stop", stop, true, 1, nil, "bootout print pause print", false},
		{"stop of one that has gone", stop, false, 0, map[string][]error{"bootout": {errors.New("exit status 3")}}, "bootout print", false},
	} {
		var got []string
		loaded, left, fails := row.loaded, row.looks, maps.Clone(row.fails)
		l := launchd{domain: "gui/501", pause: func() { got = append(got, "pause") }, call: func(words ...string) (string, error) {
			got = append(got, words[0])
			if want := map[bool]string{true: "gui/501", false: "gui/501/app.countersign.node"}[words[0] == "bootstrap"]; words[1] != want {
				t.Errorf("%s: %s", row.name, strings.Join(words, " "))
			}
			switch {
			case words[0] == "bootout":
				loaded = false
			case words[0] == "bootstrap" && (loaded || left > 0):
				t.Errorf("%s: it is started while the old one is there", row.name)
			case words[0] == "print" && !loaded && left == 0:
				return "", errors.New("exit status 113")
			case words[0] == "print" && !loaded:
				left--
			}
			if left := fails[words[0]]; len(left) > 0 {
				fails[words[0]] = left[1:]
				return "", left[0]
			}
			return "", nil
		}}
		err := row.do(l)
		if (err != nil) != row.err || row.want != "" && strings.Join(got, " ") != row.want {
			t.Errorf("%s: %v, %v", row.name, err, got)
		}
	}
}

// A service that ends is waited for until launchd itself ends it.
func TestEndingIsWaitedFor(t *testing.T) {
	found := regexp.MustCompile(`<key>ExitTimeOut</key>\s*<integer>(\d+)</integer>`).FindStringSubmatch(launchdText)
	if found == nil {
		t.Fatal("the agent says nothing about it")
	}
	seconds, _ := strconv.Atoi(found[1])
	if got := endLooks * lookAgain; got <= time.Duration(seconds)*time.Second {
		t.Errorf("%v for a service that has %d s", got, seconds)
	}
}
