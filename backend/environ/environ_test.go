package environ

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/paths"
)

type vars = map[string]string

func TestCheck(t *testing.T) {
	for _, c := range []struct {
		about     string
		requested vars
		want      Report
	}{
		{"nothing", nil, Report{}},
		{"harmless", vars{"TERM": "xterm", "LANG": "C", "LC_ALL": "en_US.UTF-8", "CI": "1", "MAKEFLAGS": "-j8"}, Report{}},
		{"another case", vars{"lang": "C", "Ci": "1"}, asks("Ci=1", "lang=C")},
		{"other values", vars{"LANG": "C.SJIS", "LC_ALL": "", "CI": "/tmp/x", "TERM": "../x", "TZ": ":/etc/passwd"},
			asks("CI=/tmp/x", "LANG=C.SJIS", "LC_ALL=", "TERM=../x", "TZ=:/etc/passwd")},
		{"unknown", vars{"FOO": "1", "BAR": "tab\there", "GOOS": "linux"}, asks("BAR=tab\there", "FOO=1", "GOOS=linux")},
		{"known", vars{"http_proxy": "x", "GH_TOKEN": "x"}, asks("GH_TOKEN=x", "http_proxy=x")},
		{"started programs", vars{"GIT_TEST_FSMONITOR": "x", "DBUS_SESSION_BUS_ADDRESS": "unixexec:path=/x", "GROFF_BIN_PATH": "/x", "MANROFFOPT": "-x"},
			asks("DBUS_SESSION_BUS_ADDRESS=unixexec:path=/x", "GIT_TEST_FSMONITOR=x", "GROFF_BIN_PATH=/x", "MANROFFOPT=-x")},
		{"refused", vars{"ld_preload": "x", "GIT_DIR": "x"}, Report{Refused: []string{"GIT_DIR", "ld_preload"}}},
		{"ours", vars{"Path": "x", "COUNTERSIGN_RUN": "x"}, Report{Refused: []string{"COUNTERSIGN_RUN", "Path"}}},
		{"malformed", vars{"A B": "x", "": "x"}, Report{Refused: []string{"", "A B"}, Invalid: []string{"", "A B"}}},
		{"newline", vars{"FOO": "a\nb"}, Report{Refused: []string{"FOO"}, Invalid: []string{"FOO"}}},
		{"NUL", vars{"GH_TOKEN": "a\x00b"}, Report{Refused: []string{"GH_TOKEN"}, Invalid: []string{"GH_TOKEN"}}},
		{"control in what can be harmless", vars{"TERM": "a\x1bb"}, Report{Refused: []string{"TERM"}, Invalid: []string{"TERM"}}},
		{"twice", vars{"FOO": "1", "foo": "1", "BAR": "1"}, Report{Refused: []string{"FOO", "foo"}, Asks: asks("BAR=1").Asks}},
		{"harmless twice", vars{"TERM": "1", "Term": "1"}, Report{Refused: []string{"TERM", "Term"}}},
		{"no pager", vars{"PAGER": "cat", "GIT_PAGER": ""}, Report{}},
		{"a pager", vars{"PAGER": "less", "GIT_PAGER": "cat x"}, Report{Refused: []string{"GIT_PAGER", "PAGER"}}},
		{"other pagers", vars{"MANPAGER": "cat", "pager": "cat"}, Report{Refused: []string{"MANPAGER", "pager"}}},
	} {
		if diff := cmp.Diff(c.want, Check(c.requested)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.about, diff)
		}
	}
}

// asks is the report of variables that ask.
func asks(list ...string) (r Report) {
	for _, kv := range list {
		name, value, _ := strings.Cut(kv, "=")
		r.Asks = append(r.Asks, approval.Variable{Name: name, Value: value})
	}
	return r
}

// A value with a NUL or a newline refuses whatever the name is, and nothing of
// it gets in.
func TestValuesThatRefuse(t *testing.T) {
	for _, name := range []string{"TERM", "FOO", "GH_TOKEN", "LD_PRELOAD", "PATH", "PAGER", "GIT_PAGER", "lc_all"} {
		for _, value := range []string{"\x00", "a\x00", "\n", "a\nb", "cat\n"} {
			requested := vars{name: value}
			want := Report{Refused: []string{name}, Invalid: []string{name}}
			if diff := cmp.Diff(want, Check(requested)); diff != "" {
				t.Errorf("%s=%q (-want +got):\n%s", name, value, diff)
			}
			if got, plain := (Base{}).With(requested, "r", "/d"), (Base{}).With(nil, "r", "/d"); !slices.Equal(got, plain) {
				t.Errorf("%s=%q: the environment is %q", name, value, got)
			}
		}
	}
}

// What the login shell set stays, though a request for it is refused; loaders
// and start-up names of shells go in either case.
func TestInheritedAgainstRequested(t *testing.T) {
	for name, stays := range map[string]bool{
		"NODE_OPTIONS": true, "EDITOR": true, "GOFLAGS": true, "GIT_SSH_COMMAND": true, "TERMINFO": true, "HOME": true,
		"XDG_CONFIG_HOME": true, "SSH_AUTH_SOCK": true, "CC": true, "npm_config_cache": true,
		"LD_LIBRARY_PATH": false, "ld_preload": false, "DYLD_INSERT_LIBRARIES": false, "BASH_ENV": false, "ENV": false,
		"BASH_FUNC_f%%": false, "SHELLOPTS": false, "PS4": false, "PROMPT_COMMAND": false, "IFS": false, "ZDOTDIR": false,
	} {
		b := FromProcess([]string{name + "=ours"})
		if got := slices.Contains(b.With(nil, "r", "/d"), name+"=ours"); got != stays {
			t.Errorf("%s inherited: %v, want %v", name, got, stays)
		}
		if r := Check(vars{name: "theirs"}); !slices.Equal(r.Refused, []string{name}) {
			t.Errorf("%s requested: %+v, want it refused", name, r)
		}
		if slices.Contains(b.With(vars{name: "theirs"}, "r", "/d"), name+"=theirs") {
			t.Errorf("%s requested gets in", name)
		}
	}
}

func TestFromProcess(t *testing.T) {
	b := FromProcess([]string{
		"PATH=/bin::/usr/bin", "A=1", "A=2", "E=", "EQ=a=b", "NL=a\nb", "=C:=x", "nothing", "NUL=a\x00b",
		"LD_PRELOAD=x", "BASH_ENV=x", "BASH_FUNC_f%%=() { :; }", "BASH_FUNC_a/b%%=x", "IFS=x",
		"_=/bin/env", "PWD=/x", "OLDPWD=/x", "SHLVL=1", "EDITOR=vi", "odd-name=1",
	})
	want := vars{"PATH": "/bin::/usr/bin", "A": "1", "E": "", "EQ": "a=b", "NL": "a\nb", "EDITOR": "vi", "odd-name": "1"}
	if diff := cmp.Diff(want, b.vars); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got, want := b.Path(), []string{"/bin", ".", "/usr/bin"}; !slices.Equal(got, want) {
		t.Errorf("PATH is %q, want %q", got, want)
	}
	if value, ok := b.Get("E"); !ok || value != "" {
		t.Errorf("E is %q, %v", value, ok)
	}
	if _, ok := b.Get("NONE"); ok {
		t.Error("NONE is there")
	}
}

func TestPathIsNeverEmpty(t *testing.T) {
	for _, b := range []Base{{}, FromProcess(nil), FromProcess([]string{"PATH="})} {
		if got := strings.Join(b.Path(), ":"); got != paths.DefaultPath() {
			t.Errorf("PATH is %q", got)
		}
		if value, ok := b.Get("PATH"); !ok || value != paths.DefaultPath() {
			t.Errorf("PATH is %q, %v", value, ok)
		}
		if !slices.Contains(b.With(nil, "r", "/"), "PATH="+paths.DefaultPath()) {
			t.Error("a run gets no PATH")
		}
	}
}

func TestWith(t *testing.T) {
	b := FromProcess([]string{"PATH=/bin", "HOME=/h", "FOO=old", "COUNTERSIGN_RUN=outer", "http_proxy=a", "HTTP_PROXY=b"})
	got := b.With(vars{
		"FOO": "new", "NEW": "a=b", "GH_TOKEN": "t", "PAGER": "cat", "http_proxy": "c",
		// None of these gets in, though nobody asked Check.
		"PATH": "/x", "home": "/x", "LD_PRELOAD": "x", "A B": "x", "NL": "a\nb", "NUL": "a\x00b",
		"TWICE": "1", "twice": "1", "COUNTERSIGN": "0", "OPENCLAW_SHELL": "x", "PWD": "/x", "": "x",
	}, "run1", "/work")
	want := []string{
		"COUNTERSIGN=1", "COUNTERSIGN_RUN=run1", "FOO=new", "GH_TOKEN=t", "HOME=/h", "HTTP_PROXY=b", "NEW=a=b",
		"OPENCLAW_SHELL=exec", "PAGER=", "PATH=/bin", "PWD=/work", "http_proxy=c",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if value, _ := b.Get("FOO"); value != "old" {
		t.Error("a run changed the base")
	}
}

func TestDiff(t *testing.T) {
	b := FromProcess([]string{"PATH=/bin", "TERM=dumb", "FOO=old", "GH_TOKEN=old", "NO_PROXY=x"})
	got := b.Diff(vars{
		"TERM": "dumb", "CI": "1", "FOO": "new", "NEW": "", "GH_TOKEN": "t", "MY_PASSWORD": "p", "NO_PROXY": "x", "GIT_PAGER": "cat",
		"PATH": "/x", "LD_PRELOAD": "x", "A B": "x",
	})
	want := []approval.EnvChange{
		{Name: "CI", Value: "1"},
		{Name: "FOO", Value: "new", Old: "old", Was: true, Asks: true},
		{Name: "GH_TOKEN", Was: true, Secret: true, Asks: true},
		{Name: "GIT_PAGER"},
		{Name: "MY_PASSWORD", Secret: true, Asks: true},
		{Name: "NEW", Asks: true},
		{Name: "NO_PROXY", Value: "x", Old: "x", Was: true, Asks: true}, // it asks, so it is shown
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func vectors(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

// TestRequestedVectors compares with what OpenClaw refuses, with what it lets
// through to a shell, and with what it sets for a program.
func TestRequestedVectors(t *testing.T) {
	var file struct {
		Cases []struct {
			Overrides   vars
			Diagnostics struct {
				RejectedOverrideBlockedKeys, RejectedOverrideInvalidKeys []string
			}
			ShellWrapper, Direct vars
		}
	}
	vectors(t, "env-overrides.json", &file)
	if len(file.Cases) != 27 {
		t.Fatalf("%d cases", len(file.Cases))
	}
	const asked = "endpoints and credentials are asked, not refused"
	const strict = "names are compared as they are, and must be [A-Za-z_][A-Za-z0-9_]*"
	const noPager = "no pager is an empty one for a program too, not only for a shell"
	refused := map[string]string{
		"HTTP_PROXY=x": asked, "GH_TOKEN=x": asked,
		"ProgramFiles(x86)=x": strict, " FOO =x": strict,
	}
	direct := map[string]string{"GIT_PAGER=cat": noPager, "PAGER=cat": noPager}
	for _, c := range file.Cases {
		key := one(c.Overrides)
		r := Check(c.Overrides)
		var got []string
		for _, name := range r.Refused {
			if !slices.Contains(r.Invalid, name) {
				name = strings.ToUpper(name)
			}
			got = append(got, name)
		}
		want := slices.Concat(c.Diagnostics.RejectedOverrideBlockedKeys, c.Diagnostics.RejectedOverrideInvalidKeys)
		slices.Sort(want)
		why, listed := refused[key]
		delete(refused, key)
		if slices.Equal(got, want) == listed {
			t.Errorf("%q: refused %q, OpenClaw refuses %q; listed as different: %q", key, got, want, why)
		}
		if len(r.Refused)+len(r.Asks) == 0 && len(want) > 0 {
			t.Errorf("%q passes, OpenClaw refuses %q", key, want)
		}
		if len(r.Refused)+len(r.Asks) > 0 {
			continue
		}
		// In a shell only those pass that are harmless.
		passes, set := vars{}, vars{}
		settings, _ := sift(c.Overrides)
		for _, s := range settings {
			set[s.name] = s.value
			if !s.asks {
				passes[s.name] = s.value
			}
		}
		if len(passes)+len(c.ShellWrapper) > 0 && !cmp.Equal(passes, c.ShellWrapper) {
			t.Errorf("%q: a shell gets %q, from OpenClaw %q", key, passes, c.ShellWrapper)
		}
		why, listed = direct[key]
		delete(direct, key)
		if cmp.Equal(set, c.Direct) == listed {
			t.Errorf("%q: a program gets %q, from OpenClaw %q; listed as different: %q", key, set, c.Direct, why)
		}
	}
	if len(refused)+len(direct) > 0 {
		t.Errorf("listed as different, but not in the file: %v %v", refused, direct)
	}
}

// one writes variables as one text, sorted.
func one(requested vars) string {
	var list []string
	for name, value := range requested {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// TestInheritedVectors compares the environment of a whole run.
func TestInheritedVectors(t *testing.T) {
	var file struct {
		Base  vars
		Cases []struct {
			Result struct {
				Env                                                      vars
				RejectedOverrideBlockedKeys, RejectedOverrideInvalidKeys []string
			}
		}
	}
	vectors(t, "env-inherited.json", &file)
	if len(file.Cases) != 1 {
		t.Fatalf("%d cases", len(file.Cases))
	}
	var inherited []string
	for name, value := range file.Base {
		inherited = append(inherited, name+"="+value)
	}
	requested := vars{"FOO": "2", "NEW": "1"} // what the file was made with
	got := FromProcess(inherited).With(requested, "r", "/d")

	theirs := file.Cases[0].Result
	if n := len(Check(requested).Refused); n != len(theirs.RejectedOverrideBlockedKeys)+len(theirs.RejectedOverrideInvalidKeys) {
		t.Errorf("%d requested names are refused", n)
	}
	want := theirs.Env
	// Nobody hostile set the login environment, and builds need it: only
	// loaders and start-up files of shells are taken out.
	for _, name := range strings.Fields("NODE_OPTIONS AWS_SECRET_ACCESS_KEY EDITOR GH_TOKEN JAVA_TOOL_OPTIONS GIT_ALLOW_PROTOCOL GIT_PROTOCOL_FROM_USER") {
		if want[name] == file.Base[name] {
			t.Errorf("%s is listed as different and is not", name)
		}
		want[name] = file.Base[name]
	}
	// Our own marks instead of theirs.
	delete(want, "OPENCLAW_CLI")
	want["COUNTERSIGN"], want["COUNTERSIGN_RUN"], want["OPENCLAW_SHELL"], want["PWD"] = "1", "r", "exec", "/d"
	var list []string
	for name, value := range want {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	if diff := cmp.Diff(list, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// FuzzWith asks that no request sets a name twice or one of ours, and that
// what is in the environment is what Check let through.
func FuzzWith(f *testing.F) {
	f.Add("FOO", "1", "foo", "2")
	f.Add("PATH", "/x", "LD_PRELOAD", "x")
	f.Add("A=B", "1", "PWD", "\x00")
	f.Add("ſHELL", "1", "GIT_PAGER", "cat")
	f.Fuzz(func(t *testing.T, name1, value1, name2, value2 string) {
		requested := vars{name1: value1, name2: value2}
		r := Check(requested)
		ours := vars{"PATH": "/bin", "HOME": "/h", "PWD": "/d", "COUNTERSIGN": "1", "COUNTERSIGN_RUN": "r", "OPENCLAW_SHELL": "exec"}
		seen := vars{}
		for _, kv := range FromProcess([]string{"PATH=/bin", "HOME=/h"}).With(requested, "r", "/d") {
			name, value, _ := strings.Cut(kv, "=")
			if _, twice := seen[name]; twice || strings.ContainsAny(kv, "\x00\n") {
				t.Errorf("%q in the environment", kv)
			}
			seen[name] = value
		}
		for name, value := range ours {
			if seen[name] != value {
				t.Errorf("%s is %q", name, seen[name])
			}
			delete(seen, name)
		}
		for name := range seen {
			if _, asked := requested[name]; !asked || slices.Contains(r.Refused, name) {
				t.Errorf("%q got in", name)
			}
		}
	})
}
