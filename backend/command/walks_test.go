package command_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
)

// walked is a checkout with these files beside others, each a name, or a name, a
// sign of equality and what it holds.
func walked(files ...string) *command.Analyzer {
	world := approvaltest.NewWorld(readerPrograms + " /usr/bin/ag /usr/bin/fd /usr/bin/7z /usr/bin/npm /bin/ls /bin/rm /usr/bin/touch /usr/bin/tree /usr/bin/du")
	for _, name := range append(strings.Fields(strings.Join(files, " ")), "main.go", "src/a.go", "sub/b.txt", ".gitignore", ".git/HEAD") {
		name, text, _ := strings.Cut(name, "=")
		if name[0] != '/' {
			name = "/home/ann/p/" + name
		}
		world.Files[name] = approvaltest.File{Mode: 0o644, UID: 500, Text: text}
	}
	world.Files["/home/ann/p/.gitignore"] = approvaltest.File{Mode: 0o644, UID: 500, Text: "# what is built\nnode_modules\n/secret\n*.p12\nignored.pem\n"}
	if strings.Contains(strings.Join(files, " "), ".hid/") {
		world.Links["/home/ann/p/sub/vis"] = "/home/ann/p/sub/.hid"
	}
	a := &command.Analyzer{World: world, Home: "/home/ann", UID: 500, Ours: []string{"/state"}}
	a.SetPath([]string{"/usr/bin", "/bin"})
	return a
}

// TestWholeFolders: who reads all of a folder asks where it would open a file with
// secrets, and only there.
func TestWholeFolders(t *testing.T) {
	for _, test := range []struct {
		text, files string
		asks        bool
	}{
		{"grep -r x .", ".env", true}, {"grep -rn x", ".env", true}, {"grep -R x .", "sub/.env", true}, {"grep -r x src", ".env", false}, {"grep -r x sub", "sub/.env", true},
		{"grep -r x . ", "main2.go", false}, {"grep x main.go", ".env", false}, {"grep -d recurse x .", ".env", true}, {"grep -rA 3 src", ".env", true},
		{"grep -r --exclude=.env x .", ".env", false}, {"grep -r --exclude='.env*' x .", ".env.local", false}, {"grep -r --exclude-dir=sub x .", "sub/.env", false},
		{"grep -r --include='*.go' x .", ".env", false}, {"grep -r --include='.*' x .", ".env", true}, {"grep -re x .", ".env", true}, {"grep -rl x .", ".env", true},
		{"grep -r main.go .", ".env", false}, {"grep -rv main.go .", ".env", true}, {"grep -rC3 main.go .", ".env", true}, {"grep -rf main.go .", ".env", true},
		{"rg x", ".env", false}, {"rg --hidden x", ".env", true}, {"rg -. x", ".env", true}, {"rg -c.n x", ".env", true}, {"rg '-cg*.go' x", ".env", false}, {"rg -u -u x", ".env", true}, {"rg --hid x", ".env", true}, {"rg -uu x", ".env", true}, {"rg -u x", ".env", false}, {"rg x", "server.pem", true},
		{"rg x sub", "server.pem", false}, {"rg x sub", "sub/server.pem", true}, {"rg -e x sub", "sub/server.pem", true}, {"rg x", "ignored.pem", false}, {"rg -u x", "ignored.pem", true},
		{"rg --no-ignore x", "ignored.pem", true}, {"rg --no-ignore-vcs x", "node_modules/a/b.key", true}, {"rg x", "node_modules/a/b.key", false}, {"rg x", "a/b.p12", false},
		{"rg -g '!*.pem' x", "server.pem", false}, {"rg -g '*.go' x", "server.pem", false}, {"rg -g '*.{go,pem}' x", "server.pem", true}, {"rg -tgo x", "server.pem", false},
		{"rg -t go x", "server.pem", false}, {"rg -t json x", "credentials.json", true}, {"rg --files", "server.pem", false}, {"rg -l x", "server.pem", true},
		{"ag x", "server.pem", true}, {"ag x", ".env", false}, {"ag --hidden x", ".env", true},
		{"find . -exec cat {} +", ".env", true}, {"find . -type f -exec grep x {} \\;", ".env", true}, {"find src -exec cat {} +", ".env", false}, {"find . -name '*.go' -exec cat {} +", ".env", false},
		{"find . -name '*.go' -o -exec cat {} +", ".env", true}, {"find . -exec ls {} +", ".env", false}, {"find . -not -name '.env' -exec cat {} +", ".env", false}, {"find . -name '*'", ".env", false},
		{"find . | xargs cat", ".env", true}, {"find . -name '*.go' | xargs cat", ".env", false}, {"find . -name x.go", ".env", false}, {"fd . -x cat", "a.key", true}, {"fd . -x cat", ".env", false},
		{"fd -H . -x cat", ".env", true}, {"fd -e go . -x cat", "a.key", false},
		{"tar -czf x.tgz .", ".env", true}, {"tar czf x.tgz sub", "sub/.env", true}, {"tar czf x.tgz src", ".env", false}, {"tar -cf - . --exclude=.env", ".env", true}, {"tar --exclude=.env -cf - .", ".env", false}, {"tar czf x.tgz --exclude=.env src -C sub .", "sub/.env", false}, {"tar -cf x.tar -C sub .", "sub/.env", true},
		{"tar -tf x.tar", ".env", false}, {"zip -r x.zip .", ".env", true}, {"zip -r x.zip . -x .env", ".env", false}, {"zip x.zip main.go", ".env", false}, {"zip -r x.zip src", ".env", false},
		{"cp -r sub copy", "sub/.env", true}, {"cp -a src copy", "sub/.env", false}, {"cp main.go copy", ".env", false}, {"rsync -a sub/ copy/", "sub/.env", true}, {"rsync -a --exclude .env sub/ copy/", "sub/.env", false},
		{"diff -r src sub", "sub/.env", true}, {"diff main.go sub/b.txt", "sub/.env", false}, {"git diff --no-index src sub", "sub/.env", true},
		{"git grep x", ".env", false}, {"git grep --no-index x", ".env", true}, {"git grep --untracked x", ".env", true}, {"git grep --no-index x -- ':!.env'", ".env", false},
		{"cp -r /home/ann/.config copy", "/home/ann/.config/some/token", true}, {"grep -r x /home/ann/.aws", "/home/ann/.aws/credentials", true},
		{"grep -r x /opt/lib", "/opt/lib/a/b.key", true}, {"grep -r x /opt/lib", "/opt/lib/a/b.h", false},
		// Words that leave names out, and others that take that back.
		{"grep -r --exclude='*' --include='*' x .", ".env", true}, {"grep -r '' . main.go", ".env", true}, {"grep -r --label main.go '' .", ".env", true}, {"grep -re '' -e main.go .", ".env", true}, {"grep -rm 1 main.go .", ".env", true},
		{"rg --hidden -g '!*' -g '**' x", ".env", true}, {"rsync -a --include='*' --exclude=.env sub/ copy/", "sub/.env", true}, {"zip -r x.zip . -x .env", "sub/.env", true}, {"zip -r x.zip . -x '*.env'", "sub/.env", false},
		{"find . -not -name '*' -o -exec cat {} +", ".env", true}, {"find . -not -not -name '*' -exec cat {} +", ".env", true}, {"find . ! \\( -name '*.go' \\) -exec cat {} +", ".env", true},
		{"find . -exec cat {} + -name '*.go'", ".env", true}, {"find . -print -name '*.go' | xargs cat", ".env", true}, {"find . -type f -name '*.go' -exec cat {} +", ".env", false},
		{"rg x", "ignored.pem .ignore=!ignored.pem", true}, {"rg x", "sub/ignored.pem sub/.gitignore=!ignored.pem", true}, {"rg x", "ignored.pem sub/.gitignore=!ignored.pem", false}, {"rg x", "ignored.pem sub/.gitignore=y", false},
		// What one word means is what the program reads in it, and no other.
		{"git -C . grep --no-index x", ".env", true}, {"git --no-pager grep --no-index x", ".env", true}, {"git --no-pager grep --untracked x", ".env", true}, {"git grep --recurse-submodules x", "sub/.env", true},
		{"git diff /opt/lib sub", "sub/.env /opt/lib/a.h", true}, {"git diff main.go src/a.go", ".env", false}, {"git diff main dev -- sub", "sub/.env", false}, {"git --no-pager diff --no-index src sub", "sub/.env", true},
		{"git grep --no-index x -- ':!.env'", "sub/.env", true}, {"git grep --no-index x -- ':!*.env'", "sub/.env", false}, {"git grep --no-index -e ':!*' -e x", ".env", true}, {"git grep --no-index -e x -- ':!sub'", "sub/.env", false}, {"git grep --untracked x -- src", ".env", false}, {"git grep --untracked x src", ".env", true}, {"git grep --untracked x -- ':/'", ".env", true}, {"git grep --untracked x -- ':!*' ':(top)'", ".env", true},
		{"grep -r --exclude=sub x .", "sub/.env", true}, {"grep -r --exclude-dir=.env x .", ".env", true}, {"find . -not -name sub -exec cat {} +", "sub/.env", true}, {"zip -r x.zip . -x sub", "sub/.env", true},
		{"grep -r '--exclude=[!x]env' x .", ".env", true}, {"grep -r '--exclude=.[[:alpha:]]nv' x .", ".env", true}, {"grep -r '--include=[!x]env' x .", ".env", true}, {"rg --hidden -g '!.[e]nv' x", ".env", true}, {"rg -g '[.]env' x", ".env", true}, {"find . -name '[!a]env' -exec cat {} +", ".env", true}, {"find . -not -name '.[!a]nv' -exec cat {} +", ".env", true}, {"diff -r -x '[!a]env' src sub", "sub/.env", true},
		{"find . -iname '*.PEM' -exec cat {} +", "server.pem", true}, {"rg --iglob '*.PEM' x", "server.pem", true}, {"rg --glob-case-insensitive -g '*.PEM' x", "server.pem", true},
		{"grep -r x . -e --include=*.go", ".env", true}, {"grep -r -e --exclude=.env .", ".env", true}, {"grep -r -A --exclude=.env x .", ".env", true}, {"rg --hidden -e '-g!.env'", ".env", true}, {"rg -ng** x", ".env", true}, {"rg -g '.e*' ''", ".env", true}, {"rg -tgo --iglob '.e*' '-g!*' x", ".env", true}, {"rg --hidden --iglob '!*.ENV' -g '!.env' x", ".env", false}, {"rg -g '*' x", ".env", true}, {"rg -g '!*.go' -g .env x", ".env", true}, {"rg -g '*.p12' x", "a/b.p12", true}, {"rg --hidden -g '!.git' x", "main2.go", false},
		{"fd -H nv -x cat", ".env", true}, {"fd nv --search-path sub -H -X cat", "sub/.env", true}, {"fd -HX cat -E '*'", ".env", true}, {"fd -H . sub -X cat", "sub/.env", true}, {"fd -H . -E .env -X cat", ".env", false},
		{"zip - -- -r -x .env", ".env", true}, {"zip -r - . -- -x .env", ".env", true}, {"zip -r x.zip . -x a -q . '*'", ".env", true}, {"zip -r x.zip . -x '.env' '*.pem'", "sub/a.pem", false}, {"zip -rj x.zip . -x '*.env'", ".env", true},
		{"tar -cf x.tar -C src -C ../sub .", "sub/.env", true}, {"tar -cf - -C sub . -C ../src a.go", "sub/.env", true}, {"tar -cf - sub -C src .", "sub/.env", true}, {"tar -cf x.tar -C sub -C ../src .", "sub/.env", false}, {"tar -cf x.tar --dir sub .", "sub/.env", true}, {"tar cf x.tar -- --exclude=.env .", ".env", true}, {"rsync -a '--exclude=+ .env' sub/ copy/", "sub/.env", true}, {"7z a x.7z", ".env", true}, {"7z a x.7z src", ".env", false},
		{"diff -N sub src", "sub/.env", true}, {"diff sub src", "sub/.env", true}, {"diff sub src", "sub/a/.env", false}, {"diff -r --exclude=.env sub src", "sub/.env", false},
		{"ls -f | xargs cat", ".env", true}, {"ls -A | xargs cat", ".env", true}, {"ls | xargs cat", ".env", false}, {"rg --files --hidden | xargs cat", ".env", true}, {"rg --files | xargs cat", ".env", false}, {"tree -fia | xargs cat", ".env", true}, {"du -a | xargs cat", "server.pem", true},
		{"grep -r a.go -e = .", ".env", true}, {"grep -r main.go . -v", ".env", true}, {"grep -r a.c .", ".env", true}, {"grep -r package.json . -o", ".env", true}, {"grep -rn package.json .", ".env", false},
		{"find . -newer -name -exec cat {} +", ".env", true}, {"find . -newer main.go -name '*.go' -exec cat {} +", ".env", false}, {"find . ! ! -name .env -exec cat {} +", ".env", true}, {"find . -name '*.go' , -exec cat {} +", ".env", true}, {"find . ! -exec cat {} \\; -name '*.go'", ".env", true},
		{"find . -name node_modules -prune -o -name '*.js' -print | xargs grep x", ".env", false}, {"find . -name node_modules -prune -o -type f -print | xargs grep x", ".env", true}, {"find . -name '*.ts' -o -name '*.tsx' | xargs grep x", ".env", false}, {"find . -name '*.ts' -o -name '.e*' | xargs grep x", ".env", true},
		{"find . -type f -not -path './sub/*' -exec grep x {} +", "sub/.env", false}, {"find . -not -path '*/node_modules/*' -name '*' -exec cat {} +", "node_modules/a/.env", false}, {"find . -not -path '*/node_modules/*' -exec cat {} +", ".env", true}, {"find . -maxdepth 1 -exec cat {} +", ".env", true},
		{"for d in sub; do grep -r x \"$d\"; done", "sub/.env", true}, {"for d in src; do grep -r x \"$d\"; done", "sub/.env", false},
		{"rg x", "secret.pem/ .gitignore=/secret.pem/", false}, {"rg --ignore-file x y", "ignored.pem", true}, {"rg -g '!.git/*' --hidden x", "sub/.env", true},
		{"npm pack", ".env", true}, {"npm pack", "secret/a.pem", false}, {"npm pack", "secret/a.pem .npmignore", true}, {"npm pack --dry-run", ".env", false}, {"npm pack", ".npmrc node_modules/a/b.key", false},
		// Links into what is left out where it is, other checkouts, and words that rg reads otherwise.
		{"rg -L x sub", "sub/.hid/id_rsa", true}, {"grep -R --exclude-dir=.hid x sub", "sub/.hid/id_rsa", true}, {"grep -R --exclude-dir=.hid x src", "sub/.hid/id_rsa", false}, {"find -L sub -not -path 'sub/.hid/*' -exec cat {} +", "sub/.hid/id_rsa", true}, {"tar -chf - --exclude=.hid sub", "sub/.hid/id_rsa", true},
		{"rg x", "nested/ignored.pem nested/.git/HEAD", true}, {"rg x", "nested/ignored.pem", false},
		{"rg x -t java", "keystore.properties", true}, {"rg x -t elixir", "config/prod.secret.exs", true}, {"rg x -t python", "credentials.json", false},
		{"npm pack", `secret/a.pem package.json={"files":["secret"]}`, true}, {"npm pack", `secret/a.pem package.json={"fil\u0065s":["secret"]}`, true}, {"npm pack", `secret/a.pem package.json={"main":"secret/a.pem"}`, true}, {"npm pack", `secret/a.pem package.json={"main":"main.go","test":"echo_\"x\""}`, false}, {"npm pack", `secret/a.pem package.json={"main":"secret/\u0061.pem"}`, true}, {"npm pack", `node_modules/a/b.key package.json={"bundledDependencies":["a"]}`, true}, {"npm pack", `.env package.json={"files":["src","dist"]}`, false}, {"npm pack", `.env package.json={"files":["*.js"]}`, true}, {"npm pack", `secret/a.pem package.json={"files":["SECRET"]}`, true}, {"npm pack", `secret/a.pem package.json={"files":["src/../secret/*"]}`, true}, {"npm pack", `secret/a.pem package.json={"files":["secret/a.pem"],"FILES":["src"]}`, true}, {"npm pack", `secret/a.pem package.json={"files":["src"],"files":["secret"]}`, true}, {"npm pack", `ignored.pem package.json={"files":["./"]}`, true}, {"npm pack", `ignored.pem package.json={"files":[]}`, false},
		// A pattern of a path is read as the path is written.
		{"rg -uu S src/.. -g '!sub/*' -g '!.git'", "sub/.env", true}, {"rg -uu S . -g '!sub/**' -g '!.git'", "sub/.env", false}, {"rg -uu S ./. -g '!sub/**' -g '!.git'", "sub/.env", true}, {"tar --exclude=./sub -cf - src/..", "sub/.env", true}, {"tar --exclude=./sub -cf - .", "sub/.env", false}, {"tar --exclude=./sub -cf - ./", "sub/.env", false},
		{"rg --hidden S -g '!*/sub/**' -g '!.git'", "a/b/sub/.env", true}, {"rg --hidden S -g '!a*b/**' -g '!.git'", "a/b/.env", true}, {"rg --hidden S -g '!**/sub/**' -g '!.git'", "a/b/sub/.env", false},
		{"find .// -type f -not -path './sub/*' -exec cat {} +", "sub/.env", true}, {"find ./ -type f -not -path './sub/*' -exec cat {} +", "sub/.env", false}, {"zip -r x.zip src/.. -x 'sub/*'", "sub/.env", true}, {"zip -r x.zip . -x 'sub/*'", "sub/.env", false},
		{"rsync -a --exclude=.env '--exclude=!' sub/ copy/", "sub/.env", true}, {"rsync -a '--exclude=+ .env' --exclude=.env sub/ copy/", "sub/.env", true}, {"rsync -a --exclude-from=main.go --exclude=.env sub/ copy/", "sub/.env", true}, {"rsync -a --exclude '*.o' --exclude=.env sub/ copy/", "sub/.env", false},
		{"cp -r sub copy", "main2.go", false}, {"find . -name '*.go' | xargs grep -n x", ".env", false},
		{"rg -g 'src/**/*.ts' x", ".env", false}, {"rg -g 'src/**' x", ".env", true}, {"fd -g '*.go' -X cat", "a.pem", false}, {"fd -g '*.go' -p -X cat", "a.pem", true},
		{"cat $(find . -name '.[!a]nv')", "", true}, {"cat $(find . -name '.[[:alpha:]]nv')", "", true}, {"cat $(find . -iname '.ENV*')", "", true}, {"cat $(find . -name '[a-z]*')", "", false}, {"cat $(find . -name '*.[ch]')", "", false},
		{"grep -r x .", "secrets/a.go", false}, {"grep -r x secrets", "secrets/a.go", false}, {"grep -r x secrets", "secrets/db.txt", true}, {"grep -r x .", ".env/lib/a.py", false}, {"rg x auth_token", "auth_token/a.go", false},
	} {
		plan := walked(test.files).Analyze(t.Context(), bash(test.text), approvaltest.Named("/home/ann/p"))
		asks := false
		for _, seg := range plan.Segments {
			asks = asks || slices.ContainsFunc(seg.Findings, func(f approval.Finding) bool { return f.Reason == approval.ReasonProtectedState })
		}
		if asks != test.asks {
			t.Errorf("%s with %s: %t (%s)", test.text, test.files, asks, show(plan))
		}
	}
}

// TestLargeFolders: what cannot be looked at to its end passes in the working
// directory and is told, and asks elsewhere.
func TestLargeFolders(t *testing.T) {
	t.Parallel()
	a := walked()
	world := a.World.(*approvaltest.World)
	a.World = large{world}
	seg := a.Analyze(t.Context(), bash("grep -r x ."), approvaltest.Named("/home/ann/p")).Segments[0]
	if len(seg.Findings) > 0 || !slices.Contains(seg.Effects, approval.EffectUnseen) {
		t.Errorf("here: %+v, %v", seg.Findings, seg.Effects)
	}
	if seg := a.Analyze(t.Context(), bash("grep -r x /opt/many"), approvaltest.Named("/home/ann/p")).Segments[0]; !slices.Contains(reasons(seg.Findings), approval.ReasonProtectedState) {
		t.Errorf("elsewhere: %+v", seg.Findings)
	}
}

// TestManyWalks: what is left of the work for a later command is no reason to pass.
func TestManyWalks(t *testing.T) {
	t.Parallel()
	a := walked("sub/.env")
	a.World = large{a.World.(*approvaltest.World)}
	segments := a.Analyze(t.Context(), bash("grep -r x .; grep -r y .; grep -r z .; grep -r x sub"), approvaltest.Named("/home/ann/p")).Segments
	if len(segments[0].Findings) > 0 || !slices.Contains(reasons(segments[3].Findings), approval.ReasonProtectedState) {
		t.Errorf("%+v, %+v", segments[0].Findings, segments[3].Findings)
	}
}

// TestIgnoredLines: a line of .gitignore means what git reads in it.
func TestIgnoredLines(t *testing.T) {
	for line, asks := range map[string]bool{"server.key": false, "server.key  ": false, "server.key\r": false, " server.key": true, "\tserver.key": true, "server.key/": true, "# server.key": true, "\ufeffserver.key": true} {
		a := walked("server.key")
		a.World.(*approvaltest.World).Files["/home/ann/p/.gitignore"] = approvaltest.File{Mode: 0o644, UID: 500, Text: line + "\n"}
		seg := a.Analyze(t.Context(), bash("rg x"), approvaltest.Named("/home/ann/p")).Segments[0]
		if got := slices.Contains(reasons(seg.Findings), approval.ReasonProtectedState); got != asks {
			t.Errorf("%q: %v", line, seg.Findings)
		}
	}
}

// TestWalksOfTheirs: where the agent's own shell runs a text, nobody looks again at
// what an earlier command brought.
func TestWalksOfTheirs(t *testing.T) {
	for text, asks := range map[string]bool{
		"mv src s2; rg x s2": true, "cp -r src s2 && grep -rn x s2": true, "ln -s src s2; grep -R x s2": true, "rm .gitignore; rg x": true, "touch .ignore; rg x": true,
		"git status && grep -rn x src": false, "rm -rf src/old; grep -rn x src": false, "grep -rn x src; mv src s2": false, "rg x; rg y": false,
	} {
		req := bash(text)
		req.Who = approval.Theirs
		asked := false
		for _, seg := range walked().Analyze(t.Context(), req, approvaltest.Named("/home/ann/p")).Segments {
			asked = asked || slices.ContainsFunc(seg.Findings, func(f approval.Finding) bool {
				return f.Reason == approval.ReasonRuntimeValue && strings.Contains(f.Sentence, "may bring")
			})
		}
		if asked != asks {
			t.Errorf("%s: %t", text, asked)
		}
	}
}

// large is a world with many files in two folders.
type large struct{ *approvaltest.World }

func (l large) Look(name string) (approval.File, error) {
	if name == "/opt/many" {
		return approval.File{Path: name, Mode: 0o040755}, nil
	}
	return l.World.Look(name)
}

func (l large) List(name string) (list []string, err error) {
	if name != "/home/ann/p" && name != "/opt/many" {
		return l.World.List(name)
	}
	for i := range 20_001 {
		list = append(list, fmt.Sprintf("f%d.go", i))
	}
	return list, nil
}

// TestLinksInFolders: a link in a folder is followed by who follows links.
func TestLinksInFolders(t *testing.T) {
	a := walked("/home/ann/.ssh/id_rsa")
	a.World.(*approvaltest.World).Links["/home/ann/p/sub/innocent"] = "/home/ann/.ssh/id_rsa"
	for text, want := range map[string]bool{"grep -R x sub": true, "grep -r x sub": false, "find sub -exec cat {} +": true, "rg -L x sub": true, "rg x sub": false, "cp -rL sub copy": true, "cp -r sub copy": true, "cp -R sub copy": false, "zip -r x.zip sub": true} {
		seg := a.Analyze(t.Context(), bash(text), approvaltest.Named("/home/ann/p")).Segments[0]
		if got := slices.Contains(reasons(seg.Findings), approval.ReasonProtectedState); got != want {
			t.Errorf("%s: %v", text, seg.Findings)
		}
	}
}

// TestTracked: git grep opens what the index names, and nothing else; an index
// that cannot be read is no reason to pass.
func TestTracked(t *testing.T) {
	for _, test := range []struct {
		index, text string
		asks        bool
	}{
		{indexOf(2, "a.go", "b.go"), "git grep x", false}, {indexOf(2, ".env", "b.go"), "git grep x", true}, {indexOf(2, ".env", "b.go"), "git grep x -- ':!.env'", false},
		{indexOf(2, "a.go", "sub/b.key"), "git grep x", true}, {indexOf(3, "a.go", "sub/b.key"), "git grep x", true}, {"DIRC and no more", "git grep x", true},
	} {
		a := walked(".env", ".git/HEAD")
		a.World.(*approvaltest.World).Files["/home/ann/p/.git/index"] = approvaltest.File{Mode: 0o644, UID: 500, Text: test.index}
		seg := a.Analyze(t.Context(), bash(test.text), approvaltest.Named("/home/ann/p")).Segments[0]
		if got := slices.Contains(reasons(seg.Findings), approval.ReasonProtectedState); got != test.asks {
			t.Errorf("%q, %s: %v", test.index, test.text, seg.Findings)
		}
	}
}

// TestTrackedNames: names that git prints go on to a reader where the index names no
// secret.
func TestTrackedNames(t *testing.T) {
	for name, asks := range map[string]bool{"a.go": false, ".env": true, "b.key": true} {
		for _, text := range []string{"git diff HEAD --name-only | xargs grep -ln TODO 2>/dev/null", "git diff --name-only | xargs cat", "git diff -z --name-only main HEAD | xargs -0 cat"} {
			a := walked(".git/HEAD")
			a.World.(*approvaltest.World).Files["/home/ann/p/.git/index"] = approvaltest.File{Mode: 0o644, UID: 500, Text: indexOf(2, name, "z.go")}
			if found := allReasons(a.Analyze(t.Context(), bash(text), approvaltest.Named("/home/ann/p"))); len(found) > 0 != asks {
				t.Errorf("%s with %s: %v", text, name, found)
			}
		}
	}
}

// indexOf is an index of git that names these files.
func indexOf(version byte, names ...string) string {
	b := []byte{'D', 'I', 'R', 'C', 0, 0, 0, version, 0, 0, 0, byte(len(names))}
	for _, name := range names {
		entry := make([]byte, 62)
		entry[26], entry[27], entry[61] = 0x81, 0xa4, byte(len(name))
		entry[24], entry[25] = 0, 0
		entry = append(entry, name...)
		b = append(b, append(entry, make([]byte, 8-len(entry)%8)...)...)
	}
	return string(append(b, make([]byte, 20)...))
}

// TestAdvice: what is said to leave a file out leaves it out, and nothing of it asks.
func TestAdvice(t *testing.T) {
	for _, text := range []string{
		"grep -r x .", "rg --hidden x", "find . -type f -exec cat {} +", "fd -H . -X cat", "tar czf x.tgz -- .", "zip -r x.zip .", "rsync -a sub/ copy/", "diff -r sub src", "git grep --no-index x", "git grep --untracked x",
	} {
		a := walked("sub/.env")
		for step := range 2 {
			seg := a.Analyze(t.Context(), bash(text), approvaltest.Named("/home/ann/p")).Segments[0]
			if asks := len(seg.Findings) > 0; asks != (step == 0) {
				t.Errorf("%s: %v", text, seg.Findings)
				break
			}
			if step > 0 {
				break
			}
			_, more, _ := strings.Cut(seg.Findings[0].Sentence, "without it: ")
			if before, action, ok := strings.Cut(text, " -exec"); ok { // a test stands before the action
				text = before + " " + more + " -exec" + action
			} else if before, action, ok := strings.Cut(text, " --"); ok && text[:4] == "tar " { // the same
				text = before + " " + more + " --" + action
			} else if before, action, ok := strings.Cut(text, " -X"); ok {
				text = before + " " + more + " -X" + action
			} else {
				text += " " + more
			}
		}
	}
}

// TestFedFolders: who reads folders as a whole is not given folders that come from
// elsewhere.
func TestFedFolders(t *testing.T) {
	for text, want := range map[string]bool{"find /opt -name lib -exec grep -r x {} +": true, "find /opt -name lib | xargs grep -rn x": true, "find . -name '*.go' | xargs grep -n x": false} {
		asks := false
		for _, seg := range walked().Analyze(t.Context(), bash(text), approvaltest.Named("/home/ann/p")).Segments {
			asks = asks || slices.Contains(reasons(seg.Findings), approval.ReasonWrapperUnclear)
		}
		if asks != want {
			t.Errorf("%s: %t", text, asks)
		}
	}
}
