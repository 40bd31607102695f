package shown_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/preview"
)

// said joins the sentences.
func said(w shown.WouldDo) string {
	var list []string
	for _, l := range w.Lines {
		list = append(list, strings.Join(strings.Fields(l.Text+" "+l.Path+" "+l.Rest), " "))
	}
	return strings.Join(list, ". ")
}

func TestWouldDo(t *testing.T) {
	const (
		deletes, writes   = approval.TargetDeletes, approval.TargetWrites
		changes, moves    = approval.TargetChanges, approval.TargetMoves
		file, folder      = preview.File, preview.Folder
		nothing, unlooked = preview.Nothing, preview.NotLooked
	)
	at := func(name string) string { return home + "/Projects/atlas/" + name }
	many := func(n int, one preview.Target) (list []preview.Target) {
		for i := range n {
			one.Path = at(fmt.Sprint("f", i))
			list = append(list, one)
		}
		return list
	}
	git := preview.Target{Op: deletes, Kind: file, Files: 1, Size: 400_000, InRepo: true}
	lost := git
	lost.Unknown = 1
	for _, test := range []struct {
		name string
		seen preview.Preview
		want string
	}{
		{"nothing", preview.Preview{}, "Names no file that it would change"},
		{"a reader", preview.Preview{Reads: true}, "Only reads"},
		{"a file", preview.Preview{Targets: []preview.Target{{Op: deletes, Path: at("a"), Kind: file, Files: 1, Size: 512}}}, "Deletes a (512 bytes)"},
		{"in git", preview.Preview{Targets: []preview.Target{{Op: writes, Path: at("src/a.go"), Kind: file, Files: 1, Size: 4_100, InRepo: true}}}, "Overwrites src/a.go (4.1 KB, in git as it is)"},
		{"changed", preview.Preview{Targets: []preview.Target{{Op: writes, Path: at("a"), Kind: file, Files: 1, Size: 4_000, InRepo: true, Changed: 1}}}, "Overwrites a (4 KB, with changes that are not in git)"},
		{"not in git", preview.Preview{Targets: []preview.Target{{Op: changes, Path: at("a"), Kind: file, Files: 1, Size: 1, InRepo: true, Unknown: 1}}}, "Changes a (1 byte, not in git)"},
		{"a new one", preview.Preview{Targets: []preview.Target{{Op: writes, Path: at("a"), Kind: nothing}}}, "Makes a"},
		{"gone already", preview.Preview{Targets: []preview.Target{{Op: deletes, Path: at("a"), Kind: nothing}}}, "Deletes a (not there)"},
		{"a link", preview.Preview{Targets: []preview.Target{{Op: deletes, Path: at("a"), Kind: preview.Link, Files: 1}}}, "Deletes a (a link)"},
		{"a pipe", preview.Preview{Targets: []preview.Target{{Op: writes, Path: at("a"), Kind: preview.Other}}}, "Overwrites a (no plain file)"},
		{"into a folder", preview.Preview{Targets: []preview.Target{{Op: writes, Path: at("a"), Kind: folder}}}, "Writes into a"},
		{"moved", preview.Preview{Targets: []preview.Target{{Op: moves, Path: at("a"), Kind: file, Files: 1, Size: 3}, {Op: writes, Path: at("b"), Kind: nothing}}}, "Moves a (3 bytes). Makes b"},
		{"a folder", preview.Preview{Targets: []preview.Target{{Op: deletes, Path: at("a"), Kind: folder, Files: 12, Size: 1_230_000, InRepo: true, Unknown: 1, Changed: 2}}}, "Deletes a (12 files, 1.2 MB, 1 of them not in git, 2 with changes that are not in git)"},
		{"a folder, not to its end", preview.Preview{Targets: []preview.Target{{Op: deletes, Path: at("a"), Kind: folder, Files: 1_234_567, Size: 1_230_000, Partly: true}}}, "Deletes a (at least 1,234,567 files, 1.2 MB)"},
		{"counted in part, all in git", preview.Preview{Targets: []preview.Target{{Op: deletes, Path: at("a"), Kind: folder, Files: 20, Size: 20, Partly: true, InRepo: true}}}, "Deletes a (at least 20 files, 20 bytes)"},
		{"counted in part, none in git", preview.Preview{Targets: []preview.Target{{Op: deletes, Path: at("a"), Kind: folder, Files: 20, Size: 20, Partly: true, InRepo: true, Unknown: 20}}}, "Deletes a (at least 20 files, 20 bytes, 20 of them not in git)"},
		{"a repository", preview.Preview{Targets: []preview.Target{{Op: deletes, Path: at("a"), Kind: folder, Files: 1, Size: 12, Repos: 1}}}, "Deletes a (1 file, 12 bytes, with a git repository in it)"},
		{"an empty folder", preview.Preview{Targets: []preview.Target{{Op: deletes, Path: at("a"), Kind: folder}}}, "Deletes a (0 files, 0 bytes)"},
		{"many", preview.Preview{Targets: append(many(4, git), lost)}, "Deletes 5 files, 2 MB; 1 of them not in git"},
		{"many, all in git", preview.Preview{Targets: many(4, git)}, "Deletes 4 files, 1.6 MB; all of them in git as they are"},
		{"many, none in git", preview.Preview{Targets: many(4, lost)}, "Deletes 4 files, 1.6 MB; none of them in git"},
		{"many, git not known", preview.Preview{Targets: append(many(4, git), preview.Target{Op: deletes, Kind: file, Files: 1})}, "Deletes 5 files, 1.6 MB"},
		{"many, not all seen", preview.Preview{Targets: append(many(3, git), preview.Target{Op: deletes}, preview.Target{Op: deletes, Kind: nothing}), GaveUp: preview.GaveUpTime},
			"Deletes 3 files, 1.2 MB; all of them in git as they are; 1 more not there; 1 more not looked at. Could not look at everything in 50 ms"},
		{"many, not to their end", preview.Preview{Targets: append(many(4, git), preview.Target{Op: deletes, Kind: folder, Files: 2000, Partly: true})}, "Deletes at least 2,004 files, 1.6 MB"},
		{"many new ones", preview.Preview{Targets: many(5, preview.Target{Op: writes, Kind: nothing})}, "Makes 5 files"},
		{"given up", preview.Preview{Targets: []preview.Target{{Op: writes, Path: at("a"), Kind: unlooked}}, GaveUp: preview.GaveUpBusy}, "May write a (not looked at). Could not look: the disk has not answered what was asked before"},
		{"elsewhere", preview.Preview{Targets: []preview.Target{{Op: deletes, Path: home + "/a", Kind: nothing}, {Op: deletes, Path: "/etc/\u202ex", Kind: nothing}}}, `Deletes ~/a (not there). Deletes /etc/\u{202E}x (not there)`},
		{"the folder itself", preview.Preview{Targets: []preview.Target{{Op: deletes, Path: home + "/Projects/atlas", Kind: nothing}}}, "Deletes ~/Projects/atlas (not there)"},
		{"later", preview.Preview{Untold: true}, "What it changes is known only when it runs"},
		{"programs", preview.Preview{Unknown: []string{"deploy", "s\u202eh"}, Network: []string{"curl"}, Project: []string{"make", "npm", "git"}},
			`What deploy and s\u{202E}h change is not known. Starts what the project names: make, npm and git. Uses the network: curl`},
		{"a program", preview.Preview{Unknown: []string{"deploy"}, Untold: true}, "What it changes is known only when it runs. What deploy changes is not known"},
		{"many programs", preview.Preview{Unknown: []string{"a", "b", "c", "d"}}, "What 4 programs change is not known"},
		{"a long name", preview.Preview{Network: []string{strings.Repeat("x", 99)}}, "Names no file that it would change. Uses the network: " + strings.Repeat("x", 20) + "…" + strings.Repeat("x", 19)},
	} {
		p := approval.Prompt{Plan: approval.Plan{Cwd: approval.File{Path: home + "/Projects/atlas"}}}
		if got := said(shown.NewWouldDo(p, test.seen, in)); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// What is said of a size stays short, and right.
func TestSizes(t *testing.T) {
	for size, want := range map[int64]string{0: "0 bytes", 999: "999 bytes", 1000: "1 KB", 9_949: "9.9 KB", 9_960: "10 KB", 999_499: "999 KB", 999_500: "1 MB", 1 << 62: "4612 PB"} {
		w := shown.NewWouldDo(approval.Prompt{}, preview.Preview{Targets: []preview.Target{{Op: approval.TargetDeletes, Path: "/a", Kind: preview.File, Files: 1, Size: size}}}, in)
		if got := w.Lines[0].Rest; got != "("+want+")" {
			t.Errorf("%d: %s, want %s", size, got, want)
		}
	}
}

func TestRiskIsSaid(t *testing.T) {
	w := newWorld()
	q := shown.NewQuestion(w.ask("main", "s", "git", "push"), in)
	if q.Risk.Level != approval.RiskHigh || strings.Join(q.Risk.Reasons, "; ") != "git publishes for others" || !q.Risky {
		t.Errorf("%+v", q.Risk)
	}
	p := w.ask("main", "s", "cat", "x")
	if q = shown.NewQuestion(p, in); q.Risk.Level != approval.RiskLow || len(q.Risk.Reasons) > 0 || q.Risky {
		t.Errorf("%+v", q.Risk)
	}
	p.Judgement.Risk = approval.Weighed{Reasons: []approval.Finding{{Sentence: "a\u202eb"}}}
	if q = shown.NewQuestion(p, in); q.Risk.Level != approval.RiskHigh || q.Risk.Reasons[0] != `a\u{202E}b` || !q.Risky {
		t.Errorf("what is not known: %+v", q.Risk)
	}
}
