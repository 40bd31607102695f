package command_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
)

// knowing is a machine whose programs get these variables anyway.
func knowing(names string) *command.Analyzer {
	a := invented()
	a.Inherited = func(name string) bool { return strings.Contains(" "+names+" ", " "+name+" ") }
	return a
}

// Each text is read on a machine where programs get LANG, EDITOR and INHERITED
// anyway, and show writes which variables reach which program.
func TestVariables(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		// Known to be harmless.
		{`CI=1 LC_ALL=en_US.UTF-8 make`, `make`},
		{`export TZ=UTC NO_COLOR=1; make`, `seq(assign(), make)`},
		{`env CI=true MAKEFLAGS=-j8 make`, `env CI=true MAKEFLAGS=-j8 make`},
		{`LANG=C; make`, `seq(assign(), make)`},
		{`GIT_EDITOR=true git commit`, `git commit`},

		// Another case, and another value.
		{`ci=1 make`, `make make$ci=1`},
		{`LC_ALL=en_US.SJIS make`, `make make$LC_ALL=en_US.SJIS`},
		{`LC_ALL=C.UTF-8@x make`, `make make$LC_ALL=C.UTF-8@x`},
		{`TZ=:/etc/passwd make`, `make make$TZ=:/etc/passwd`},
		{`CI=./x make`, `make make$CI=./x`},
		{`MAKEFLAGS=--eval=x make`, `make make$MAKEFLAGS=--eval=x`},
		{`export LANG=/tmp/x; make`, `seq(assign(), make) make$LANG=/tmp/x`},
		{`LANG=/tmp/x; make`, `seq(assign(), make) make$LANG=/tmp/x`},
		{`env LANG=/tmp/x make`, `env LANG=/tmp/x make make$LANG=/tmp/x`},

		// What started programs, and stood on no list.
		{`GIT_TEST_FSMONITOR='touch x' git status`, `git status git$GIT_TEST_FSMONITOR=touch x`},
		{`PYTHON=./evil make`, `make make$PYTHON=./evil`},
		{`AS=./evil FC=./evil make`, `make make$AS=./evil make$FC=./evil`},
		{`DBUS_SESSION_BUS_ADDRESS=unixexec:path=/bin/sh /opt/tool/bin/tool`, `/opt/tool/bin/tool /opt/tool/bin/tool$DBUS_SESSION_BUS_ADDRESS=unixexec:path=/bin/sh`},
		{`GOOS=linux GOCACHE=/tmp/x make`, `make make$GOOS=linux make$GOCACHE=/tmp/x`},
		{`PAGER=less git log`, `git log git$PAGER=less`},
		{`HTTPS_PROXY=x curl https://a.example`, `curl https://a.example curl:uses-network curl$HTTPS_PROXY=x`},

		// A shell variable that reaches no program.
		{`A=1; B=$A; make`, `seq(assign(), assign(), make)`},
		{`A=$(ls); echo "$A"`, `seq(assign(), echo "$A")`},
		{`GIT_SSH=./x; git status`, `seq(assign(), git status)`},
		{`for f in a b; do cat $f; done`, `for(cat $f)`},
		{`A=1 echo x`, `echo x`},

		// One that does: exported before or after, in a loop, or inherited.
		{`export A=1; make; git status`, `seq(assign(), make, git status) make$A=1 git$A=1`},
		{`make; export A=1; git status`, `seq(make, assign(), git status) git$A=1`},
		{`A=1; make; export A; git status`, `seq(assign(), make, assign(), git status) make$A=1 git$A=1`},
		{`export A; A=1; make`, `seq(assign(), assign(), make) make$A=1`},
		{`A=$(ls); export A; make`, `? !runtime-value`},
		{`export A=$(ls); make`, `? !runtime-value`},
		{`for A in x y; do make; export A; done`, `for(seq(make, assign())) make$A=x make$A=y`},
		{`while make; do export A=1; done`, `while(make, assign()) make$A=1`},
		{`(export A=1; make); git status`, `seq(sub(seq(assign(), make)), git status) make$A=1`},
		{`echo "$(export A=1; make)"; git status`, `seq(echo "$(export A=1; make)", git status) make$A=1`},
		{`export A=1; A=2; make`, `seq(assign(), assign(), make) make$A=1 make$A=2`},
		{`INHERITED=1; make`, `seq(assign(), make) make$INHERITED=1`},
		{`INHERITED=$(ls); make`, `? !runtime-value`},
		{`for EDITOR in ./x; do git commit; done`, `for(git commit) git$EDITOR=./x`},
		{`export A=1; cat a | wc; ls "$(cat b)"`, `seq(assign(), pipe(cat a, wc), ls "$(cat b)") cat$A=1 wc$A=1 ls$A=1 cat$A=1`},

		// Through wrappers, and more of them.
		{`env A=1 make`, `env A=1 make make$A=1`},
		{`env A=1 env B=2 make`, `env A=1 env B=2 make env$A=1 make$A=1 make$B=2`},
		{`A=1 env B=2 make`, `env B=2 make env$A=1 make$A=1 make$B=2`},
		{`A=1 gnice make`, `gnice make gnice$A=1 make$A=1`},
		{`find sub -exec env A=1 cat {} +`, `find sub -exec env A=1 cat {} + env:wrapper-unclear cat$A=1`},
		{`env A="$x" make`, `env A="$x" make make$A=?`},
		{`env A=$x make`, `env A=$x make env:runtime-value`},

		// What no entry can carry.
		{`PATH=/x make`, `? !env-asks`},
		{`env HOME=/x make`, `env HOME=/x make env:env-asks`},
		{`export PATH=/x; make`, `? !env-asks`},
		{`XDG_CONFIG_HOME=/x git status`, `? !env-asks`},
		{`env xdg_config_home=/x git status`, `env xdg_config_home=/x git status env:env-asks`},
		{`IFS=/; make`, `? !env-asks`},
		{`CDPATH=/x cd sub`, `? !env-asks`},
		{`export PS4`, `? !env-asks`},
		{`SECONDS=1 make`, `? !env-asks`},
		{"A='a\nb' make", `? !env-asks`},
		{"env A='a\nb' make", "env A=a\nb make env:env-asks"},
		{`env a-b=1 make`, `env a-b=1 make env:env-asks`},
		{`env ./a=b make`, `env ./a=b make env:env-asks`},
		{`env =x make`, `env =x make env:env-asks`},
		{`BASH_FUNC_make%%=x make`, `? BASH_FUNC_make%%=x:not-found`},
		{`env 'BASH_FUNC_make%%=() { id; }' make`, `env BASH_FUNC_make%%=() { id; } make env:env-refused`},

		// Refused.
		{`LD_PRELOAD=./x make`, `? !env-refused`},
		{`ld_preload=./x make`, `? !env-refused`},
		{`LD_PRELOAD=$x make`, `? !env-refused make:runtime-value`},
		{`LD_PRELOAD+=x make`, `? !env-refused !evaluates`},
		{`DYLD_INSERT_LIBRARIES=x make &`, `? !env-refused`},
		{`f() { LD_PRELOAD=x make; }; f`, `? !env-refused !approval-required f:not-found`},
		{`export BASH_ENV=x; make`, `? !env-refused`},
		{`declare -x LD_PRELOAD=x; make`, `? !env-refused !evaluates`},
		{`LD_PRELOAD=x; make`, `? !env-refused !env-asks`},
		{`env LD_PRELOAD=x make`, `env LD_PRELOAD=x make env:env-refused`},
		{`ENV=x make`, `? !env-refused`},
		{`IFS=/ make`, `? !env-refused`},
		{`IFS= read -r x`, `read -r x`},
		{`IFS=: read -r x`, `? !env-asks`},
		{`IFS= read -a x`, `? !env-asks read:evaluates`},
		{`read -r PATH`, `? !env-asks`},
		{`read -r x LD_PRELOAD`, `? !env-asks`},
		{`export PAGER; read -r PAGER; make`, `? !env-asks !runtime-value`},
		{`export x; read -r x; make`, `? !runtime-value`},
		{`((PATH=1))`, `? !env-asks !approval-required`},
		{`: ${PATH:=.}; make`, `? !env-asks ::runtime-value`},
		{`while IFS= read -r x; do echo "$x"; done < a`, `? !outside-folder`},
		{`xargs env LD_PRELOAD=x cat`, `xargs env LD_PRELOAD=x cat env:env-refused env:wrapper-unclear`},
		{`sudo LD_PRELOAD=x make`, `sudo LD_PRELOAD=x make sudo:env-refused`},
	} {
		got := show(knowing("LANG EDITOR INHERITED").Analyze(t.Context(), bash(test.in), approvaltest.Named("/home/ann/p")))
		if got != test.want {
			t.Errorf("%q\n got  %s\n want %s", test.in, got, test.want)
		}
	}
}

// TestRequestedNamesAreInherited: what the request sets reaches programs, so a text
// that gives it another value gives it to them.
func TestRequestedNamesAreInherited(t *testing.T) {
	for _, test := range []struct {
		env  map[string]string
		want string
	}{
		{nil, `seq(assign(), make)`},
		{map[string]string{"A": "2"}, `seq(assign(), make) make$A=1`},
	} {
		req := bash(`A=1; make`)
		req.Env = test.env
		if got := show(knowing("").Analyze(t.Context(), req, approvaltest.Named("/home/ann/p"))); got != test.want {
			t.Errorf("%v: %s, want %s", test.env, got, test.want)
		}
	}
}

// TestVariablesOfOtherShells: the table is the same where the agent's own shell or a
// zsh runs the text.
func TestVariablesOfOtherShells(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{`CI=1 make`, `make`},
		{`A=1 make`, `make make$A=1`},
		{`env A=1 make`, `env A=1 make make$A=1`},
		{`LD_PRELOAD=x make`, `? !env-refused`},
		{`path=/x make`, `? !env-asks`},
		{`A=1; make`, `? !approval-required`},
		{`GIT_PAGER=./e : ; make`, `? !env-asks ::unreadable :$GIT_PAGER=./e`},
		{`GIT_PAGER=./e exit; make`, `? !env-asks exit:unreadable exit$GIT_PAGER=./e`},
	} {
		theirs := &approval.Request{Text: test.in, Cwd: "/home/ann/p", Who: approval.Theirs}
		zsh := bash(test.in)
		zsh.Command[0] = "/bin/zsh"
		for _, req := range []*approval.Request{theirs, zsh} {
			if got := show(knowing("").Analyze(t.Context(), req, approvaltest.Named("/home/ann/p"))); got != test.want {
				t.Errorf("%s %q\n got  %s\n want %s", req.Who, test.in, got, test.want)
			}
		}
	}
}

// TestManyVariables: past a bound a text asks, and what they cost stays small.
func TestManyVariables(t *testing.T) {
	many := func(format string, n int) string {
		var words []string
		for i := range n {
			words = append(words, strings.ReplaceAll(format, "#", strconv.Itoa(i)))
		}
		return strings.Join(words, " ")
	}
	for _, text := range []string{
		many("A#=x", 5000) + " ls", "env " + many("A#=x", 5000) + " ls", "export " + many("A#=x", 5000) + "; ls", many("export A#=x; ls;", 2000),
		many("for a in x; do export A#=x;", 60) + many("ls;", 1000) + many(" done;", 60), "export A; " + many("A=#; ls;", 1000),
	} {
		plan := invented().Analyze(t.Context(), bash(text), approvaltest.Named("/home/ann/p"))
		if plan.Root != nil || !slices.Contains(reasons(plan.Findings), approval.ReasonTooComplex) && len(plan.Segments) > 1 && len(plan.Segments[1].Env) > 100 {
			t.Errorf("%.40s …: %v", text, reasons(plan.Findings))
		}
		for _, s := range plan.Segments {
			if len(s.Env) > 201 {
				t.Fatalf("%.40s …: a segment with %d variables", text, len(s.Env))
			}
		}
	}
}

// TestShowsVariables: what shows all variables asks where one may be secret, and what
// shows one by its name.
func TestShowsVariables(t *testing.T) {
	holds, none := func() bool { return true }, func() bool { return false }
	for _, test := range []struct {
		text    string
		secrets func() bool
		who     approval.Who
		asks    bool
	}{
		{"env", nil, approval.Ours, true}, {"env", holds, approval.Ours, true}, {"env", none, approval.Ours, false}, {"env", none, approval.Theirs, true}, {"env -0", holds, approval.Ours, true}, {"env -u X CI=1", holds, approval.Ours, true},
		{"printenv", holds, approval.Ours, true}, {"printenv | cat", holds, approval.Ours, true}, {"gnice env", holds, approval.Ours, true}, {"make -p", holds, approval.Ours, true}, {"make -p", none, approval.Ours, false}, {"env make", holds, approval.Ours, false},
		{"envsubst <<< '$GITHUB_TOKEN'", holds, approval.Ours, true}, {"envsubst <<< '$HOME'", none, approval.Ours, false}, {"envsubst '$HOME' <<< x", holds, approval.Ours, true},
		{"printenv HOME", holds, approval.Ours, false}, {"printenv GITHUB_TOKEN", none, approval.Ours, true}, {"printenv MYSQL_PWD", none, approval.Ours, true}, {"ls | xargs printenv", none, approval.Ours, true},
		{"ps eww", none, approval.Ours, true}, {"ps -E", none, approval.Ours, true}, {"ps -ef", holds, approval.Ours, false}, {"ps aux", holds, approval.Ours, false}, {"ls | xargs ps", none, approval.Ours, true},
		{"echo $MYSQL_PWD", none, approval.Ours, true}, {`cat "x$SSHPASS"`, none, approval.Ours, true}, {"echo ${STRIPE_KEY}", none, approval.Ours, true}, {"echo $API_URL", none, approval.Ours, false},
	} {
		a := invented()
		for name := range strings.FieldsSeq("printenv ps envsubst") {
			a.World.(folders).Files["/usr/bin/"+name] = approvaltest.File{Mode: 0o755}
		}
		a.Secrets = test.secrets
		plan := a.Analyze(t.Context(), &approval.Request{Text: test.text, Cwd: "/home/ann/p", Who: test.who}, approvaltest.Named("/home/ann/p"))
		found := allReasons(plan)
		if got := slices.Contains(found, approval.ReasonProtectedState) || slices.Contains(found, approval.ReasonRuntimeValue); got != test.asks {
			t.Errorf("%s %q: %v", test.who, test.text, found)
		}
	}
}
