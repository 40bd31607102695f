package history

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

func TestStops(t *testing.T) {
	var c clock
	d := open(t, Options{Path: path(t), Now: c.now})
	always := []approval.Decision{approval.AllowOnce, approval.AllowAlways, approval.DecisionDeny}
	once := []approval.Decision{approval.AllowOnce, approval.DecisionDeny}
	asked := func(r Row) Row {
		r.Asked, r.Judged = time.UnixMilli(1), approval.VerdictAsk
		return r
	}
	for i, r := range []Row{
		{Program: "/bin/ls"}, // at 1 s, and one more each second
		asked(Row{Program: "/usr/bin/git", JudgedReason: approval.ReasonAllowlistMiss, Choices: always}),
		asked(Row{Program: "/opt/bin/git", JudgedReason: approval.ReasonUploads, Reason: approval.ReasonUserDenied, State: Denied, Choices: always}),
		asked(Row{Program: "/bin/sh", JudgedReason: approval.ReasonInlineCode, State: Waiting, Choices: once}),
		asked(Row{Program: approval.ToolMark + "github/create_issue", JudgedReason: approval.ReasonAllowlistMiss}),
		{State: Denied, Program: "/usr/bin/sudo", Reason: approval.ReasonDenylisted, Judged: approval.VerdictDeny, JudgedReason: approval.ReasonDenylisted, Choices: always},
		{State: Denied, Reason: approval.ReasonUserDenied, Judged: approval.VerdictAsk, JudgedReason: approval.ReasonAllowlistMiss}, // by a no that stands
		{State: Denied, Reason: approval.ReasonNotFound, Judged: approval.VerdictAsk, JudgedReason: approval.ReasonNotFound},
		asked(Row{Parent: "0", Program: "/usr/bin/rm"}),
		{State: Denied, ID: "more-5f1d", Reason: approval.ReasonDenylisted},
		{State: Running},
	} {
		if r.State == "" {
			r.State = Done
		}
		if r.ID == "" {
			r.ID = fmt.Sprint(i)
		}
		r.Command = "ls"
		c.pass(time.Second)
		put(t, d, r)
	}
	for _, test := range []struct {
		since int64
		want  Stops
	}{
		{0, Stops{
			Commands: 9, Asked: 4, Denied: 2, Kept: 2,
			Reasons:  []Cause{{"allowlist-miss", 2}, {"denylisted", 1}, {"inline-code", 1}, {"uploads", 1}, {"user-denied", 1}},
			Programs: []Cause{{"git", 2}, {"github/create_issue", 1}, {"sh", 1}, {"sudo", 1}},
		}},
		{5000, Stops{
			Commands: 5, Asked: 1, Denied: 2,
			Reasons:  []Cause{{"allowlist-miss", 1}, {"denylisted", 1}, {"user-denied", 1}},
			Programs: []Cause{{"github/create_issue", 1}, {"sudo", 1}},
		}},
		{11000, Stops{Commands: 1, Reasons: []Cause{}, Programs: []Cause{}}},
		{12000, Stops{Reasons: []Cause{}, Programs: []Cause{}}},
	} {
		got, err := d.Stops(within(t), test.since)
		if err != nil || !reflect.DeepEqual(got, test.want) {
			t.Errorf("since %d: %+v, want %+v, %v", test.since, got, test.want, err)
		}
	}
}

// TestStopsReadByTime: rows of before are not looked at, and who waits no longer
// ends the look.
func TestStopsReadByTime(t *testing.T) {
	d := open(t, Options{Path: path(t)})
	for i := range 3 * maxCauses {
		put(t, d, Row{ID: fmt.Sprint(i), State: Denied, Command: "x", Program: fmt.Sprintf("/bin/p%d", i), Reason: approval.ReasonDenylisted})
	}
	s, err := d.Stops(within(t), 0)
	if err != nil || len(s.Programs) != maxCauses || s.Denied != 3*maxCauses {
		t.Errorf("%+v %v", s, err)
	}
	rows, err := d.file.reader.Query("EXPLAIN QUERY PLAN "+stopsSince, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var plan strings.Builder
	for rows.Next() {
		var id, parent, unused int
		var detail string
		if err := rows.Scan(&id, &parent, &unused, &detail); err != nil {
			t.Fatal(err)
		}
		plan.WriteString(detail + "\n")
	}
	if !strings.Contains(plan.String(), "SEARCH runs USING INDEX runs_time (queued>?)") {
		t.Errorf("the plan is\n%s", plan.String())
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if s, err := d.Stops(gone, 0); err == nil {
		t.Errorf("who left was told %+v", s)
	}
}
