package approvaltest

import (
	"bytes"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"
)

const (
	// apartEnv names the test that a process of its own runs.
	apartEnv = "COUNTERSIGN_TEST_APART"
	// programsEnv is where such a process finds the programs of Program.
	programsEnv = "COUNTERSIGN_TEST_PROGRAMS"
)

// Apart runs a test, or one row of its table, in a process of its own, beside
// others: for tests that wait, and that look at what all of a process has in
// common, such as its children and descriptors. It reports whether this is that
// process; elsewhere the test is over when it returns. The package's TestMain
// uses Main.
func Apart(t *testing.T) bool {
	t.Helper()
	if os.Getenv(apartEnv) == t.Name() {
		return true
	}
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	// Like this, each part of the name is matched as a whole.
	only := "^" + strings.ReplaceAll(regexp.QuoteMeta(t.Name()), "/", "$/^") + "$"
	args := []string{"-test.v", "-test.count=1", "-test.run=" + only}
	if end, ok := t.Deadline(); ok {
		args = append(args, "-test.timeout="+time.Until(end).String())
	}
	cmd := exec.Command(self, args...)
	cmd.Env = append(os.Environ(), apartEnv+"="+t.Name(), programsEnv+"="+programsFolder(t))
	out, err := cmd.CombinedOutput()
	switch {
	case bytes.Contains(out, []byte("--- SKIP: "+t.Name()+" (")):
		t.Skipf("%s", out)
	case err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name()+" (")): // also where nothing ran
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", said(out))
	return false
}

// said is what a process apart has logged, without the lines about its tests.
func said(out []byte) []byte {
	var kept [][]byte
	for line := range bytes.Lines(out) {
		text := bytes.TrimSpace(line)
		if !bytes.HasPrefix(text, []byte("=== ")) && !bytes.HasPrefix(text, []byte("--- ")) && string(text) != "PASS" {
			kept = append(kept, line)
		}
	}
	return bytes.Join(kept, nil)
}
