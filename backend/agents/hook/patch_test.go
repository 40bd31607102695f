package hook

import (
	"strings"
	"testing"
)

func TestPatchFiles(t *testing.T) {
	const begin, end = "*** Begin Patch\n", "\n*** End Patch"
	for _, test := range [][2]string{ // a patch, and its files or "error"
		{begin + "*** Add File: a\n+x" + end, "a"},
		{begin + "*** Delete File: a" + end, "deletes a"},
		{begin + "*** Delete File: a\n*** Add File: b\n+x" + end, "a b"},
		{begin + "*** Update File: a\n*** Move to: b\n@@\n-x\n+y" + end, "a b"},
		{begin + "*** Update File: a\n@@\n-x\n*** Update File: a\n@@\n+y" + end, "a"},
		{"  *** Begin Patch  \r\n  *** Add File: a\r\n+x\r\n *** End Patch ", "a"},
		{"<<'EOF'\n" + begin + "*** Add File: a b.txt\n+x" + end + "\nEOF", "a b.txt"},
		{begin + "*** Add File: /etc/passwd\n+x" + end, "/etc/passwd"},
		// What a file holds is no marker, unless it may be taken for one.
		{begin + "*** Update File: a\n@@\n ***\n-*** Add File: b\n+*** Copy File: c\n *** x" + end, "a"},
		{begin + "*** Update File: a\n@@\n *** Add File: b" + end, "a b"},
		{begin + "*** Add File: a\n+*** Add File: b" + end, "a"},
		{begin + "*** Update File: a\n@@\n-x\n*** End of File" + end, "a"},
		// What is not understood.
		{begin + "*** Copy File: a" + end, "error"},
		{begin + "*** Environment ID: x\n*** Add File: a\n+x" + end, "error"},
		{begin + "*** Delete File: a\n *** Copy File: b" + end, "error"},
		{begin + "*** Update File: a\n@@\n-x\n*** Copy File: b" + end, "error"},
		{begin + "*** Add File: a\n+x" + end + "\n*** Add File: b" + end, "error"},
		{begin + begin + "*** Add File: a\n+x" + end, "error"},
		{begin + "*** Add File: " + end, "error"},
		{begin + "*** Add File:  a" + end, "error"},
		{begin + "*** Update File: a\n*** Move to: b \n@@\n-x" + end, "error"},
		{begin + "*** Add File: a\tb" + end, "error"},
		{begin + "*** Add File: " + strings.Repeat("a", maxPath+1) + end, "error"},
		{begin + "+x" + end, "error"},
		{begin + "*** Add File: a\n+x", "error"},
		{"*** Begin Patch", "error"},
		{"", "error"},
	} {
		files, deletes, err := patchFiles(test[0])
		got := strings.Join(files, " ")
		if deletes {
			got = "deletes " + got
		}
		if err != nil {
			got = "error"
		}
		if got != test[1] {
			t.Errorf("%q: %s (%v), want %s", test[0], got, err, test[1])
		}
	}
	many := begin + strings.Repeat("*** Add File: a\n+x\n", maxPatched)
	for i := range maxPatched + 1 {
		many += "*** Add File: " + strings.Repeat("b", i%100+1) + strings.Repeat("c", i/100+1) + "\n"
	}
	if _, _, err := patchFiles(many + end); err == nil {
		t.Error("a patch of more files than anybody looks at is read")
	}
}
