package planted

import "testing"

func TestOfLinux(t *testing.T) { t.Fatal("a Mac has no such test") }
