package command

import (
	"regexp"
	"slices"
	"strings"
	"testing"
)

// onlyWorking are the effects that may pass in what is said to work on a project,
// besides those of reading: what they name lies in it.
var onlyWorking = words("inside lock folder script gofile usual context here module out into each task switch goflags setting down copy modes over ref")

// inFolder are those that say for themselves that what is written lies in the project.
var inFolder = words("out into each copy modes")

// asWork are commands with the name of one that is no work: biome's ci only checks, git
// stages and puts away, and with compose the project's own file says what starts.
var asWork = words("biome/ci git/add worktree/add stash/push migrations/add compose/up compose/create docker-compose/up docker-compose/create podman-compose/up podman-compose/create")

// notWork are words that publish, install, remove or change what is not the project's.
var notWork = words("publish deploy release push upload login install i ci add update upgrade up remove rm uninstall un link dlx create init")

// TestWorksOnlyWorks: of what a profile says to work on a project nothing passes that
// sends, installs, or writes elsewhere, and it starts only what a project names.
func TestWorksOnlyWorks(t *testing.T) {
	for name, p := range profiles().programs {
		for _, words := range p.works {
			at, under, script := p, name, strings.HasSuffix(words, oneScript)
			for word := range strings.SplitSeq(strings.TrimSuffix(words, "/."), "/") {
				if script = script || ofProject(word); ofProject(word) {
					break // the rest is for that
				}
				switch sub := at.subs[word]; {
				case notWork()[word] && !asWork()[under+"/"+word]:
					t.Errorf("%s %s leaves the project", name, words)
				case sub != nil:
					at, under = sub, word
				case word == "" || word == "*" || strings.HasPrefix(word, "@"):
				case strings.HasPrefix(word, "-"):
					if o, known := at.options[word]; !known || o.effect != effectNone && !onlyReading()[string(o.effect)] && !onlyWorking()[string(o.effect)] {
						t.Errorf("%s: %s in %s is no option that only works on a project", name, word, words)
					}
				default:
					t.Errorf("%s has no subcommand %s", name, words)
				}
			}
			if more := at.beyond(onlyWorking()); more != "" {
				t.Errorf("%s %s can do more than work on a project: %s", name, words, more)
			}
			if script && at.operands[0] != effectScript {
				t.Errorf("%s %s is no script of the project", name, words)
			}
			inside := slices.ContainsFunc(append(slices.Clone(at.operands), at.last), func(e effect) bool { return inFolder()[string(e)] })
			if !script && !inside && !p.is["project"] && !at.is["project"] && len(p.lists["given"]) == 0 && name != "shellcheck" {
				t.Errorf("%s starts or writes in any folder", name)
			}
		}
	}
}

// ofProject reports whether the first word of a command is a script that a framework
// gives each project; what follows is for that.
func ofProject(word string) bool { return strings.HasSuffix(word, ".py") || word == "artisan" }

// TestOverIsGits: what git overwrites under the effect "over" asks, as its entries in
// the start write no files.
func TestOverIsGits(t *testing.T) {
	for name, p := range profiles().programs {
		for words, sub := range p.subs {
			if name != "git" && slices.Contains(sub.operands, "over") && len(p.works) > 0 {
				t.Errorf("%s %s overwrites files", name, words)
			}
		}
	}
}

// TestTasks: only names made of words for work count, alone or among others.
func TestTasks(t *testing.T) {
	for _, row := range []struct {
		mark string
		n    int
		args string // with blanks between them
		want bool
	}{
		{oneTask, 0, "test", true},
		{oneTask, 0, "test:unit", true},
		{oneTask, 0, "build-web", true},
		{oneTask, 0, "lint:fix --force deploy", true}, // what follows is for the task
		{oneTask, 0, "", false},
		{oneTask, 0, "deploy", false},
		{oneTask, 0, "test:deploy", false},
		{oneTask, 0, "build-and-push", false},
		{oneTask, 0, "testdeploy", false},
		{oneTask, 0, "release", false},
		{oneTask, 0, "publish test", false},
		{oneTask, 0, "-x test", false},
		{oneTask, 0, "fix", false}, // only behind another word
		{oneTask, 0, "TEST", false},
		{oneTask, 0, "test/../deploy", false},
		{oneTask, 1, "run test", true},
		{oneTask, 1, "run deploy", false},
		{oneTask, 1, "test", false},
		{oneTask, 2, "--prefix x build", true},
		{onlyTasks, 0, "", true},
		{onlyTasks, 0, "-j8 clean test V=1", true},
		{onlyTasks, 0, "-j 8 all", true},
		{onlyTasks, 0, "test deploy", false},
		{onlyTasks, 0, "deploy test", false},
		{onlyTasks, 0, "install", false},
		{onlyTasks, 1, "run build test", true},
		{onlyTasks, 1, "run build publish", false},
		{oneScript, 0, "scripts/check-exports.mjs packages/auth", true},
		{oneScript, 0, "./scripts/fetch_stations.py", true},
		{oneScript, 0, "packages/core/tools/gen/d.ts", true},
		{oneScript, 1, "--check scripts/a.mjs", true},
		{anyLocal, 1, "run", true},
		{anyLocal, 1, "run ./cmd/server -addr :8080 -n 5", true},
		{anyLocal, 1, "run --release -- parse A.txt", true},
		{anyLocal, 1, "run --release --release -q depl", true},
		{anyLocal, 1, "run release", false},
		{anyLocal, 1, "run a.release", false},
		{anyLocal, 1, "run ./cmd/deploy", false},
		{anyLocal, 1, "run ./cmd/x drop", false},
		{anyLocal, 1, "run -- -delete-all", false},
		{anyLocal, 1, "run --bin=push", false},
		{oneScript, 0, "scripts/deploy.mjs", false},
		{oneScript, 0, "scripts/deployment/a.py", false},
		{oneScript, 0, "scripts/a/pre-release.py", false},
		{oneScript, 0, "scripts/depl.py", true},
		{oneScript, 0, "scripts/db_reset.py", false},
		{oneScript, 0, "scripts/Deploy.py", false},
		{oneScript, 0, "scripts/../x.py", false},
		{oneScript, 0, "../scripts/x.py", false},
		{oneScript, 0, "/tmp/scripts/x.py", false},
		{oneScript, 0, "scripts", false},
		{oneScript, 0, "-e scripts/x.py", false},
		{oneScript, 0, "manage.py flush", false},
		{onlyNames, 1, "merge origin/main", true},
		{onlyNames, 1, "merge main -m Merge", true},
		{onlyNames, 1, "merge", false},
		{onlyNames, 1, "merge -s ours main", false},
		{onlyNames, 1, "merge main -Xtheirs", false},
		{onlyNames, 1, "merge main --no-verify", false},
		{onlyNames, 1, "branch -D main", false},
	} {
		args := strings.Fields(row.args)
		if len(args) == 0 {
			args = []string{"", ""} // as they are joined for a pattern with NUL
		}
		text := strings.Join(args, "\x00") + "\x00"
		if got := regexp.MustCompile(taskPattern(row.mark, row.n)).MatchString(text); got != row.want {
			t.Errorf("%s behind %d of %q: %v", row.mark, row.n, row.args, got)
		}
	}
	for _, mark := range []string{oneTask, onlyTasks, oneScript, onlyNames} {
		if n := len(taskPattern(mark, 3)); n > 4096 { // what a policy file holds
			t.Errorf("a pattern of %s of %d bytes", mark, n)
		}
	}
	for _, tool := range WorkTools() {
		if words := TasksOf(tool.ArgPattern); (words != "") != (tool.ArgPattern != "") {
			t.Errorf("%s %q: %q", tool.Name, tool.Args, words)
		}
	}
	for word := range notWork() {
		if regexp.MustCompile("^"+taskName()+"$").MatchString(word) && word != "ci" {
			t.Errorf("%s is a name of a task", word)
		}
	}
	for _, name := range strings.Fields("npm pnpm yarn bun go cargo pytest dotnet mix eslint tsc vitest prettier make just task gofmt golangci-lint node") {
		if !slices.ContainsFunc(WorkTools(), func(tool Tool) bool { return tool.Name == name }) {
			t.Errorf("%s is missing", name)
		}
	}
}
