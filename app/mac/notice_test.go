package mac

import "testing"

// Who listens hears each thing by itself; without a listener nothing happens.
func TestListen(t *testing.T) {
	hearReviewed("nobody listens")
	hearSummoned()
	hearQuit()
	heard := make(chan string)
	tell := func(what string) func() { return func() { heard <- what } }
	Listen(func(name string) { heard <- "reviewed " + name }, tell("summoned"), tell("quit"))
	defer Listen(nil, nil, nil)
	for want, hear := range map[string]func(){
		"reviewed 1": func() { hearReviewed("1") }, "summoned": hearSummoned, "quit": hearQuit,
	} {
		hear()
		if got := <-heard; got != want {
			t.Errorf("heard %q, want %q", got, want)
		}
	}
}
