package history

import (
	"fmt"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

func TestSearch(t *testing.T) {
	var c clock
	c.pass(time.Second)
	d := open(t, Options{Path: path(t), Now: c.now})
	request := func(id, agent, command string, change func(*Row)) {
		row := Row{ID: id, State: Done, AgentID: agent, Command: command, Verdict: approval.VerdictAllow, Judged: approval.VerdictAllow}
		if change != nil {
			change(&row)
		}
		put(t, d, row)
		c.pass(time.Second)
	}
	request("1", "main", "git push --force origin/main", nil)
	request("2", "codex", "cat /tmp/Übung.txt", func(r *Row) { r.Note = "Not now" })
	request("3", "main", "git status", func(r *Row) {
		r.State, r.Verdict, r.Reason, r.Decision = Denied, approval.VerdictDeny, approval.ReasonUserDenied, approval.DecisionDeny
		r.Judged, r.JudgedReason = approval.VerdictAsk, approval.ReasonAllowlistMiss
	})
	request("4", `"; DROP TABLE runs --`, "NOT AND OR NEAR(a b) text : x* ^y", nil)
	request("3/1", "main", "git status", func(r *Row) { r.Parent = "3" })
	request("5", "main", "git log", func(r *Row) { r.State = Waiting })
	for _, q := range []struct {
		name string
		q    Query
		want string
	}{
		{"a word", Query{Text: "git"}, "3 1"},
		{"two words", Query{Text: "git push"}, "1"},
		{"in any order", Query{Text: "force git"}, "1"},
		{"the beginning of the last", Query{Text: "git sta"}, "3"},
		{"no beginning of the first", Query{Text: "gi status"}, ""},
		{"a path", Query{Text: "/tmp/übung.txt"}, "2"},
		{"what was told", Query{Text: "not now"}, "2"},
		{"the language of the index", Query{Text: `NOT AND OR`}, "4"},
		{"more of it", Query{Text: `text : x`}, "4"},
		{"quotes", Query{Text: `"git" OR 1=1 --"`}, ""},
		{"nothing to find", Query{Text: ` "*: `}, ""},
		{"a tag is no word", Query{Text: tag("agent", "main")}, ""},
		{"an agent", Query{AgentID: "main", Text: "status"}, "3"},
		{"another one", Query{AgentID: "codex", Text: "status"}, ""},
		{"an odd one", Query{AgentID: `"; DROP TABLE runs --`, Text: "near"}, "4"},
		{"what policy said", Query{Verdict: approval.VerdictAsk}, "3"},
		{"what came of it", Query{Verdict: approval.VerdictDeny}, "3"},
		{"all that passed", Query{Verdict: approval.VerdictAllow}, "4 2 1"},
		{"a reason", Query{Reason: approval.ReasonUserDenied}, "3"},
		{"why it asked", Query{Reason: approval.ReasonAllowlistMiss, AgentID: "main"}, "3"},
		{"an answer", Query{Decision: approval.DecisionDeny}, "3"},
		{"since", Query{Text: "git", Since: 2000}, "3"},
		{"until", Query{Text: "git", Until: 2000}, "1"},
		{"between", Query{Text: "git", Since: 1000, Until: 3000}, "1"},
		{"between the same time", Query{Text: "git", Since: 1000, Until: 1000}, ""},
		{"a page", Query{Text: "git", Limit: 1}, "3"},
		{"the next page", Query{Text: "git", Limit: 1, Before: 3}, "1"},
		{"an id", Query{ID: "2"}, "2"},
	} {
		if got := ids(list(t, d, q.q)); got != q.want {
			t.Errorf("%s: found %q, want %q", q.name, got, q.want)
		}
	}
	if r := verified(t, d, ""); r.Broken != nil {
		t.Errorf("%+v", r.Broken)
	}
}

// TestTrimmedIsNotFound trims what was found before.
func TestTrimmedIsNotFound(t *testing.T) {
	d := open(t, Options{Path: path(t), MaxRows: 3})
	for i := range 8 {
		put(t, d, Row{ID: fmt.Sprint(i), State: Done, Command: "git status"})
	}
	eventually(t, "the oldest are gone", func() bool { return ids(list(t, d, Query{})) == "7 6 5" })
	if got := ids(list(t, d, Query{Text: "git"})); got != "7 6 5" {
		t.Errorf("found %q", got)
	}
	var words int
	if err := d.file.reader.QueryRow("SELECT count(*) FROM words").Scan(&words); err != nil || words != 3 {
		t.Errorf("%d rows of words, %v", words, err)
	}
}

// FuzzMatch gives the index what anybody may type.
func FuzzMatch(f *testing.F) {
	for _, text := range []string{"git", `"`, "a AND", "NEAR(", "x*", "text : y", "\x00", "\xff", "ß ", "^", "-a", "{a b} : c"} {
		f.Add(text, "main")
	}
	d := open(f, Options{Path: path(f)})
	put(f, d, Row{ID: "a", State: Done, Command: "git"})
	f.Fuzz(func(t *testing.T, text, agent string) {
		if _, err := d.List(within(t), Query{Text: text, AgentID: agent}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	})
}
