package service

import (
	"encoding/xml"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// hostile is a unit whose words mean something to service managers.
func hostile(program string) Unit {
	return Unit{Name: "node", About: "50% of <it> & more", Program: program, Args: []string{
		"--state-dir", "/home/a b/$HOME", "%h", "100%", "$$", "${PATH}", `quo"te`, `back\slash`, "'single'", "", ";", "<x>&amp;", "ümläut", "--flag=a b", `\n`,
	}}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// TestSystemd has the words come back as they were, and systemd's own checker
// look at the unit.
func TestSystemd(t *testing.T) {
	program := filepath.Join(t.TempDir(), "a program")
	must(t, os.WriteFile(program, []byte("#!/bin/sh\n"), 0o755))
	u := hostile(program)
	text := systemdUnit(u)
	var command string
	for line := range strings.Lines(string(text)) {
		if value, ok := strings.CutPrefix(line, "ExecStart="); ok {
			command = strings.TrimSuffix(value, "\n")
		}
	}
	if got := readWords(t, command); !slices.Equal(got, append([]string{u.Program}, u.Args...)) {
		t.Errorf("%q", got)
	}
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("skipped: systemd-analyze is not installed")
	}
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir()) // the checker asks for one
	file := filepath.Join(t.TempDir(), "countersign-node.service")
	must(t, os.WriteFile(file, text, 0o600))
	if out, err := exec.Command(analyze, "verify", "--user", "--man=no", file).CombinedOutput(); err != nil || strings.Contains(string(out), file) {
		t.Errorf("%v: %s", err, out)
	}
	// The checker can fail.
	must(t, os.WriteFile(file, []byte(strings.Replace(string(text), "ExecStart=", "ExecStrat=", 1)), 0o600))
	if out, err := exec.Command(analyze, "verify", "--user", "--man=no", file).CombinedOutput(); err == nil && !strings.Contains(string(out), "ExecStrat") {
		t.Error("a unit without a program passes")
	}
}

// readWords reads a command line as systemd.syntax(7) and systemd.service(5)
// say.
func readWords(t *testing.T, line string) (words []string) {
	t.Helper()
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		if line[0] != '"' {
			t.Fatalf("a word without quotes: %s", line)
		}
		var word strings.Builder
		i := 1
		for ; line[i] != '"'; i++ {
			switch c := line[i]; c {
			case '\\', '%', '$':
				i++
				if line[i] != c && (c != '\\' || line[i] != '"') {
					t.Fatalf("systemd expands %q in %s", line[i-1:i+1], line)
				}
			}
			word.WriteByte(line[i])
		}
		words, line = append(words, word.String()), line[i+1:]
	}
	return words
}

// TestLaunchd has the words come back as they were.
func TestLaunchd(t *testing.T) {
	u := hostile("/Applications/A & B.app/Contents/MacOS/countersign")
	text := launchdAgent(u, "/Users/a<b/Library/Logs/Countersign")
	got := readPlist(t, text)
	for key, want := range map[string][]string{
		"Label": {"app.countersign.node"}, "ProgramArguments": append([]string{u.Program}, u.Args...), "RunAtLoad": {"true"}, "SuccessfulExit": {"false"},
		"StandardErrorPath": {"/Users/a<b/Library/Logs/Countersign/node.log"}, "Umask": {"63"}, "LimitLoadToSessionType": {"Aqua"},
	} {
		if !slices.Equal(got[key], want) {
			t.Errorf("%s: %q, want %q", key, got[key], want)
		}
	}
	if len(got["UserName"])+len(got["EnvironmentVariables"]) > 0 {
		t.Error("it has what it does not need")
	}
}

// TestBeforeUnits: the files that an older countersign wrote are, byte for byte,
// those that are written today, so nothing that is installed is another service.
func TestBeforeUnits(t *testing.T) {
	const from, home = "../cmd/countersign/testdata/before/home/", "/tmp/cs-before"
	ours := func(name, about string, words ...string) Unit {
		return Unit{name, about, home + "/bin/countersign", append([]string{"--json", "--state-dir", home + "/.openclaw", name, "run"}, words...)}
	}
	node := ours("node", "Countersign node service", "--gateway", "ws://127.0.0.1:1", "--exec-host", "app", "--display-name", "50% mini")
	gateway := ours("gateway", "Countersign gateway", "--listen", "127.0.0.1:2")
	for file, now := range map[string][]byte{
		".config/systemd/user/countersign-node.service":    systemdUnit(node),
		".config/systemd/user/countersign-gateway.service": systemdUnit(gateway),
		"Library/LaunchAgents/app.countersign.node.plist":  launchdAgent(node, home+"/Library/Logs/Countersign"),
	} {
		before, err := os.ReadFile(from + file)
		must(t, err)
		if string(before) != string(now) {
			t.Errorf("%s is now\n%s\nand was\n%s", file, now, before)
		}
	}
}

// readPlist reads the values that follow each key.
func readPlist(t *testing.T, text []byte) map[string][]string {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(string(text)))
	d.Strict = true
	values, key, name := map[string][]string{}, "", ""
	for {
		token, err := d.Token()
		if err == io.EOF {
			return values
		}
		must(t, err)
		switch token := token.(type) {
		case xml.StartElement:
			name = token.Name.Local
			if name == "string" {
				values[key] = append(values[key], "")
			}
			if name == "true" || name == "false" {
				values[key] = append(values[key], name)
			}
		case xml.CharData:
			switch name {
			case "key":
				key = string(token)
			case "string":
				values[key][len(values[key])-1] += string(token)
			case "integer":
				values[key] = append(values[key], string(token))
			}
		case xml.EndElement:
			name = ""
		}
	}
}

func TestPrintedPID(t *testing.T) {
	for text, want := range map[string]int{
		"gui/501/app.countersign.node = {\n\tactive count = 1\n\tpid = 4242\n\tstate = running\n}\n": 4242,
		"gui/501/app.countersign.node = {\n\tstate = not running\n}\n":                               0,
		"\tpid = many\n": 0, "": 0,
	} {
		if got := printedPID(text); got != want {
			t.Errorf("%q: %d", text, got)
		}
	}
}

// TestRefused: nothing is written for what a unit file could read in another
// way, and nothing for root who stands in for a person.
func TestRefused(t *testing.T) {
	home := t.TempDir()
	none := func(string) string { return "" }
	for _, u := range []Unit{
		{Name: "node", Program: "countersign"}, {Name: "node", Program: ""}, {Name: "node", Program: "/opt/a$b/countersign"}, {Name: "node", Program: "/bin/a\nExecStartPre=/bin/b"},
		{Name: "node", Program: "/bin/a", Args: []string{"a\nb"}}, {Name: "node", Program: "/bin/a", Args: []string{"a\x00b"}}, {Name: "node", Program: "/bin/a", About: "x\n[Service]"},
		{Name: "node", Program: "/bin/a", Args: []string{"\xff"}},
	} {
		if path, err := For(home, none).Install(u); err == nil || path != "" {
			t.Errorf("%+v is installed", u)
		}
	}
	sudo := func(name string) string { return map[string]string{"SUDO_USER": "somebody"}[name] }
	if _, err := For(home, sudo).Install(Unit{Name: "node", Program: "/bin/a"}); err == nil || !strings.Contains(err.Error(), "without sudo") {
		t.Error(err)
	}
	if list, _ := os.ReadDir(home); len(list) > 0 {
		t.Error(list)
	}
}
