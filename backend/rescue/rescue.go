// Package rescue keeps a mistake of ours from ending a program that serves
// others. What panics while it serves somebody is stopped there, logged and
// counted; its caller gets a refusal, and everybody else is served on.
//
// It catches panics only. A stack that overflows, two writes to one map and a
// machine without memory end a program all the same: what comes from outside is
// bounded in depth and size before it is read.
package rescue

import (
	"context"
	"fmt"
	"log/slog"
	"math/bits"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"
)

var caught atomic.Uint64

// Caught returns how many panics were caught since the program began.
func Caught() uint64 { return caught.Load() }

// Catch is deferred by what serves input from outside. If that panics, Catch
// logs it under the name at, counts it, and calls then, unless that is nil, to
// give the safe answer. A nil log stands for the program's own.
func Catch(log *slog.Logger, at string, then func()) {
	r := recover()
	if r == nil {
		return
	}
	note(log, at, r)
	if then != nil {
		defer Catch(log, at+", as it was answered", nil)
		then()
	}
}

// Guarded is do for a goroutine or a timer that owes nobody an answer: a panic of
// it is logged and counted, and goes no further.
func Guarded(log *slog.Logger, at string, do func()) func() {
	return func() {
		defer Catch(log, at, nil)
		do()
	}
}

// pause is how long Again waits before it begins anew.
const pause = time.Second

// Again does something that is to go on until ctx is done: after a panic it
// begins anew.
func Again(ctx context.Context, log *slog.Logger, at string, do func()) {
	for !finished(log, at, do) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

func finished(log *slog.Logger, at string, do func()) (well bool) {
	defer Catch(log, at, nil)
	do()
	return true
}

// manyLogged is how many panics are logged one by one. After that it is every
// time that their number has doubled: who can cause one can cause thousands.
const manyLogged = 50

func note(log *slog.Logger, at string, r any) {
	n := caught.Add(1)
	if n > manyLogged && bits.OnesCount64(n) > 1 {
		return
	}
	if log == nil {
		log = slog.Default()
	}
	log.Error("a mistake in Countersign was caught: please report it", "at", at, "panic", cause(r), "caught", n, "stack", string(debug.Stack()))
}

// cause is what may be told of a panic. What the runtime says holds types and
// numbers. The text of any other can hold what came from outside, a secret too:
// of that its type alone is told. Stacks hold no texts.
func cause(r any) string {
	if err, ok := r.(runtime.Error); ok {
		return err.Error()
	}
	return fmt.Sprintf("%T", r)
}
