package policy

import (
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

// TestAllows: an effect that asks passes only under an entry that covers the program
// and names the effect, and what it needs besides.
func TestAllows(t *testing.T) {
	writes := approval.Finding{Reason: approval.ReasonWritesFile, Sentence: "writes", Allowed: approval.AllowProjectWrites}
	temp := approval.Finding{Reason: approval.ReasonWritesFile, Sentence: "writes", Allowed: approval.AllowTempWrites}
	removes := approval.Finding{Reason: approval.ReasonDeletes, Sentence: "deletes", Allowed: approval.AllowRemovals}
	lasting := approval.Finding{Reason: approval.ReasonDeletes, Sentence: "deletes"}
	reads := approval.Finding{Reason: approval.ReasonUploads, Sentence: "asks h", Allowed: approval.AllowNetworkReads, Value: "h"}
	sends, nowhere := reads, reads
	sends.Allowed, nowhere.Value = approval.AllowNetworkSends, ""
	code := approval.Finding{Reason: approval.ReasonInlineCode, Sentence: "code", Allowed: approval.AllowThisCode}
	input := approval.Finding{Reason: approval.ReasonInlineCode, Sentence: "code", Allowed: approval.AllowThisCode, Value: "ab"}
	unknown := approval.Finding{Reason: approval.ReasonStartsProgram, Sentence: "unknown", Allowed: approval.AllowUnknown}
	list := func(words ...approval.Allowed) []approval.Allowed { return words }
	tool := func(e approval.Entry) approval.Entry {
		if e.Pattern == "" {
			e.Pattern = "/opt/bin/tool"
		}
		return e
	}
	for _, row := range []struct {
		name     string
		entry    approval.Entry
		findings []approval.Finding
		passes   bool
	}{
		{"nothing asks", approval.Entry{}, nil, true},
		{"an entry without the word", approval.Entry{}, []approval.Finding{writes}, false},
		{"with another word", approval.Entry{Allows: list(approval.AllowTempWrites)}, []approval.Finding{writes}, false},
		{"with the word", approval.Entry{Allows: list(approval.AllowProjectWrites)}, []approval.Finding{writes}, true},
		{"with one of two", approval.Entry{Allows: list(approval.AllowProjectWrites)}, []approval.Finding{writes, temp}, false},
		{"with both", approval.Entry{Allows: list(approval.AllowProjectWrites, approval.AllowTempWrites)}, []approval.Finding{writes, temp}, true},
		{"beside what always asks", approval.Entry{Allows: approval.AllAllowed}, []approval.Finding{writes, lasting}, false},
		{"what it deletes, any arguments", approval.Entry{Allows: approval.AllAllowed}, []approval.Finding{removes}, false},
		{"what it deletes, first arguments", approval.Entry{Args: []string{"a"}, Allows: list(approval.AllowRemovals)}, []approval.Finding{removes}, false},
		{"what it deletes, exactly", approval.Entry{Args: []string{"a"}, ArgsExact: true, Allows: list(approval.AllowRemovals)}, []approval.Finding{removes}, true},
		{"what it deletes, exactly, as a write", approval.Entry{Args: []string{"a"}, ArgsExact: true, Allows: list(approval.AllowProjectWrites)}, []approval.Finding{removes}, false},
		{"what it deletes, exactly, without the word", approval.Entry{Args: []string{"a"}, ArgsExact: true}, []approval.Finding{removes}, false},
		{"another program", approval.Entry{Pattern: "/opt/bin/other", Allows: approval.AllAllowed}, []approval.Finding{writes}, false},
		{"other arguments", approval.Entry{Args: []string{"b"}, Allows: approval.AllAllowed}, []approval.Finding{writes}, false},
		{"the host", approval.Entry{Allows: list(approval.AllowNetworkReads), Hosts: []string{"h"}}, []approval.Finding{reads}, true},
		{"another host", approval.Entry{Allows: list(approval.AllowNetworkReads), Hosts: []string{"i"}}, []approval.Finding{reads}, false},
		{"no host", approval.Entry{Allows: list(approval.AllowNetworkReads)}, []approval.Finding{reads}, false},
		{"any host", approval.Entry{}, []approval.Finding{reads, sends, nowhere}, true},
		{"any host, with another word", approval.Entry{Allows: list(approval.AllowTempWrites)}, []approval.Finding{sends, temp}, true},
		{"it sends", approval.Entry{Allows: list(approval.AllowNetworkReads), Hosts: []string{"h"}}, []approval.Finding{sends}, false},
		{"it sends to the host", approval.Entry{Allows: list(approval.AllowNetworkSends), Hosts: []string{"h"}}, []approval.Finding{sends}, true},
		{"it only reads", approval.Entry{Allows: list(approval.AllowNetworkSends), Hosts: []string{"h"}}, []approval.Finding{reads}, false},
		{"a host that nobody knows", approval.Entry{Allows: list(approval.AllowNetworkReads), Hosts: []string{"h"}}, []approval.Finding{nowhere}, false},
		{"code, any arguments", approval.Entry{Allows: list(approval.AllowThisCode)}, []approval.Finding{code}, false},
		{"code, first arguments", approval.Entry{Args: []string{"a"}, Allows: list(approval.AllowThisCode)}, []approval.Finding{code}, false},
		{"code, exactly", approval.Entry{Args: []string{"a"}, ArgsExact: true, Allows: list(approval.AllowThisCode)}, []approval.Finding{code}, true},
		{"code, for an input", approval.Entry{Args: []string{"a"}, ArgsExact: true, Input: "ab", Allows: list(approval.AllowThisCode)}, []approval.Finding{code}, false},
		{"input, of another text", approval.Entry{Args: []string{"a"}, ArgsExact: true, Input: "cd", Allows: list(approval.AllowThisCode)}, []approval.Finding{input}, false},
		{"input, any text", approval.Entry{Args: []string{"a"}, ArgsExact: true, Allows: list(approval.AllowThisCode)}, []approval.Finding{input}, false},
		{"unknown, any arguments", approval.Entry{Allows: list(approval.AllowUnknown)}, []approval.Finding{unknown}, false},
		{"unknown, first arguments", approval.Entry{Args: []string{"a"}, Allows: list(approval.AllowUnknown)}, []approval.Finding{unknown}, false},
		{"unknown, exactly", approval.Entry{Args: []string{"a"}, ArgsExact: true, Allows: list(approval.AllowUnknown)}, []approval.Finding{unknown}, true},
		{"unknown, any one argument", approval.Entry{Args: []string{"*"}, ArgsExact: true, Allows: list(approval.AllowUnknown)}, []approval.Finding{unknown}, false},
		{"code, any one argument", approval.Entry{Args: []string{"*"}, ArgsExact: true, Allows: list(approval.AllowThisCode)}, []approval.Finding{code}, false},
		{"what it deletes, any one argument", approval.Entry{Args: []string{"*"}, ArgsExact: true, Allows: list(approval.AllowRemovals)}, []approval.Finding{removes}, false},
		{"unknown, exactly something else", approval.Entry{Args: []string{"a"}, ArgsExact: true, Allows: list(approval.AllowThisCode)}, []approval.Finding{unknown}, false},
		{"input, this text", approval.Entry{Args: []string{"a"}, ArgsExact: true, Input: "ab", Allows: list(approval.AllowThisCode)}, []approval.Finding{input}, true},
	} {
		p := approval.Policy{AgentID: "a", Security: approval.SecurityList, Ask: approval.AskOnMiss, Allowlist: []approval.Entry{tool(row.entry)}}
		s := approval.Segment{Argv: []string{"/opt/bin/tool", "a"}, Findings: row.findings}
		s.Program = &approval.Resolution{Word: "/opt/bin/tool", Path: "/opt/bin/tool", File: approval.File{Path: "/opt/bin/tool"}}
		plan := approval.Plan{Segments: []approval.Segment{s}, Root: &approval.Node{Op: approval.OpRun}}
		j := Prepare(p, "/home/u", func(at string) string { return at }).Evaluate(Input{Plan: &plan})
		if passes := j.Verdict == approval.VerdictAllow; passes != row.passes {
			t.Errorf("%s: %s %s", row.name, j.Verdict, j.Sentence)
		}
		builtin := approval.Entry{Pattern: "tool", Args: row.entry.Args, ArgsExact: row.entry.ArgsExact, Allows: row.entry.Allows, Hosts: row.entry.Hosts, Input: row.entry.Input}
		if row.entry.Pattern != "" {
			builtin.Pattern = "other"
		}
		p.Allowlist = []approval.Entry{builtin}
		plan.Segments[0].Program, plan.Segments[0].Builtin, plan.Segments[0].Argv = nil, "tool", []string{"tool", "a"}
		j = Prepare(p, "/home/u", func(at string) string { return at }).Evaluate(Input{Plan: &plan})
		if passes := j.Verdict == approval.VerdictAllow; passes != row.passes {
			t.Errorf("%s, a builtin: %s %s", row.name, j.Verdict, j.Sentence)
		}
		p.Allowlist[0].Pattern = "/bin/" + builtin.Pattern // the system's program of the name
		j = Prepare(p, "/home/u", func(at string) string { return at }).Evaluate(Input{Plan: &plan})
		if passes := j.Verdict == approval.VerdictAllow; passes != row.passes {
			t.Errorf("%s, a builtin by its path: %s %s", row.name, j.Verdict, j.Sentence)
		}
	}
}

// TestAllowsOurs: what a command of ours would write asks, as what every other one
// would. No entry is for it.
func TestAllowsOurs(t *testing.T) {
	for _, row := range []struct {
		findings []approval.Finding
		want     approval.Verdict
	}{
		{nil, approval.VerdictAllow},
		{[]approval.Finding{{Reason: approval.ReasonWritesFile, Sentence: "writes", Allowed: approval.AllowProjectWrites}}, approval.VerdictAsk},
	} {
		p := approval.Policy{AgentID: "a", Security: approval.SecurityList, Ask: approval.AskOnMiss, Allowlist: []approval.Entry{{Pattern: "/opt/bin/countersign", Allows: approval.AllAllowed[:2]}}}
		s := approval.Segment{Argv: []string{"/opt/bin/countersign", "status"}, Asks: true, Findings: row.findings}
		s.Program = &approval.Resolution{Word: "/opt/bin/countersign", Path: "/opt/bin/countersign", File: approval.File{Path: "/opt/bin/countersign"}}
		plan := approval.Plan{Segments: []approval.Segment{s}, Root: &approval.Node{Op: approval.OpRun}}
		if j := Prepare(p, "/home/u", func(at string) string { return at }).Evaluate(Input{Plan: &plan}); j.Verdict != row.want {
			t.Errorf("%v: %s %s", row.findings, j.Verdict, j.Sentence)
		}
	}
}

// TestCovering: an entry that is made to cover findings covers just these.
func TestCovering(t *testing.T) {
	of := func(words ...approval.Allowed) (list []approval.Finding) {
		for _, w := range words {
			list = append(list, approval.Finding{Reason: approval.ReasonWritesFile, Allowed: w, Value: map[approval.Allowed]string{approval.AllowNetworkReads: "h"}[w]})
		}
		return list
	}
	for _, row := range []struct {
		findings []approval.Finding
		exact    bool
		want     bool
	}{
		{nil, false, true},
		{of(approval.AllowProjectWrites, approval.AllowNetworkReads, approval.AllowProjectWrites), false, true},
		{of(approval.AllowThisCode), false, false},
		{[]approval.Finding{{Allowed: approval.AllowNetworkReads}}, false, false},
		{[]approval.Finding{{Allowed: approval.AllowNetworkSends, Value: "h"}}, false, true},
		{of(approval.AllowThisCode), true, true},
		{of(approval.AllowUnknown), false, false},
		{of(approval.AllowUnknown, approval.AllowProjectWrites), true, true},
		{of(approval.AllowRemovals), false, false},
		{of(approval.AllowRemovals), true, true},
		{of(approval.AllowProjectWrites, ""), true, false},
		{append(of(approval.AllowThisCode), approval.Finding{Allowed: approval.AllowThisCode, Value: "ab"}), true, false},
	} {
		e, ok := approval.Entry{Pattern: "x", ArgsExact: row.exact}.Covering(row.findings)
		if ok != row.want {
			t.Errorf("%v: %t", row.findings, ok)
		}
		if why := e.MixedAllows(); ok && why != "" {
			t.Errorf("%v: %s", row.findings, why)
		}
	}
}
