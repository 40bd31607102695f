// Package planted holds a test that does not hold on a Mac, one that does, and
// one that a Mac does not compile.
package planted

import (
	"os/exec"
	"testing"
)

func TestMistake(t *testing.T) {
	if err := exec.Command("/usr/bin/cat", "/dev/null").Run(); err != nil {
		t.Fatal(err)
	}
}

func TestRight(t *testing.T) {
	if err := exec.Command("/bin/cat", "/dev/null").Run(); err != nil {
		t.Fatal(err)
	}
}
