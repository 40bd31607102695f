package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/history"
)

const (
	// lasting is how many runs one round records: about as many as one caller
	// makes between two writes.
	lasting = 300
	million = 1_000_000
	// year is the time over which the rows of a large history came.
	year = 365 * 24 * time.Hour
)

// record is the first half of P8. There is no host without a history to run
// beside, so what it adds is taken by itself: all the rows of a run, as a host
// wrote them, put again as often as the gate puts them. That is beside the same
// run over the kept socket in the same rounds, once for what the reply waits for,
// and once with all the writing, until everything is on disk.
func record(program string) error {
	rows, err := recorded(program)
	if err != nil {
		return err
	}
	f, socket, token, end, err := serve(program)
	if err != nil {
		return err
	}
	defer end()
	db, err := history.Open(history.Options{Path: filepath.Join(f.dir, "bench.db")})
	if err != nil {
		return err
	}
	defer db.Close()
	req := approval.Request{Command: []string{"true"}, Cwd: f.dir}
	var waited []time.Duration
	m, err := median(1,
		func() error {
			for range lasting {
				if err := over(socket, token, req); err != nil {
					return err
				}
			}
			return nil
		},
		func() error {
			began := time.Now()
			for range lasting {
				if err := again(db, rows); err != nil {
					return err
				}
			}
			waited = append(waited, time.Since(began))
			return db.Sync(context.Background())
		})
	if err != nil {
		return err
	}
	slices.Sort(waited)
	row("P8", "recording a run: what the reply waits for, of an allowed true", percent(waited[len(waited)/2], m[0]), "≤ 5 %")
	row("", fmt.Sprintf("     all of it until %d runs are on disk, mostly off the path", lasting), percent(m[1], m[0]), "")
	return nil
}

func percent(a, b time.Duration) string { return fmt.Sprintf("%.1f %%", 100*float64(a)/float64(b)) }

// recorded returns the rows that a host writes for one allowed true.
func recorded(program string) ([]history.Row, error) {
	f, err := newFolder(0)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(f.dir)
	cmd, client, _, err := f.host(program)
	if err != nil {
		return nil, err
	}
	token, err := f.token()
	if err == nil {
		err = over(client, token, approval.Request{Command: []string{"true"}, Cwd: f.dir})
	}
	stop(cmd, client)
	if err != nil {
		return nil, err
	}
	db, err := history.Open(history.Options{Path: f.state.History()})
	if err != nil {
		return nil, err
	}
	defer db.Close()
	rows, err := db.List(context.Background(), history.Query{})
	if err == nil && len(rows) == 0 {
		err = errors.New("the host recorded nothing")
	}
	return rows, err
}

// again puts the rows of a run under another id: the request when it is judged,
// and each when it starts and when it ends.
func again(db *history.DB, rows []history.Row) error {
	id := rand.Text()
	for _, state := range []history.State{history.Waiting, history.Running, history.Done} {
		for _, r := range rows {
			if r.Parent != "" && state == history.Waiting {
				continue
			}
			own := id
			if r.Parent != "" {
				own = fmt.Sprintf("%s/%d", id, r.Seq)
				r.Parent = id
			}
			r.ID, r.State = own, state
			if err := db.Put(r); err != nil {
				return err
			}
		}
	}
	return nil
}

// find is the second half of P8: the slowest of the ways to search a history of
// a million rows, which is filled first where the folder does not hold it yet.
func find(dir string) error {
	if dir == "" {
		row("P8", "a million rows searched: not measured, see -million", "", "≤ 100 ms")
		return nil
	}
	db, size, err := large(filepath.Join(dir, "million.db"))
	if err != nil {
		return err
	}
	defer db.Close()
	kinds := searches()
	var work []func() error
	for _, kind := range kinds {
		work = append(work, func() error {
			found, err := db.List(context.Background(), kind.query)
			if err == nil && len(found) == 0 != kind.nothing {
				err = fmt.Errorf("a search for %s finds %d rows", kind.name, len(found))
			}
			return err
		})
	}
	times, err := median(1, work...)
	if err != nil {
		return err
	}
	slowest := slices.Index(times, slices.Max(times))
	row("P8", fmt.Sprintf("the slowest of %d searches in %d rows", len(kinds), size), millis(times[slowest]), "≤ 100 ms")
	for i, kind := range kinds {
		row("", "     "+kind.name, millis(times[i]), "")
	}
	return nil
}

func millis(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}

// search is one way to look for requests, as the page does it.
type search struct {
	name    string
	query   history.Query
	nothing bool // is found
}

func searches() []search {
	since := func(days int) int64 { return time.Now().AddDate(0, 0, -days).UnixMilli() }
	list := []search{
		{name: "the newest", query: history.Query{}},
		{name: "a page from the middle", query: history.Query{Before: million / 2}},
		{name: "a word of every row", query: history.Query{Text: "usr"}},
		{name: "a word of few", query: history.Query{Text: "ticket777778"}},
		{name: "a word of none", query: history.Query{Text: "xylophone"}, nothing: true},
		{name: "three words, in many rows each", query: history.Query{Text: "git commit main"}},
		{name: "the beginning of many words", query: history.Query{Text: "ticket7"}},
		{name: "a word of many, of one agent", query: history.Query{Text: "status", AgentID: "agent3"}},
		{name: "what was denied by a person", query: history.Query{Reason: approval.ReasonUserDenied, Decision: approval.DecisionDeny}},
		{name: "a denial of one agent, with a word of every row", query: history.Query{Text: "usr", Verdict: approval.VerdictDeny, AgentID: "agent3"}},
		{name: "a word, in a month eleven months ago", query: history.Query{Text: "commit", Since: since(350), Until: since(320)}},
		{name: "a session that never asked, of one agent", query: history.Query{AgentID: "agent3", SessionKey: "new"}, nothing: true},
		{name: "one agent, in the last week", query: history.Query{AgentID: "agent3", Since: since(7)}},
	}
	none := ""
	for i := range list {
		list[i].query.Parent, list[i].query.Limit = &none, 200
	}
	return list
}

// large opens a history of a million rows, and fills it through Put with those
// that it has not got. They came evenly over a year.
func large(path string) (*history.DB, int64, error) {
	ctx, began := context.Background(), time.Now()
	at := began
	db, err := history.Open(history.Options{Path: path, Now: func() time.Time { return at }})
	if err != nil {
		return nil, 0, err
	}
	size, err := db.Size(ctx)
	if err != nil {
		return nil, 0, errors.Join(err, db.Close())
	}
	for n := size.Rows; n < million && err == nil; n++ {
		at = began.Add(-year).Add(year / million * time.Duration(n))
		err = db.Put(invented(n))
		if err == nil && n%5000 == 4999 {
			err = db.Sync(ctx)
		}
	}
	if filled := million - size.Rows; filled > 0 && err == nil {
		row("", fmt.Sprintf("filling in %d rows, each", filled), micros(time.Since(began)/time.Duration(filled)), "")
	}
	at = began
	if err == nil {
		size, err = db.Size(ctx)
	}
	if err != nil {
		err = errors.Join(err, db.Close())
	}
	return db, size.Rows, err
}

// invented is the nth row of a large history. Every fourth one is of a program
// that the request before it started.
func invented(n int64) history.Row {
	commands := []string{
		"git status --short", "git commit -m ticket%d main", "go test ./backend/part%d", "rg --files src/ticket%d",
		"npm run build -- --ticket%d", "cat docs/page%d.md | head -20", "ls -l /srv/ticket%d",
	}
	command := strings.Replace(commands[n%int64(len(commands))], "%d", fmt.Sprint(n), 1)
	program := "/usr/bin/" + strings.Fields(command)[0]
	code := 0
	r := history.Row{
		ID: rand.Text(), State: history.Done, AgentID: fmt.Sprintf("agent%d", n/7%9), SessionKey: fmt.Sprint("session", n/400),
		PeerPID: 4711, PeerExe: "/usr/bin/node", Who: approval.Ours,
		Command: command, Argv: strings.Fields(command), Cwd: fmt.Sprintf("/home/somebody/src/project%d", n/1000%40), Program: program,
		Judged: approval.VerdictAllow, Verdict: approval.VerdictAllow, Security: approval.SecurityList, Ask: approval.AskOnMiss, Entry: program,
		ExitCode: &code, OutputSize: 400, OutputHash: strings.Repeat("0f", 32),
	}
	switch {
	case n%4 == 3:
		r.Parent, r.Seq = fmt.Sprint("request", n-1), 1
	case n%50 == 0:
		r.Judged, r.JudgedReason, r.JudgedSentence = approval.VerdictAsk, approval.ReasonAllowlistMiss, "no entry allows "+program
		r.Decision, r.AnsweredBy = approval.AllowOnce, "panel"
	case n%301 == 0:
		r.State, r.Verdict, r.Reason, r.Sentence = history.Denied, approval.VerdictDeny, approval.ReasonUserDenied, "the user denied it"
		r.Judged, r.JudgedReason, r.Decision, r.AnsweredBy = approval.VerdictAsk, approval.ReasonAllowlistMiss, approval.DecisionDeny, "panel"
	}
	return r
}
