package programs

import "testing"

func TestKindOf(t *testing.T) {
	for _, c := range []struct {
		name, kind string
		raises     bool
	}{
		{"doas", "wrapper", true}, {"sudo", "wrapper", true}, {"pkexec", "wrapper", false}, {"run0", "wrapper", false}, {"env", "wrapper", false},
		{"python3.12", "interpreter", false}, {"x86_64-linux-gnu-gcc-13", "starter", false}, {"SH", "shell", false}, {"gtar", "starter", false},
		{"ls", "reader", false}, {"rm", "changer", false}, {"doas!", "", false}, {"mine", "", false}, {"", "", false},
	} {
		if kind := KindOf(c.name); kind != c.kind || Raises(c.name) != c.raises {
			t.Errorf("%s: %q, raises %v", c.name, kind, Raises(c.name))
		}
	}
	for name, want := range map[string]bool{
		"doas": true, "php": true, "busybox": true, "npx": true, "docker": true, "sh": true,
		"gmail": false, "mail": false, "postgres": false, "mongo": false, "kubectl": false, "git": false, "g++": false, "rm": false, "mine": false, "npx>": false,
	} {
		if Launches(name) != want {
			t.Errorf("%s launches %v", name, !want)
		}
	}
	// A link that is called like a reader and leads to something unknown is none.
	if kind := KindOf("ls", "mine"); kind != "" {
		t.Errorf("ls that leads to mine is a %s", kind)
	}
	if kind := KindOf("ls", "bash"); kind != "shell" {
		t.Errorf("ls that leads to bash is a %s", kind)
	}
}
