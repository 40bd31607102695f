package command_test

import (
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
)

// verbMachine has the command line under its name, by links, as a copy, beside a
// script that starts it, and a program of the same name from elsewhere.
func verbMachine() *command.Analyzer {
	a := invented()
	w := a.World.(folders).World
	for _, name := range []string{"/usr/bin/countersign", "/home/ann/p/copy", "/opt/other/countersign", "/usr/bin/nohup"} {
		w.Files[name] = w.Files["/bin/ls"]
	}
	w.Links["/home/ann/p/link"] = "/usr/bin/countersign"
	w.Links["/usr/bin/csign"] = "/home/ann/p/link"
	script := w.Files["/home/ann/p/run.sh"]
	script.Text = "#!/usr/bin/countersign stop\n"
	w.Files["/home/ann/p/script"] = script
	a.IsOurs = func(f approval.File) bool { return f.Path == "/usr/bin/countersign" || f.Path == "/home/ann/p/copy" }
	return a
}

// TestVerbs: an agent's command that operates Countersign is on the floor, however
// it names our program; what reads and asks, and what only speaks of it, is not.
func TestVerbs(t *testing.T) {
	set := "policy set security full"
	for _, denied := range []string{
		"countersign " + set, "/usr/bin/countersign " + set, "../../../usr/bin/countersign " + set, "./link " + set, "csign " + set, "./copy " + set,
		"/opt/other/countersign " + set, "/nowhere/countersign " + set, "COUNTERSIGN " + set, "./script", "./script x",
		"countersign --json --state-dir /x " + set, "countersign --state-dir=/x -- " + set, "countersign policy --json set security full",
		"countersign approvals approve 1", "countersign approvals add --deny x", "countersign approvals serve", "countersign stop", "countersign pause 1h",
		"countersign resume", "countersign hook install claude-code --yes", "countersign host run", "countersign doctor --takeover", "countersign doctor --takeover=true",
		"/opt/other/countersign frobnicate", "/opt/other/countersign policy frobnicate",
		"ls && countersign stop", "ls | countersign stop", "(countersign stop)", "echo $(countersign stop)", "if ls; then countersign stop; fi", "f() { countersign stop; }; f",
		"env countersign stop", "gnice -n 5 countersign stop", "sudo countersign stop", "command countersign stop", "exec countersign stop", "nohup ./copy stop &",
		"find . -exec countersign stop ';'", "ls | xargs countersign approvals approve", "echo stop | xargs countersign", "echo stop | xargs ./copy",
		"sh -c 'countersign stop'", "bash -lc './copy stop'", "eval countersign stop", "alias c='countersign stop'; c", "trap 'countersign stop' EXIT",
		"/lib64/ld-linux-x86-64.so.2 /usr/bin/countersign stop", "/opt/tool/bin/tool countersign stop", "/opt/tool/bin/tool -- ./copy stop",
		"python3 -c 'import os; os.system(\"countersign stop\")'", `python3 -c "import subprocess; subprocess.run(['/usr/bin/countersign', 'policy', 'set', 'security', 'full'])"`,
		"python3 <<'EOF'\nimport os\nos.execlp('countersign', 'countersign', 'stop')\nEOF", "sh <<'EOF'\ncountersign stop\nEOF", "bash <<EOF\nls\n./copy stop\nEOF", "sh <<< './copy stop'",
		"awk 'BEGIN { system(\"countersign stop\") }'", "perl5.36-x86_64-linux-gnu -e 'exec qw(countersign stop)'",
		"C=countersign; $C stop", "countersign $VERB", "countersign policy $(echo set) security full", "countersign $X policy show", "countersign doctor $X",
		"countersign run -- countersign stop", "countersign run --agent x countersign stop", "countersign run sh -c 'countersign stop'",
		"c\\ountersign stop", "'countersign' \"stop\"", "/usr/bin/count*sign stop",
		"if countersign stop; then \u202e fi", "countersign stop " + strings.Repeat("x; ", 3000),
	} {
		plan := verbMachine().Analyze(t.Context(), bash(denied), approvaltest.Named("/home/ann/p"))
		theirs := bash(denied)
		theirs.Who = approval.Theirs
		hidden := strings.Contains(denied, "$C") || strings.Contains(denied, "*") // another shell makes the name, and the text asks
		if !floored(plan) || !hidden && !floored(verbMachine().Analyze(t.Context(), theirs, approvaltest.Named(theirs.Cwd))) {
			t.Errorf("passes: %.100s\n%.300s", denied, show(plan))
		}
	}
	for _, passes := range []string{
		"countersign", "countersign --help", "countersign --version", "countersign policy show", "countersign --state-dir /x history list --limit 5", "./copy version", "./link doctor",
		"csign approvals pending --json", "countersign hook claude-code", "countersign mcp", "countersign mcp proxy -- ls", "countersign hook status --test",
		"countersign run ls -l", "countersign run --cwd sub -- ./run.sh", "countersign run --approved abc", "countersign run -- countersign version",
		"echo countersign stop", "grep -r 'countersign stop' .", "git commit -m 'countersign stop'", "cat countersign", "ls countersign stop", "cd /opt/other && ls countersign",
		"python3 -c 'print(1)'", "python3 -c 'print(\"countersign policy show\")'", "/opt/tool/bin/tool countersign", "/opt/tool/bin/tool --for countersign build", "git add countersign", "cp ./copy /tmp/x",
		"env countersign policy show", "./copy", "./copy frobnicate", "countersign frobnicate", "./link frobnicate",
	} {
		plan := verbMachine().Analyze(t.Context(), bash(passes), approvaltest.Named("/home/ann/p"))
		if floored(plan) {
			t.Errorf("denied: %s\n%s", passes, show(plan))
		}
	}
}

func floored(p approval.Plan) bool {
	for _, s := range p.Segments {
		if s.Floor != "" {
			return true
		}
	}
	return false
}

// TestVerbsWithoutShell: the same of words that no shell reads.
func TestVerbsWithoutShell(t *testing.T) {
	for _, argv := range [][]string{{"countersign", "stop"}, {"/home/ann/p/copy", "stop"}, {"env", "-i", "./link", "stop"}} {
		plan := verbMachine().Analyze(t.Context(), &approval.Request{Command: argv, Cwd: "/home/ann/p", Who: approval.Theirs}, approvaltest.Named("/home/ann/p"))
		if !floored(plan) {
			t.Errorf("passes: %v: %s", argv, show(plan))
		}
	}
}

// TestAskingVerbs: what asks is only a door, and what it would run is judged: our
// own program alone, and none that has only its name.
func TestAskingVerbs(t *testing.T) {
	for _, c := range []struct {
		text, run, dir, approved string
		asks                     bool
	}{
		{"countersign run ls -l", "ls -l", "/home/ann/p", "", true},
		{"countersign --json run --agent x --cwd sub -- ./run.sh a", "./run.sh a", "/home/ann/p/sub", "", true},
		{"./copy run --wait=5s rm -rf x", "rm -rf x", "/home/ann/p", "", true},
		{"countersign --state-dir /other run --approved abc", "", "", "abc", true},
		{"countersign run --approved=abc", "", "", "abc", true},
		{"countersign run --approved abc ls", "", "", "abc", false},
		{"countersign --state-dir /other run ls", "", "", "", false},
		{"countersign run --gateway ws://x ls", "", "", "", false},
		{"countersign run --frobnicate ls", "", "", "", false},
		{"countersign run", "", "", "", false},
		{"/opt/other/countersign run ls", "", "", "", false},
	} {
		plan := verbMachine().Analyze(t.Context(), bash(c.text), approvaltest.Named("/home/ann/p"))
		outer := plan.Segments[0]
		if outer.Asks != c.asks || outer.Approved != c.approved {
			t.Errorf("%s: asks %t, id %q", c.text, outer.Asks, outer.Approved)
		}
		if c.run == "" {
			continue
		}
		if len(plan.Segments) != 2 || strings.Join(plan.Segments[1].Argv, " ") != c.run || plan.Segments[1].Dir != c.dir || plan.Segments[1].Via != 1 {
			t.Errorf("%s: %+v", c.text, plan.Segments)
		}
	}
}
