//go:build linux || darwin

package command_test

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/machine"
	"github.com/countersign-app/countersign/backend/protected"
)

// Words of commands that bring, move and write files. What a branch holds is not
// judged, so git checkout of one, and worktrees, are not here: %F is a file or a folder, %D
// a folder, %N a name that may be new, %T an archive of tar, %Z of zip, %P a patch.
var bringing = strings.Split(`tar -xf %T -C %D
tar xf %T -C %D --strip-components=1
tar -C %D -C %D -xf %T
tar -xf %T --strip-components 2 -C %D
tar -cf %N %F
unzip -qo %Z -d %D
unzip -qoj %Z -d %D
zip -qr %N %F
mv %F %N
mv %F %F %D
mv -t %D %F
mv -n %F %D/
cp %F %N
cp -r %F %N
cp -r %F/. %N
cp -a %F %F %D
rsync -a %F %N
rsync -a %F/ %N
install %F %N
git mv %F %N
git mv %F %D
git apply %P
git apply -p0 %P
git apply --directory=%D %P
git -C %D apply ../%P
git checkout -- %F
patch -s -p1 -i %P
patch -s -p0 -i %P
patch -s -d %D -p1 -i ../%P
tee %N < a.go
tee %N %N < a.go
touch %N
ln -s %F %N
ln -s ../%F %N
ln %F %N
mkdir -p %N
split a.go %N
csplit -s -f %N a.go 1
truncate -s 0 %N
git archive -o %N HEAD
git format-patch -q -o %D -1
git init -q %N
git clone -q . %N
sort a.go > %N
cat a.go >> %N`, "\n")

var broughtNames = map[string][]string{
	"%F": strings.Fields("a.go tasks.json settings.json pre-commit sub cfg cfg/.vscode vl hl d new more.zip sub/a.go .vscode .husky .claude link lefthook"),
	"%D": strings.Fields("sub vl hl d new . .vscode .husky cl sub/deep cfg"),
	"%N": strings.Fields("vl/launch.json hl/pre-push hl/post-merge d/new new sub/new cl/settings.local.json .vscode/launch.json lefthook.yml new/.vscode .claude sub/.vscode d .vscode vl hl out/x cl/settings.json sub/vl link/x new/tasks.json"),
	"%T": strings.Fields("t1.tar t2.tar t3.tar t4.tar t5.tar t6.tgz"),
	"%Z": strings.Fields("z1.zip z2.zip z3.zip z4.zip"),
	"%P": strings.Fields("p1.patch p2.patch p3.patch p4.patch p5.patch p6.patch p7.patch"),
}

// bringingProject makes a project with links to the folders of start-up files, and
// with archives and patches that bring such files.
func bringingProject(t *testing.T, dir string) {
	diff := func(name, mode, line string) string {
		return fmt.Sprintf("diff --git a/%s b/%s\nnew file mode %s\n--- /dev/null\n+++ b/%s\n@@ -0,0 +1 @@\n+%s\n", name, name, mode, name, line)
	}
	for name, text := range map[string]string{
		".vscode/tasks.json": "old", ".husky/pre-commit": "old", ".claude/settings.json": "old", "a.go": "new", "tasks.json": "new", "settings.json": "new", "pre-commit": "new",
		"sub/a.go": "a", "sub/deep/b.go": "b", "cfg/.vscode/tasks.json": "new", "lefthook": "new", "link/x": "x",
		"t1.tar": tarOf(t, false, "x/a", "tasks.json"), "t2.tar": tarOf(t, false, ".vscode/launch.json"), "t3.tar": tarOf(t, false, "./x/y/pre-push"), "t4.tar": tarOf(t, false, "d -> .vscode"), "t5.tar": tarOf(t, false, "a/./b/lefthook.yml"), "t6.tgz": tarOf(t, true, "settings.json", "x/settings.local.json"),
		"z1.zip": zipOf(t, "x/tasks.json"), "z2.zip": zipOf(t, ".vscode/launch.json"), "z3.zip": zipOf(t, "pre-push"), "z4.zip": zipOf(t, "x/y/lefthook.yml"), "more.zip": zipOf(t, "x"),
		"p1.patch": diff("new", "100644", "x"), "p2.patch": diff("nl", "120000", ".vscode"), "p3.patch": diff("vl/launch.json", "100644", "x"), "p4.patch": diff("x/.vscode/tasks.json", "100644", "x"),
		"p5.patch": "diff --git a/tasks.json b/vl/launch.json\nsimilarity index 100%\nrename from tasks.json\nrename to vl/launch.json\n", "p6.patch": "--- a/tasks.json\n+++ b/.vscode/launch.json\n@@ -1 +1 @@\n-new\n+newer\n", "p7.patch": diff("pre-push", "100755", "x"),
	} {
		at := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{"vl": ".vscode", "hl": ".husky", "cl": ".claude", "d": "sub", "sub/vl": "../.vscode"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
}

// startFiles are the files of a project from which programs start, with what they
// hold, and the links that are called as one.
func startFiles(dir, home string) map[string]string {
	files := map[string]string{}
	filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == ".git" {
			return filepath.SkipDir
		}
		if err == nil && protected.Of(at, home).Has(protected.Startup) && !d.IsDir() {
			text, _ := os.ReadFile(at)
			if to, err := os.Readlink(at); err == nil {
				text = []byte("-> " + to)
			}
			files[at] = string(text)
		}
		return nil
	})
	return files
}

// TestArrivalsAsReal runs commands with words at random, three in a row, as far as
// we would let them run, and looks whether a file from which programs start has
// come, changed or gone.
func TestArrivalsAsReal(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	run := func(dir, text string) string {
		cmd := exec.Command("bash", "-c", text)
		cmd.Dir, cmd.Env = dir, []string{"HOME=" + home, "LC_ALL=C.UTF-8", "PATH=/usr/bin:/bin", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@b", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@b"}
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	model := filepath.Join(home, "model")
	bringingProject(t, model)
	run(model, "git init -q . && git add . && git commit -qm a")
	a := &command.Analyzer{World: machine.Disk{}, Home: home, UID: os.Getuid()}
	a.SetPath([]string{"/usr/bin", "/bin"})
	random := approvaltest.Randomly(t)
	passed := map[string]int{}
	for i := range approvaltest.Rounds(t, 60, 8) {
		dir := filepath.Join(home, fmt.Sprint("p", i))
		if out := run(home, "cp -a model "+dir); out != "" {
			t.Fatal(out)
		}
		var ran []string
		for range 24 {
			line := bringing[random.IntN(len(bringing))]
			text := line
			for strings.Contains(text, "%") {
				at := strings.IndexByte(text, '%')
				names := broughtNames[text[at:at+2]]
				text = text[:at] + names[random.IntN(len(names))] + text[at+2:]
			}
			if asks(a.Analyze(t.Context(), &approval.Request{Command: []string{"bash", "-c", text}, Cwd: dir, Who: approval.Ours}, approvaltest.Named(dir))) {
				continue
			}
			ran = append(ran, text)
			passed[line]++
			before := startFiles(dir, home)
			out := run(dir, text)
			if after := startFiles(dir, home); !maps.Equal(before, after) {
				t.Errorf("%s\n\tafter %s: %.100s\n\t%v\n\t%v", text, strings.Join(ran, "; "), out, slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after)))
				break
			}
		}
		os.RemoveAll(dir)
	}
	for _, line := range bringing {
		t.Logf("%d passed: %s", passed[line], line)
	}
	if len(passed) == 0 {
		t.Error("nothing was tried")
	}
}
