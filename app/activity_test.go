//go:build linux || darwin

package main

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/history"
)

// activity does one thing of each kind and returns the app whose history it is.
func activity(t *testing.T) *testApp {
	t.Helper()
	a := newTestApp(t, `{"version": 1, "defaults": {"security": "allowlist", "ask": "on-miss", "denylist": ["sudo"]},
		"agents": {"main": {"displayName": "Main", "allowlist": [{"pattern": "/usr/bin/id"}]}}}`)
	a.answer(a.agent(t.Context(), "main", "sh", "-c", "id -u | id -g"))
	for agent, decision := range map[string]string{"one": "allow-once", "two": "deny"} {
		answers := a.agent(t.Context(), agent, "touch", filepath.Join(a.project, agent))
		q := a.question()
		a.look(q.ID)
		if said := a.approvals.Decide(q.ID, q.Seen, decision, "a note"); !said.OK {
			t.Fatal(said.Message)
		}
		a.answer(answers)
	}
	a.answer(a.agent(t.Context(), "main", "sudo", "ls", "<b>\u202e"))
	a.eventually("no question is on the page", func() bool { return a.view().Current == "" })
	return a
}

func TestActivity(t *testing.T) {
	a := activity(t)
	tests := []struct {
		name   string
		filter shown.ActivityFilter
		want   []shown.Outcome
	}{
		{"all", shown.ActivityFilter{}, []shown.Outcome{shown.DeniedByRule, shown.Passed, shown.AllowedOnce, shown.DeniedByYou}},
		{"today", shown.ActivityFilter{Time: shown.Today}, []shown.Outcome{shown.DeniedByRule, shown.Passed, shown.AllowedOnce, shown.DeniedByYou}},
		{"one agent", shown.ActivityFilter{Agent: "main"}, []shown.Outcome{shown.DeniedByRule, shown.Passed}},
		{"passed", shown.ActivityFilter{Outcome: shown.OnlyPassed}, []shown.Outcome{shown.Passed}},
		{"asked", shown.ActivityFilter{Outcome: shown.OnlyAsked}, []shown.Outcome{shown.AllowedOnce, shown.DeniedByYou}},
		{"allowed", shown.ActivityFilter{Outcome: shown.OnlyAllowedOnce}, []shown.Outcome{shown.AllowedOnce}},
		{"denied", shown.ActivityFilter{Outcome: shown.OnlyDenied}, []shown.Outcome{shown.DeniedByRule, shown.DeniedByYou}},
		{"a reason", shown.ActivityFilter{Reason: "denylisted"}, []shown.Outcome{shown.DeniedByRule}},
		{"a word", shown.ActivityFilter{Text: "sud"}, []shown.Outcome{shown.DeniedByRule}},
		{"hostile", shown.ActivityFilter{Text: `"; DROP TABLE runs --`, Agent: "'"}, nil},
		{"nothing of these", shown.ActivityFilter{Outcome: "x", Time: "y", Reason: "z"}, nil},
	}
	for _, test := range tests {
		page := a.activity.List(test.filter, 0)
		var got []shown.Outcome
		for _, r := range page.Rows {
			got = append(got, r.Outcome)
		}
		slices.Sort(got)
		slices.Sort(test.want)
		if !slices.Equal(got, test.want) || page.More || page.Problem != "" {
			t.Errorf("%s: %v, want %v, %+v", test.name, got, test.want, page)
		}
	}
	rows := a.activity.List(shown.ActivityFilter{}, 0).Rows
	if next := a.activity.List(shown.ActivityFilter{}, rows[1].N).Rows; len(next) != 2 || next[0].ID != rows[2].ID {
		t.Errorf("the next page: %+v", next)
	}
	if newest := rows[0]; newest.Agent.Name != "Main" || !strings.Contains(newest.Command, "<b>") || strings.ContainsRune(newest.Command, '\u202e') {
		t.Errorf("%+v", newest)
	}
	var names []string
	for _, agent := range a.activity.Agents() {
		names = append(names, agent.ID)
	}
	if !slices.Equal(names, []string{"main", "one", "two"}) {
		t.Errorf("%q", names)
	}
	if s := a.activity.Suggestions(); s == nil || len(s) != 0 {
		t.Errorf("%+v", s)
	}
}

func TestRecord(t *testing.T) {
	a := activity(t)
	find := func(o shown.Outcome) shown.Record {
		t.Helper()
		for _, r := range a.activity.List(shown.ActivityFilter{}, 0).Rows {
			if r.Outcome == o {
				return a.activity.Record(r.ID)
			}
		}
		t.Fatalf("nothing is %s", o)
		return shown.Record{}
	}
	ran := find(shown.Passed)
	if len(ran.Programs) != 2 || ran.Programs[0].Command != "id -u" || ran.Programs[1].Path != ran.Programs[0].Path || *ran.Programs[1].End.Code != 0 {
		t.Errorf("%+v", ran.Programs)
	}
	if *ran.End.Code != 0 || ran.End.Took < 0 || ran.OutputSize == 0 || ran.Judged != shown.Passes || ran.By != shown.ByEntry || ran.Peer == "" || ran.PeerPID != os.Getpid() {
		t.Errorf("%+v", ran)
	}
	said := find(shown.DeniedByYou)
	if said.Answer != "deny" || said.AnsweredBy != "panel" || said.Note != "a note" || said.Asked == 0 || said.Answered < said.Asked || said.Judged != shown.Asks || said.End.Took != -1 {
		t.Errorf("%+v", said)
	}
	if hidden := find(shown.DeniedByRule); !hidden.Exact.Hidden || hidden.Told == "" || hidden.Sentence != hidden.Told {
		t.Errorf("%+v", hidden)
	}
	for _, id := range []string{"", "nothing", `'; DROP TABLE runs`} {
		if r := a.activity.Record(id); r.Problem == "" || r.Programs == nil || r.Env == nil || r.Exact.Lines == nil {
			t.Errorf("%q: %+v", id, r)
		}
	}
}

func TestRates(t *testing.T) {
	a := activity(t)
	r := a.activity.Rates()
	if r.Problem != "" || len(r.Days) != 14 {
		t.Fatalf("%+v", r)
	}
	// Around midnight they may be on two days.
	if two := r.Days[12].Requests + r.Days[13].Requests; two != 4 {
		t.Errorf("%+v", r.Days)
	}
	if len(r.Agents) != 3 || r.Agents[0].Agent.ID != "one" || r.Agents[0].Per100 != 100 || r.Agents[2].Agent.ID != "main" || r.Agents[2].Per100 != 0 {
		t.Errorf("%+v", r.Agents)
	}
}

func TestExport(t *testing.T) {
	a := activity(t)
	at := filepath.Join(a.person.Home, "out.jsonl")
	a.window.saveAs = at
	if e := a.activity.Export(shown.ActivityFilter{}); e.OK {
		t.Error("a page that nobody sees wrote a file")
	}
	a.settingsInSight()
	read := func() (rows []history.Row) {
		t.Helper()
		f, err := os.Open(at)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		for s := bufio.NewScanner(f); s.Scan(); {
			var r history.Row
			if err := json.Unmarshal(s.Bytes(), &r); err != nil {
				t.Fatal(err)
			}
			rows = append(rows, r)
		}
		return rows
	}
	if e := a.activity.Export(shown.ActivityFilter{}); !e.OK || e.Rows != len(read()) || e.Rows != 4+3 { // three programs ran
		t.Errorf("%+v", e)
	}
	if e := a.activity.Export(shown.ActivityFilter{Agent: "two"}); !e.OK || e.Rows != 1 || read()[0].AgentID != "two" {
		t.Errorf("%+v", e)
	}
	if info, err := os.Stat(at); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	a.window.saveAs = ""
	if e := a.activity.Export(shown.ActivityFilter{}); !e.OK || e.File != "" {
		t.Errorf("nobody chose a file: %+v", e)
	}
	a.window.saveAs = filepath.Join(a.person.Home, "not there", "x")
	if e := a.activity.Export(shown.ActivityFilter{}); e.OK || e.Message == "" {
		t.Errorf("%+v", e)
	}
	if left, _ := filepath.Glob(filepath.Join(a.person.Home, ".countersign-*")); len(left) > 0 {
		t.Errorf("left: %q", left)
	}
}

// TestStops counts what came of real requests, and says nothing of few.
func TestStops(t *testing.T) {
	a := activity(t) // one passes, one is denied by a rule, two are asked about
	if s := a.activity.Stops(); s.Problem != "" || s.Requests != 0 || s.Reasons == nil || s.Days != 7 {
		t.Errorf("of four: %+v", s)
	}
	for range 16 {
		a.answer(a.agent(t.Context(), "main", "id", "-u"))
	}
	s := a.activity.Stops()
	if s.Problem != "" || s.Requests != 20 || s.Asked != 2 || s.Per100 != 10 || s.Denied != 1 || s.Kept != 2 {
		t.Errorf("of twenty: %+v", s)
	}
	if s.Programs[0] != (shown.Cause{Name: "touch", Stops: 2}) || !slices.Contains(s.Reasons, shown.Cause{Name: "denylisted", Stops: 1}) {
		t.Errorf("%+v %+v", s.Programs, s.Reasons)
	}
}
