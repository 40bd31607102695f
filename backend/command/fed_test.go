package command_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
)

// TestFedNames: what a program takes for names from its input is judged before it
// comes: by its words where they stand in the text, and by what prints them.
func TestFedNames(t *testing.T) {
	const name, told = approval.ReasonProtectedState, approval.ReasonRuntimeValue
	for _, test := range []struct {
		text string
		asks approval.Reason
	}{
		// Texts.
		{"xargs cat <<< ~/.ssh/id_rsa", name}, {"xargs cat <<< .env", name}, {"xargs -0 cat <<< .env", name}, {"xargs cat <<E\na\n.env\nE", name}, {"xargs cat <<'E'\nmain.go .env\nE", name},
		{"xargs cat <<< '.e\"n\"v'", name}, {`xargs cat <<< '.e\nv'`, name}, {"cat <<< .env | xargs cat", name}, {"{ xargs cat; } <<< .env", name}, {"'xargs' cat <<< .env", name},
		{"xargs -I% cat % <<< .env", name}, {"xargs -I% cat %/hosts.yml <<< /home/ann/.config/gh", name}, {"xargs -I% cat .% <<< env", told}, {"xargs -I% cat %v <<< .en", told}, {"nice xargs cat <<< .env", name},
		{"xargs cat <<< main.go", ""}, {"xargs head -3 <<E\nmain.go\nsub/b.txt\nE", ""}, {"xargs -I% cat sub/% <<< b.txt", ""}, {"xargs -I% cat %.txt <<< sub/b", ""}, {"xargs ls <<< .env", ""}, {"cat <<< .env", ""},
		// Words of echo.
		{"echo .env | 'xargs' cat", name}, {`echo .env | x\args cat`, name}, {"echo .env | env xargs cat", name}, {"F=.env; echo $F | xargs cat", name}, {"yes .env | head -1 | xargs cat", name}, {"echo main.go | xargs cat", ""}, {`printf '%s\n' main.go | xargs cat`, ""},
		{"printf '%.4s' .envx | xargs cat", told}, {"printf '%c%s' . env | xargs cat", told}, {"printf %s .e nv | xargs cat", name}, {"{ printf .e; printf nv; } | xargs cat", told}, {"(echo -n .e; echo nv) | xargs cat", told},
		{"for x in .e nv; do printf %s $x; done | xargs cat", told}, {"printf '%s\\0' main.go | xargs -0 cat", ""}, {"{ echo main.go; echo src/a.go; } | xargs cat", ""}, {"for x in main.go; do echo $x; done | xargs cat", ""},
		// Folders.
		{"xargs grep -r x <<< /home/ann", name}, {"xargs grep -r x <<< ..", name}, {"xargs grep -r x <<< sub", approval.ReasonWrapperUnclear}, {"xargs grep x <<< /home/ann", ""},
		// Files.
		{"xargs ./ls <<< .env", name}, {"cat main.go | xargs ./ls", told}, {"cat main.go | xargs /bin/ls", ""},
		{"xargs -a main.go cat", told}, {"xargs --arg-file=main.go cat", told}, {"xargs cat < main.go", told}, {"(xargs cat) < main.go", told}, {"cat main.go | xargs cat", told}, {"xargs -a main.go wc -l", ""}, {"cat main.go | xargs ls", ""},
		// What changes lines on their way, or tells more than names.
		{"echo vne. | rev | xargs cat", told}, {"echo x.env | cut -c2- | xargs cat", name}, {"echo .anv | tr a e | xargs cat", told}, {"echo x | base64 -d | xargs cat", told}, {"git status -s | cut -c4- | xargs cat", told},
		{"find . -maxdepth 0 -printf '.e%sv' | xargs cat", told}, {"ls -l | xargs cat", told}, {"git log -1 --format=.en%x76 | xargs cat", told}, {"grep -h x main.go | xargs cat", told}, {"grep -e -l x main.go | xargs cat", told},
		{"grep -e $'x\\n-l' main.go | xargs cat", told}, {"rg -rl x main.go | xargs cat", told}, {"rg x | xargs cat", told}, {"ls | xargs -I{} echo .{} | xargs cat", told}, {"ls | xargs printf .%s | xargs cat", told},
		{"find src | xargs cat | xargs cat", told}, {"find src | xargs grep x | xargs cat", told}, {"find src -exec cat {} + | xargs cat", told}, {"sort main.go | xargs cat", told}, {"head -3 main.go | xargs cat", told},
		{"git diff --name-only --line-prefix=. | xargs cat", told}, {"git ls-files --format=.en%x76 | xargs cat", told}, {"seq -f .en%gv 1 | xargs cat", told}, {"ls | xargs -d x cat", approval.ReasonStartsProgram},
		{"find src -name '*.go' | sort | head -3 | xargs cat", ""}, {"find src -type f -print0 | xargs -0 grep -l x", ""}, {"grep -rln x --include=*.go src | sort -u | xargs grep -n y", ""}, {"rg -l x -g '*.go' | xargs head -5", ""},
		{"git ls-files -z | xargs -0 head -1", ""}, {"git diff --name-only | grep -v x | xargs cat", ""}, {"git diff HEAD --name-only | xargs grep -ln x 2>/dev/null", ""}, {"git diff main HEAD -z --name-only -- src | xargs -0 cat", ""}, {"git diff -- --name-only | xargs cat", told}, {"git diff HEAD -- --name-only | xargs cat", told}, {"git diff HEAD --name-only --line-prefix=. | xargs cat", told}, {"git diff -p HEAD --name-only | xargs cat", told}, {"git diff HEAD --name-status | xargs cat", told}, {"git diff HEAD --no-index --name-only a b | xargs cat", told}, {"git diff -O x --name-only | xargs cat", told}, {"git diff $(cat main.go) --name-only | xargs cat", told},
		{"git show --name-only --format= HEAD | xargs cat", ""}, {"git show --name-only --pretty=format: | xargs cat", ""}, {"git show --format= HEAD | xargs cat", told}, {"git show --name-only --format=.e%x6ev HEAD | xargs cat", told}, {"git diff-tree --no-commit-id --name-only -r HEAD | xargs cat", ""}, {"git diff-tree -p HEAD | xargs cat", told}, {"ls src | xargs -I{} cat src/{}", ""}, {"find src -name '*.go' | xargs grep -l x | xargs cat", ""}, {"rg --files src | rg x | xargs cat", ""},
		{"find src -exec grep -l x {} + | xargs cat", ""}, {"nice find src | xargs cat", ""}, {"ls src | wc -l", ""},
		{"printf '.env\\0' | xargs -0 cat", name}, {"printf 'main.go\\n.env\\n' | xargs cat", name}, {"echo 'main.go .env' | xargs cat", name}, {"printf 'main.go\\0src/a.go\\0' | xargs -0 cat", ""}, {"cat $(echo 'a .env')", name}, {"echo -e 'a\\t.env' | xargs cat", name},
		// Other programs that open what their input names.
		{"git hash-object -w --stdin-paths <<< main.go", told}, {"git cat-file --batch <<< :.env", told}, {"echo HEAD:.env | git cat-file --batch-command", told}, {"git show --stdin <<< HEAD:.env", told}, {"git add --pathspec-from-file=- <<< .env", told},
		{"git cat-file --batch-check <<< HEAD", ""}, {"git show :.env", name}, {"git show HEAD:.env", name}, {"git cat-file -p :.env", name}, {"git cat-file -p stash@{0}^3:sub/.env", name}, {"git show HEAD:main.go", ""},
	} {
		a := walked()
		for name := range strings.FieldsSeq("nice cut rev tr yes seq ls base64 sort head printf") {
			a.World.(*approvaltest.World).Files["/usr/bin/"+name] = approvaltest.File{Mode: 0o755}
		}
		a.World.(*approvaltest.World).Links["/home/ann/p/ls"] = "/bin/cat"
		a.World.(*approvaltest.World).Files["/bin/ls"] = approvaltest.File{Mode: 0o755}
		plan := a.Analyze(t.Context(), bash(test.text), approvaltest.Named("/home/ann/p"))
		found := allReasons(plan)
		if test.asks == "" && len(found) > 0 || test.asks != "" && !slices.Contains(found, test.asks) {
			t.Errorf("%s: %q, want %q", test.text, found, test.asks)
		}
	}
}

// TestPlacedNames: a name that is found is judged where it is opened, and with what
// stands around it.
func TestPlacedNames(t *testing.T) {
	const name, told = approval.ReasonProtectedState, approval.ReasonRuntimeValue
	files := strings.Fields("k/work k/environ build/c.key tests/c.key src/b.go docs/a.md /home/ann/.ssh/work /home/ann/.aws/work /home/ann/.aws/credentials /proc/self/environ /proc/1/environ .env .git/hooks/x")
	for _, test := range []struct {
		text string
		asks approval.Reason
	}{
		// In another folder.
		{"ls k | (cd ~/.ssh; xargs cat)", name}, {"ls k | (cd ../.aws; xargs cat)", name}, {"ls k | (cd ../.aws; xargs grep '')", name}, {"rg -l x src | (cd ~/.aws; xargs cat)", name}, {"seq 3 | (cd ~/.ssh; xargs cat)", name}, {"git ls-files | (cd ~/.aws; xargs cat)", name},
		{"echo work | (cd ~/.ssh; xargs cat)", name}, {"ls k | env -C /home/ann/.aws xargs cat", name}, {"ls k | (cd /proc/self; xargs cat)", name}, {"ls k | sort | (cd ~/.ssh; xargs cat)", name}, {"ls k | { cd ~/.ssh; nice xargs cat; }", name},
		{"cd build && ls ../tests | xargs cat", name}, {"(cd tests; ls) | (cd build; xargs cat)", name}, {"cd build && ls -R ../tests | xargs cat", name}, {"cd build && git diff --name-only | xargs cat", name}, {"find .. -name '*.md' | (cd docs; xargs cat)", name},
		{"ls docs | (cd src; xargs cat)", ""}, {"cd src && ls | xargs cat", ""}, {"cd src && find . -type f | xargs cat", ""}, {"cd src && ls ../docs | xargs -I{} cat ../docs/{}", ""}, {"git ls-files src | xargs cat", ""}, {"ls k | (cd ~/.ssh; xargs ls)", ""}, {"(cd src; ls) | (cd src; xargs cat)", ""},
		// With more around it.
		{"ls k | xargs -I{} cat /proc/self/{}", name}, {"ls k | xargs -I{} cat /proc/1/{}", name}, {"ls tests | xargs -I{} cat build/{}", name}, {"ls tests | xargs -I{} cat ./build/{}", name}, {"ls tests | xargs -I% cat build/%", name}, {"ls k | xargs -I{} cat ~/.ssh/{}", name}, {"seq 3 | xargs -I{} cat /proc/self/{}", name},
		{"ls tests | xargs -I{} cat {}", name}, {"find /proc/self -maxdepth 0 | xargs -I{} cat {}/environ", name}, {"echo /proc/self | xargs -I{} cat {}/environ", name}, {"ls k | xargs -I{} cat {}/../../.aws/{}", told}, {"ls k | xargs -I{} head -1 --file=build/{}", told}, {"ls | xargs -I{} cat {}.key", name},
		{"ls src | xargs -I{} cat src/{}", ""}, {"ls src | xargs -I{} grep -n x ./src/{}", ""}, {"find src -name '*.go' | xargs -I{} head -5 {}", ""}, {"ls src docs | xargs -I{} cat src/{}", ""}, {"ls | xargs -I{} cat {}/go.mod", ""}, {"find . -maxdepth 1 -type d | xargs -I{} cat {}/go.mod", name}, {"find src -type d | xargs -I{} cat {}/go.mod", ""}, {"ls src | head -3 | xargs -I{} cat src/{}", ""},
		// By find and fd themselves.
		{"find k -type f -execdir cat /proc/self/{} \\;", name}, {"cd tests; find . -type f -exec cat ../build/{} \\;", name}, {"find tests -type f -execdir cat ../build/{} \\;", told}, {"find src -type f -execdir cat ../../.aws/work \\;", told}, {"find k -type f -exec cat {}/../../../.aws/work \\;", told}, {"fd . tests -x cat build/{/}", name}, {"fd . k -x cat /proc/self/{/}", name},
		{"find src -type f -execdir cat {} \\;", ""}, {"find src -type d -exec cat {}/go.mod \\;", ""}, {"find k -type f -exec ls /proc/self/{} \\;", ""}, {"fd . src -x cat {}", ""}, {"cd src; find . -type f -exec cat {} ../docs/{} \\;", ""},
		{"fd . tests -x cat {//}/../build/{/}", told}, {"fd . tests -x cat {//}/{/}", name}, {"find .git -name HEAD -execdir cat config \\;", name}, {"find .git -name HEAD -execdir cat -- ./config \\;", name}, {"find .git -name HEAD -execdir grep -f config {} \\;", name}, {"find /home/ann/.aws -maxdepth 0 -execdir cat .aws/credentials \\;", name}, {"find .git/hooks -maxdepth 0 -execdir cat config \\;", name}, {"find src -execdir cat work {} \\;", ""}, {"find . -name '*.go' -execdir grep -n foo {} +", ""},
		{"D=build; ls tests | xargs -I{} cat $D/{}", name}, {"D=src; ls src | xargs -I{} cat $D/{}", ""},
		// Files that hold the names.
		{"find /proc -maxdepth 2 -name environ -exec wc --files0-from={} \\;", name}, {"find /proc/self/ -maxdepth 1 -name environ -exec du --files0-from={} \\;", name}, {"find . -type f -exec wc --files0-from={} \\;", name}, {"find . -exec du --files0-from={} \\;", name}, {"ls | xargs -I{} du --files0-from={}", told}, {"find . -type f -exec wc --files0-from {} \\;", name}, {"find src -type f -exec wc --files0-from={} \\;", told}, {"ls -A | xargs -I{} wc --files0-from {}", name}, {"ls -A | xargs wc --files0-from", name},
		{"find . -type f -exec wc -l {} +", ""}, {"find . -type f | xargs wc -l", ""}, {"find . -exec du -sh {} +", ""},
	} {
		a := walked(files...)
		world := a.World.(*approvaltest.World)
		for name := range strings.FieldsSeq("nice seq ls sort head env du wc") {
			world.Files["/usr/bin/"+name] = approvaltest.File{Mode: 0o755}
		}
		world.Files["/home/ann/p/.git/config"] = approvaltest.File{Mode: 0o644, UID: 500, Text: "[http]\n\textraHeader = x\n"}
		found := allReasons(a.Analyze(t.Context(), bash(test.text), approvaltest.Named("/home/ann/p")))
		if test.asks == "" && len(found) > 0 || test.asks != "" && !slices.Contains(found, test.asks) {
			t.Errorf("%s: %q, want %q", test.text, found, test.asks)
		}
	}
}

// TestFoundNames: a name that is found may be several words to the program that gets
// it.
func TestFoundNames(t *testing.T) {
	for file, asks := range map[string]bool{
		"sub/a .env": true, "sub/x /home/ann/.config/gh/hosts.yml": true, `sub/".e"nv`: true, `sub/.e\nv`: true, "sub/a b.txt": false, "sub/it's.txt": false,
	} {
		for _, text := range []string{"find sub | xargs cat", "find . -type f | xargs cat", "ls -aR . | xargs cat"} {
			a := walked()
			a.World.(*approvaltest.World).Files["/bin/ls"] = approvaltest.File{Mode: 0o755}
			a.World.(*approvaltest.World).Files["/home/ann/p/"+file] = approvaltest.File{Mode: 0o644, UID: 500}
			found := allReasons(a.Analyze(t.Context(), bash(text), approvaltest.Named("/home/ann/p")))
			if got := slices.Contains(found, approval.ReasonProtectedState); got != asks {
				t.Errorf("%s with %q: %v", text, file, found)
			}
		}
	}
}

// allReasons are those of a plan and of its parts.
func allReasons(plan approval.Plan) []approval.Reason {
	list := reasons(plan.Findings)
	for _, seg := range plan.Segments {
		list = append(list, reasons(seg.Findings)...)
	}
	return list
}

// TestStores: git does not store a file with secrets that it does not know, under
// whatever name.
func TestStores(t *testing.T) {
	for _, test := range []struct {
		text, files string
		asks        bool
	}{
		{"git add .", ".env", true}, {"git add -A", ".env", true}, {"git add sub", "sub/.env", true}, {"git add src", "sub/.env", false}, {"git add main.go", ".env", false}, {"git add -u", ".env", false}, {"git add -n .", ".env", false}, {"git add -N .", ".env", true},
		{"git add '.[e]nv'", "", true}, {"git add -f '*d_rsa'", "", true}, {"git add '*.go'", ".env", false}, {"git add '*'", ".env", true}, {"git add .", "ignored.pem", false}, {"git add -f .", "ignored.pem", true}, {"git add .", "node_modules/a/b.key", false},
		{"git add .", ".env sub/.gitignore=.env", true}, {"git add .", "sub/.env sub/.gitignore=.env", false}, {"git add .", "sub/.env.local sub/.gitignore=.env*\n!.env.example", false}, {"git add sub", "sub/.env sub/.gitignore=*\n!.env", true},
		{"git stash", ".env", false}, {"git stash -u", ".env", true}, {"git stash push -u -m x", ".env", true}, {"git stash -a", "ignored.pem", true}, {"git stash -u", "ignored.pem", false}, {"git stash push -- '.[e]nv'", "", false}, {"git stash push -u -- '.[e]nv'", "", true}, {"git stash pop", ".env", false},
		{"git -C sub add .", "sub/.env", true}, {"git commit -am x", ".env", false},
		// Without a path git means the whole tree.
		{"git -C src add -A", "sub/.env", true}, {"git -C src stash -u", ".env", true}, {"cd src && git add -A", ".env", true}, {"git stash save -u x", ".env", true}, {"git -C src stash -a", "ignored.pem", true}, {"git -C src add .", ".env", false}, {"git -C src add -A .", ".env", false}, {"git -C src add -A", "ignored.pem", false}, {"git -C l add -A", "other/.env other/.git/HEAD other/deep/a.go l=>other/deep", true},
		// A pattern stands for folders, too, and for what lies further up.
		{"git stash save -a hello", "ignored.pem", true}, {"git stash save hello", "ignored.pem", false}, {"git stash -u", ".claude/settings.json", true}, {"git stash -u", "src/.husky/pre-commit", true}, {"git stash", ".claude/settings.json", false}, {"git stash -u", "main2.go", false},
		{"git stash push -u -- .claude", ".claude/settings.json", true}, {"git stash push .claude", ".claude/settings.json", true}, {"git stash push -m claude src", ".claude/settings.json", false},
		{"cd \"$(pwd)\" && git stash -u", "", false}, {"cd $X; git stash -a", "", false}, // in a folder that nobody knows, where the request asks
		{"git add 'su*'", "sub/.env", true}, {"git add 's?b'", "sub/.env", true}, {"git add -f 's?cret'", "secret/a", false}, {"git add -f 's?cret'", "secret/a.pem", true}, {"git add -f '*et'", "secret/a.pem", true}, {"git -C src add '../su*'", "sub/.env", true}, {"git add -f src/../'sec*'", "secret/a.pem", true}, {"git stash push -a 'sec*'", "secret/a.pem", true},
		{"git add 'src/*'", "sub/.env", false}, {"git -C src add '*'", ".env", false}, {"git add 's*v'", "sub/.env", true}, {"git add ':!x/../su*'", ".env", true}, {"git --icase-pathspecs add 'SU*'", "sub/.env", true}, {"git add 'sub/*.txt'", ".env", false}, {"git -C src add ':/'", ".env", true},
		// How git reads what it ignores.
		{"git add .", "sub/a.p12 .gitignore=>other other=*.p12", true}, {"git add .", "sub/.env sub/.gitignore=>other other=.env", true}, {"git add .", "x/y/certs/dev.pem .gitignore=*.pem\n!**/certs/dev.pem", true}, {"git add .", "x/y/certs/dev.pem .gitignore=*.pem", false}, {"git add .", "x/dev.pem .gitignore=*.pem\n!**/test.pem", false},
		{"git add .", "sub/.env .gitignore=.env sub/.gitignore=\ufeff!.env", true}, {"git add .", "sub/.env .gitignore=.env\n!.ENV", true},
	} {
		a := walked()
		world := a.World.(*approvaltest.World)
		for _, name := range strings.Split(test.files, " ") {
			name, text, _ := strings.Cut(name, "=")
			if to, link := strings.CutPrefix(text, ">"); link {
				delete(world.Files, "/home/ann/p/"+name)
				world.Links["/home/ann/p/"+name] = "/home/ann/p/" + to
				continue
			}
			world.Files["/home/ann/p/"+name] = approvaltest.File{Mode: 0o644, UID: 500, Text: text}
		}
		plan := a.Analyze(t.Context(), bash(test.text), approvaltest.Named("/home/ann/p"))
		if got := slices.Contains(allReasons(plan), approval.ReasonProtectedState); got != test.asks {
			t.Errorf("%s with %q: %t (%s)", test.text, test.files, got, show(plan))
		}
	}
}
