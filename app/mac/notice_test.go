package mac

import "testing"

// Who listens hears each thing by itself; without a listener nothing happens.
func TestListen(t *testing.T) {
	all := map[string]func(){"reviewed 1": func() { hearReviewed("1") }, "summoned": hearSummoned, "reopened": hearReopened, "quit": hearQuit}
	for _, hear := range all {
		hear()
	}
	told := make(chan string)
	tell := func(what string) func() { return func() { told <- what } }
	Listen(Listener{Reviewed: func(name string) { told <- "reviewed " + name }, Summoned: tell("summoned"), Reopened: tell("reopened"), Quit: tell("quit")})
	defer Listen(Listener{})
	for want, hear := range all {
		hear()
		if got := <-told; got != want {
			t.Errorf("heard %q, want %q", got, want)
		}
	}
}
