//go:build linux || darwin

package command_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/machine"
)

// openedByReal are programs that read folders, each with the words that it is given
// at random between a beginning and an end. Their output holds what they read.
var openedByReal = []struct{ program, begin, words, end string }{
	{"grep", "grep", `-r -R -rn -r -rl -e -i -v -n -h -A3 -A --include=*.go --include --include=* --include=.* --exclude=.env --exclude=.env --exclude=*.pem --exclude=*.key --exclude=* --exclude=[!x]env --exclude=.[e]nv --exclude-dir=sub --exclude-dir=src --exclude-dir=.* --exclude=id_rsa --exclude sub -- main.go package.json S . . sub src -d recurse --directories=recurse --incl=*.pem --color=always -3 -E -F -o -L -c --label=x -m 1 --null`, ""},
	{"rg", "rg", `--hidden -. -u -uu --no-ignore --no-hidden -g *.go -g .e* -g * -g** -ng** -g !.env -g !*.pem -g !.[e]nv -g !sub -g !sub/** -g !*.key -g **/*.go -g sub/** --iglob *.PEM --iglob !*.PEM -e S -e -g!* --glob=!.env -tgo -t go -t all -L --follow -i -v -n -l S S . sub src -- --files -c --ignore -0 -g {*.go,.env} --type-add x:* -tx --no-ignore-vcs --no-ignore-messages --max-depth 1 --glob-case-insensitive -g *.ENV`, "."},
	{"find", "find", `. . sub src -L -name -name *.go *.pem .e* [!a]env -iname *.PEM .env -not ! ! -o -or -a -type f -path ./sub/* -path */sub/* -prune -print -maxdepth 1 -newer a.go -true -false -exec cat {} ; -exec cat {} + -mindepth 1 -empty`, "-exec cat {} +"},
	{"find", "find .", `-name *.go -name .env -iname .ENV -not -name .env -not -name *.pem ! -name *.key -o -type f -type d -path ./sub/* -prune -print -print0 -name sub -name src -true -a -false`, "| xargs cat"},
	{"fdfind", "fdfind", `-H -I -u -e go -e pem -e env -E .env -E *.pem -E sub -E * -E !.env -g *.go -g .env nv S . . -i -L -t f --search-path sub --search-path . -p -d 1 -E .[e]nv -s -F -a --max-results 3`, "-X cat"},
	{"tar", "tar -cf -", `--exclude=.env --exclude=*.pem --exclude=*.key --exclude=sub --exclude=* --exclude=./sub --exclude=.[e]nv --exclude .env -C sub -C src ../src ../sub a.go . . sub src -h --dereference -- --anchored --wildcards --no-wildcards --ignore-case --exclude=SUB --exclude=id_rsa --exclude=src --no-anchored`, "."},
	{"zip", "zip -q -0 -r -", `-x .env -x *.env *.pem -x sub/* -x * -y -j -r . sub src -x *.key *.pem *.env *id_rsa -- -x sub -x .env`, "."},
	{"7z", "7z a -mx0 -bd -tzip out/x.zip", `. sub src -r a.go clean`, "clean ; cat out/x.zip"},
	{"rsync", "rsync -a", `--exclude=.env --exclude=*.pem --exclude=*.key --exclude=sub --exclude=* --exclude=/sub --exclude=id_rsa --exclude .env --include=* --include=.env -L -l -r -C --exclude=.[e]nv --exclude=+_.env --exclude=src/ . sub src sub/ -n`, "out/ ; cat $(/usr/bin/find out -type f)"},
	{"cp", "cp", `-r -R -a -L -P -H -f -n sub src sub/. . a.go`, "out/ ; cat $(/usr/bin/find out -type f)"},
	{"diff", "diff", `-r -N -u -x .env -x *.pem -x * -x [!a]env --exclude=.env --exclude=*.key --exclude=*.pem -x id_rsa -x sub -x src -a -q -- -y . sub src other`, "other"},
	{"git", "git --no-pager grep", `-n -e S S . clean --untracked --no-index --cached -i -v -l -- :!.env :!*.env :!*.pem :!*.key :!sub :^src :(exclude)*.pem :/ . sub src *.go :(exclude)*id_rsa -f a.go --exclude-standard --no-exclude-standard -r`, "S"},
	{"git", "git -C . --no-pager diff", `clean --no-index -a . sub src other -- --cached --stat -p`, "other"},
	{"ls", "ls", `clean -a -A -f -1 -R -d . sub src -I .env -l --hide=x -B -L`, "| xargs cat"},
	{"rg", "rg --files", `clean --hidden -u -uu -g *.go -g .e* -g !.env -g !*.pem -L . sub src --no-ignore`, "| xargs cat"},
	{"tree", "tree -fi", `clean -a -d -l -L 1 . sub src -I .env -P *.go`, "| xargs cat"},
	{"ag", "ag", `-u -a -t -U --hidden --depth 1 -i -l -v -G go --ignore sub -f --follow -n -e`, "S clean"},
}

// TestWalksAsReal runs programs with words at random, as far as we would let them
// run, and looks whether they read a file with secrets.
func TestWalksAsReal(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	dir := filepath.Join(home, "p")
	secret := "S3CRET plain S"
	for name, text := range map[string]string{
		".env": secret, "sub/.env": secret, "sub/server.pem": secret, "sub/deep/id_rsa": secret, "src/.hidden/x.key": secret, "ignored.pem": secret, "build/c.key": secret, "src/A.PEM": secret,
		"a.go": "plain S main.go", "src/b.go": "plain S package.json", "other/.keep": "plain", "clean/c.go": "plain S main.go", ".gitignore": "ignored.pem\n/build/\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"src/link": "../sub/.env", "src/folder": "../sub"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	run := func(text string) string {
		cmd := exec.Command("bash", "-c", text)
		cmd.Dir, cmd.Env = dir, []string{"HOME=" + home, "LC_ALL=C.UTF-8", "PATH=/usr/bin:/bin"}
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	run("git init -q . && git add a.go src/b.go .gitignore sub/server.pem && git -c user.name=a -c user.email=a@b commit -qm a")
	a := &command.Analyzer{World: machine.Disk{}, Home: home, UID: os.Getuid()}
	a.SetPath([]string{"/usr/bin", "/bin"})
	random := approvaltest.Randomly(t)
	rounds, passed, ran := approvaltest.Rounds(t, 40, 8), 0, 0
	for _, of := range openedByReal {
		if _, err := exec.LookPath(of.program); err != nil {
			t.Log("not here, not tried: ", of.program)
			continue
		}
		before := passed
		for range rounds {
			words := strings.Fields(of.words)
			list := []string{of.begin}
			for range random.IntN(6) {
				word := words[random.IntN(len(words))]
				list = append(list, command.Quote([]string{strings.ReplaceAll(word, "_", " ")}))
			}
			text := strings.Join(append(list, of.end), " ")
			judged, _, _ := strings.Cut(text, " ; ")
			if asks(a.Analyze(t.Context(), &approval.Request{Command: []string{"bash", "-c", judged}, Cwd: dir, Who: approval.Ours}, approvaltest.Named(dir))) {
				continue
			}
			passed++
			run("/bin/rm -rf out; /bin/mkdir out")
			out := run(text)
			if !strings.Contains(out, "unrecognized option") && !strings.Contains(out, "unknown option") {
				ran++
			}
			if strings.Contains(out, "S3CRET") {
				t.Errorf("%s shows secrets", text)
			}
		}
		t.Logf("%s: %d passed", of.begin, passed-before)
	}
	t.Logf("%d passed, %d of them ran", passed, ran)
	if passed == 0 {
		t.Error("nothing was tried")
	}
}

// asks reports whether something of a plan asks.
func asks(plan approval.Plan) bool {
	if plan.Root == nil || len(plan.Findings) > 0 {
		return true
	}
	for _, seg := range plan.Segments {
		if len(seg.Findings) > 0 || seg.Floor != "" {
			return true
		}
	}
	return false
}
