package main

import (
	"slices"
	"time"

	native "github.com/countersign-app/countersign/app/mac"
	"github.com/countersign-app/countersign/app/menubar"
)

// remindAfter is how long a question may wait out of sight until a notification
// tells of it.
const remindAfter = 5 * time.Second

// reminders are the questions that wait, each with the time since when it is
// out of sight. The zero time is for one that a notification tells of.
type reminders map[string]time.Time

// next takes the questions that wait now, and returns those to tell of and
// those to tell of no more. inSight is asked only where it counts.
func (r reminders) next(waiting []menubar.Question, now time.Time, inSight func() bool) (tell []menubar.Question, gone []string) {
	for id, since := range r {
		if !slices.ContainsFunc(waiting, func(q menubar.Question) bool { return q.ID == id }) {
			if since.IsZero() {
				gone = append(gone, id)
			}
			delete(r, id)
		}
	}
	told := func(q menubar.Question) bool { since, known := r[q.ID]; return known && since.IsZero() }
	if !slices.ContainsFunc(waiting, func(q menubar.Question) bool { return !told(q) }) {
		return nil, gone
	}
	seen := inSight()
	for _, q := range waiting {
		since, known := r[q.ID]
		switch {
		case told(q):
		case seen || !known:
			r[q.ID] = now
		case now.Sub(since) >= remindAfter:
			r[q.ID] = time.Time{}
			tell = append(tell, q)
		}
	}
	return tell, gone
}

// remind has notifications tell of questions that wait while the window cannot
// be seen. What is asked is not in them: they show on a locked screen too.
func (a *app) remind(r reminders, f menubar.Facts) {
	tell, gone := r.next(f.Waiting, f.Now, func() bool { return f.Paused || native.InView() })
	for _, q := range tell {
		native.Notify(q.ID, q.Agent+" asks", "A command waits for your answer.")
	}
	for _, id := range gone {
		native.Unnotify(id)
	}
}

// summon shows the question that waits longest, or else the settings: the
// person pressed the shortcut.
func (a *app) summon() {
	for _, p := range a.host.Waiting() {
		if !p.CallerGone {
			a.show(p.ID)
			return
		}
	}
	a.openSettings()
}
