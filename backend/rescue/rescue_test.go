package rescue

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
)

// TestCatch: a panic becomes an answer, is counted once and is logged with where
// it was, and nothing of the text that caused it.
func TestCatch(t *testing.T) {
	const secret = "hunter2-hunter2"
	for name, c := range map[string]struct {
		do   func()
		says string
	}{
		"of the runtime": {func() { _ = secret[:len(secret)-len(t.Name())-20] }, "out of range"},
		"an error":       {func() { panic(errors.New(secret)) }, "*errors.errorString"},
		"a text":         {func() { panic(secret) }, "panic=string"},
		"nil":            {func() { var m map[string]int; m[secret] = 1 }, "nil map"},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			before, answered := Caught(), 0
			func() {
				defer Catch(slog.New(slog.NewTextHandler(&log, nil)), "a test", func() { answered++ })
				c.do()
			}()
			if answered != 1 || Caught() != before+1 {
				t.Errorf("answered %d times, counted %d", answered, Caught()-before)
			}
			for _, want := range []string{c.says, `at="a test"`, "rescue_test.go"} {
				if !strings.Contains(log.String(), want) {
					t.Errorf("the log misses %q:\n%s", want, log.String())
				}
			}
			if strings.Contains(log.String(), secret) {
				t.Errorf("the log holds what was read:\n%s", log.String())
			}
		})
	}
}

func TestNoPanic(t *testing.T) {
	before := Caught()
	func() { defer Catch(nil, "a test", func() { t.Error("it is answered for no reason") }) }()
	if Caught() != before {
		t.Error("nothing happened, and it was counted")
	}
}

// TestFlood: thousands of panics are counted, and few of them logged.
func TestFlood(t *testing.T) {
	var log bytes.Buffer
	to := slog.New(slog.NewTextHandler(&log, nil))
	before := Caught()
	for range 5000 {
		func() {
			defer Catch(to, "a test", nil)
			panic("x")
		}()
	}
	if n := Caught() - before; n != 5000 {
		t.Errorf("%d were counted", n)
	}
	if n := strings.Count(log.String(), "level=ERROR"); n == 0 || n > manyLogged+15 {
		t.Errorf("%d were logged", n)
	}
}

func TestAgain(t *testing.T) {
	n := 0
	Again(t.Context(), slog.New(slog.DiscardHandler), "a test", func() {
		if n++; n == 1 {
			panic("x")
		}
	})
	if n != 2 {
		t.Errorf("it was done %d times", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	Again(ctx, slog.New(slog.DiscardHandler), "a test", func() {
		cancel()
		panic("x")
	})
}

// TestAnswerPanics: an answer that panics too is given up, and the program lives.
func TestAnswerPanics(t *testing.T) {
	before := Caught()
	func() {
		defer Catch(slog.New(slog.DiscardHandler), "a test", func() { panic("again") })
		panic("x")
	}()
	if n := Caught() - before; n != 2 {
		t.Errorf("%d were counted", n)
	}
}

// TestGuarded: what is guarded panics alone, each time that it is done.
func TestGuarded(t *testing.T) {
	before := Caught()
	do := Guarded(slog.New(slog.DiscardHandler), "a test", func() { panic("x") })
	var all sync.WaitGroup
	for range 3 {
		all.Go(do)
	}
	all.Wait()
	if n := Caught() - before; n != 3 {
		t.Errorf("%d were counted", n)
	}
}
