package service

import (
	_ "embed"
	"errors"
	"fmt"
	"html"
	"strconv"
	"strings"
	"time"
)

//go:embed launchd.plist
var launchdText string

// label is the name of a service for launchd.
func label(name string) string { return "app.countersign." + name }

// launchdAgent is an agent of launchd for one person (launchd.plist(5)). Its
// messages go to a file in logs.
func launchdAgent(u Unit, logs string) []byte {
	words := []string{launchdWord(u.Program)}
	for _, arg := range u.Args {
		words = append(words, launchdWord(arg))
	}
	fill := strings.NewReplacer("{label}", html.EscapeString(label(u.Name)), "{words}", strings.Join(words, "\n"), "{log}", html.EscapeString(logs+"/"+u.Name+".log"))
	return []byte(fill.Replace(launchdText))
}

func launchdWord(word string) string { return "\t\t<string>" + html.EscapeString(word) + "</string>" }

// launchd is the service manager of macOS for one person. Its own words are in
// call, apart from what is made of them, so that every platform tests that.
type launchd struct {
	// call runs launchctl and returns what it prints.
	call func(words ...string) (string, error)
	// domain is where the services of the person's session on the screen live.
	domain string
	// pause lets some time go by.
	pause func()
}

// errNoSession is what launchctl's code 125 means where a service is to start:
// who came by ssh alone has no session on the screen.
var errNoSession = errors.New("nobody is logged in at the screen of this Mac, where the services of a person run: log in there and try again")

const (
	// endLooks is how often a service that ends is looked at: for longer than
	// launchd lets it take (ExitTimeOut in launchd.plist), with lookAgain between.
	endLooks  = 160
	lookAgain = 250 * time.Millisecond
	// startTries is how often launchd is asked to take a service whose name it
	// may not have let go of yet.
	startTries = 20
)

func (l launchd) target(name string) string { return l.domain + "/" + label(name) }

// start has launchd run the service of a file.
func (l launchd) start(path string) (err error) {
	for range startTries {
		if _, err = l.call("bootstrap", l.domain, path); err == nil || errors.Is(err, errNoSession) {
			return err
		}
		l.pause()
	}
	return err
}

// stop ends a service and waits until launchd has let go of it: it answers
// before that, takes no other service of the name meanwhile, and calls it an
// error that one takes its time or has gone by itself.
func (l launchd) stop(name string) error {
	_, failed := l.call("bootout", l.target(name))
	for range endLooks {
		if _, gone := l.call("print", l.target(name)); gone != nil {
			return nil
		}
		l.pause()
	}
	return errors.Join(fmt.Errorf("launchd does not end %s: try again in a moment", label(name)), failed)
}

// replace starts the service of a file in place of the one that may run.
func (l launchd) replace(name, path string) error {
	if _, err := l.call("print", l.target(name)); err == nil {
		if err := l.stop(name); err != nil {
			return err
		}
	}
	return l.start(path)
}

// printedPID reads the process id from what launchctl print tells, 0 for none.
func printedPID(text string) int {
	for line := range strings.Lines(text) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), "pid = "); ok {
			pid, _ := strconv.Atoi(value)
			return pid
		}
	}
	return 0
}
