package command_test

import (
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
)

// readVectors reads results of OpenClaw's own functions.
func readVectors(t *testing.T, name string, to any) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err == nil {
		err = json.Unmarshal(data, to)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestShellParserVectors compares with the texts that OpenClaw understands,
// and with the programs that it finds in them.
func TestShellParserVectors(t *testing.T) {
	var file struct {
		Cases []struct {
			ID, Command string
			OK          bool
			Executables []string
		}
	}
	readVectors(t, "exec-allowlist-shell-parser-parity.json", &file)
	if len(file.Cases) != 13 {
		t.Fatalf("%d cases", len(file.Cases))
	}
	const judged = "what a substitution runs is planned and judged, and what it prints is judged before the start"
	differs := map[string]struct {
		found []string
		why   string
	}{
		"reject-command-substitution-unquoted":      {[]string{"echo", "whoami"}, judged},
		"reject-command-substitution-double-quoted": {[]string{"echo", "whoami"}, judged},
		"reject-backticks-unquoted":                 {[]string{"echo", "id"}, judged},
		"reject-backticks-double-quoted":            {[]string{"echo", "id"}, judged},
	}
	a := &command.Analyzer{World: approvaltest.NewWorld("/bin/ls /bin/rm /bin/cat /bin/whoami /bin/id /bin/jq /home/ann/p/file"), Home: "/home/ann"}
	a.SetPath([]string{"/bin"})
	for _, c := range file.Cases {
		plan := a.Analyze(t.Context(), bash(c.Command), approvaltest.Named("/home/ann/p"))
		understood := plan.Root != nil && len(plan.Findings) == 0
		d, listed := differs[c.ID]
		delete(differs, c.ID)
		if (understood != c.OK) != listed {
			t.Errorf("%s: understood is %v, of OpenClaw %v; listed as different: %q", c.ID, understood, c.OK, d.why)
		}
		want := c.Executables
		if listed {
			want = d.found
		} else if !c.OK {
			continue // theirs finds nothing then; ours goes on, to show what it found
		}
		var found []string
		for _, s := range plan.Segments {
			found = append(found, s.Argv[0])
		}
		if !slices.Equal(found, want) {
			t.Errorf("%s: found %q, want %q", c.ID, found, want)
		}
	}
	if len(differs) > 0 {
		t.Errorf("listed as different, but not in the file: %v", differs)
	}
}
