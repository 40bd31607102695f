package command_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
)

// tarOf is an archive with empty files of these names; "a -> b" is a link.
func tarOf(t testing.TB, packed bool, names ...string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(&b)
	if packed {
		w = tar.NewWriter(z)
	}
	for _, name := range names {
		name, to, link := strings.Cut(name, " -> ")
		h := &tar.Header{Name: name, Mode: 0o644, Typeflag: tar.TypeReg}
		if link {
			h.Linkname, h.Typeflag = to, tar.TypeSymlink
		}
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	if packed {
		z.Close()
	}
	return b.String()
}

func zipOf(t testing.TB, names ...string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range names {
		if _, err := w.Create(name); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	return b.String()
}

// unpacking is a project with archives, patches and folders in it.
func unpacking(t testing.TB) *command.Analyzer {
	world := approvaltest.NewWorld(readerPrograms + " /usr/bin/unzip /usr/bin/cpio /usr/bin/7z /usr/bin/patch /bin/rm /usr/bin/bsdtar /usr/bin/install /usr/bin/split /usr/bin/csplit")
	diff := func(name string) string {
		return "diff --git a/" + name + " b/" + name + "\n--- a/" + name + "\n+++ b/" + name + "\n@@ -0,0 +1 @@\n+x\n"
	}
	for name, text := range map[string]string{
		"good.tar": tarOf(t, false, "pkg/a.go", "pkg/.github/workflows/ci.yml"), "good.tgz": tarOf(t, true, "pkg/a.go"), "code.tar": tarOf(t, false, "pkg/.vscode/tasks.json"),
		"hooks.tgz": tarOf(t, true, ".git/hooks/pre-commit"), "case.tar": tarOf(t, false, "pkg/.VSCode/Tasks.json"), "abs.tar": tarOf(t, false, "/etc/x"), "up.tar": tarOf(t, false, "a/../../x"),
		"link.tar": tarOf(t, false, "a -> /etc"), "settings.tar": tarOf(t, false, "claude/settings.json", "settings.json"), "env.tar": tarOf(t, false, ".env"), "deep.tar": tarOf(t, false, "x/.claude/settings.json"),
		"bad.tar": tarOf(t, false, "a")[:300] + "ustar", "no.tar": "x", "xz.tar": "\xfd7zXZ\x00 and more",
		"good.zip": zipOf(t, "pkg/a.go"), "code.zip": zipOf(t, "pkg/.vscode/tasks.json"), "up.zip": zipOf(t, "../x"), "back.zip": zipOf(t, `a\b`), "case.zip": zipOf(t, "LEFTHOOK.YML"), "gitdir.zip": zipOf(t, "x/.git/"), "dir.zip": zipOf(t, "x/git/"),
		"good.patch": diff("src/a.go"), "code.patch": diff(".vscode/tasks.json"), "hook.patch": diff("sub/.husky/pre-commit"), "up.patch": "--- a/x\n+++ ../../x\n",
		"move.patch": "diff --git a/x b/y\nrename from x\nrename to .envrc\n", "quoted.patch": "--- a/x\n+++ \"b/.vscode/\\164asks.json\"\n", "remove.patch": "--- a/.claude/settings.json\n+++ /dev/null\n",
		"cfg/.vscode/tasks.json": "x", "cfg/a.go": "x", "more/opencode.json": "x", "plain/a.go": "x", "plain/sub/b.go": "x", "git/x.git/config": "x", ".claude/settings.json": "x",
		"out/old.go": "x", "build/old.go": "x", "main.go": "x", "over/.env": "x", "envs/.env": "x", "flat/settings.json": "x",
		"kept/c.key": "x", "tests/a.go": "x", "tests/old.key": "x", "conf/session_token.json": "x", "docs/a.md": "x",
	} {
		world.Files["/home/ann/p/"+name] = approvaltest.File{Mode: 0o644, UID: 500, Text: text}
	}
	world.Links["/home/ann/p/t"] = "/home/ann/p/tests"
	a := &command.Analyzer{World: world, Home: "/home/ann", UID: 500, Ours: []string{"/state"}}
	a.SetPath([]string{"/usr/bin", "/bin"})
	return a
}

// TestArrivals: what is unpacked, patched, moved, copied or removed is judged by
// the names in it.
func TestArrivals(t *testing.T) {
	a := unpacking(t)
	for text, want := range map[string]bool{
		"tar -xf good.tar -C out": false, "tar xzf good.tgz -C out": false, "tar -xzf good.tgz -C out --strip-components=1": false, "tar xf code.tar -C out": true, "tar -x -f code.tar -C out": true,
		"tar -xfcode.tar -C out": true, "tar --extract --file=code.tar -C out": true, "tar --get --file code.tar -C out": true, "tar xzf hooks.tgz -C out": true, "tar xf case.tar -C out": true,
		"tar xf abs.tar -C out": true, "tar xf up.tar -C out": true, "tar xf link.tar -C out": true, "tar xf bad.tar -C out": true, "tar xf no.tar -C out": true, "tar xf xz.tar -C out": true,
		"tar xf nowhere.tar -C out": true, "tar xf settings.tar -C out": false, "tar xf settings.tar -C .claude": true, "tar xf deep.tar -C out --strip-components=2": false,
		"tar xf deep.tar -C out --strip 1": true, "tar xf env.tar -C out": false, "tar xf env.tar -C over": true, "tar tf code.tar": false, "tar -xOf code.tar": false, "tar -xf - -C out < code.tar": true,
		"tar -x -C out < good.tar": false, "cat code.tar | tar -x -C out": true, "bsdtar -xf code.tar -C out": true,
		"unzip good.zip -d out": false, "unzip -q code.zip -d out": true, "unzip code -d out": true, "unzip up.zip -d out": true, "unzip back.zip -d out": true, "unzip case.zip -d out": true, "unzip -o gitdir.zip -d out": true, "unzip -o dir.zip -d out": false,
		"unzip -l code.zip": false, "unzip no.tar -d out": true, "unzip -j code.zip -d out": false, "cpio -i": true, "cpio -id < good.tar": true, "7z x good.zip": true, "7z l good.zip": false,
		"git apply good.patch": false, "git apply code.patch": true, "git apply hook.patch": true, "git apply up.patch": true, "git apply move.patch": true, "git apply quoted.patch": true, "git apply remove.patch": true,
		"git apply --check code.patch": false, "git apply -p0 code.patch": true, "git apply nowhere.patch": true, "git apply": true, "git apply < code.patch": true, "git apply < good.patch": false,
		"git am code.patch": true, "git am good.patch": false, "git am --abort": false, "git am": true, "patch -p1 < code.patch": true, "patch -p1 -i code.patch": true, "patch main.go code.patch": true, "patch -p1 < good.patch": false,
		"git mv cfg/.vscode .": true, "git mv cfg new": true, "git mv plain new": false, "git mv main.go src.go": false, "git mv main.go lefthook.yml": true, "git rm -r .claude": true, "git rm -r --cached .claude": false,
		"git rm -r plain": false, "git checkout HEAD -- .claude": true, "git restore .vscode": true, "git checkout main": false, "git restore main.go": false, "git clone https://example.com/x .vscode": true, "git clone https://example.com/.claude.git": true, "git clone https://example.com/x y": false,
		"mv cfg/.vscode .": true, "mv cfg new": true, "mv cfg .vscode": true, "mv plain new": false, "mv main.go out": false, "mv cfg/.vscode/tasks.json out": true, "mv -t . cfg/.vscode": true,
		"mv flat .claude2": false, "cp -r flat .claude": true, "cp -r more/. .": true, "cp -r more new": true, "cp -r plain new": false, "cp -r git new": true, "cp -a cfg/.vscode .": true, "cp -r cfg/. out": true,
		"rsync -a cfg/ .": true, "rsync -a cfg/ out/": true, "rsync -a plain/ out/": false, "rsync -a flat/ .claude/": true, "cp -r envs/. over": true,
		"split a.txt mise.tom": true, "split -l 1 main.go lefthook.ya": true, "split main.go mcp.jso": true, "split main.go part.": false, "split main.go main.part": false, "csplit -f lefthook.y main.go 1": true,
		"mv kept tests/": true, "git mv kept tests": true, "mv kept fixtures": true, "mv kept other": false, "mv conf docs/": true, "mv conf out": false, "mv tests out": false, "mv tests/a.go docs": false, "mv tests old": false, "mv kept t": true, "mv docs tests": false,
		"rsync -a --exclude=c.key kept/ tests/": false, "rsync -a --exclude=c.key '--exclude=!' kept/ tests/": true,
		"rm -r .claude": true, "rm -rf plain": false, "rm -rf .vscode": true, "ln -s plain .vscode": true, "ln -s cfg/.vscode .": true, "ln -s plain other": false,
	} {
		asks := false
		for _, seg := range a.Analyze(t.Context(), bash(text), approvaltest.Named("/home/ann/p")).Segments {
			asks = asks || slices.ContainsFunc(seg.Findings, func(f approval.Finding) bool { return f.Reason == approval.ReasonProtectedState })
		}
		if asks != want {
			t.Errorf("%s: %t (%s)", text, asks, show(a.Analyze(t.Context(), bash(text), approvaltest.Named("/home/ann/p"))))
		}
	}
}

// TestHostileArchives: what costs much to read asks, and soon.
func TestHostileArchives(t *testing.T) {
	approvaltest.Long(t)
	t.Parallel()
	many := make([]string, 30_000)
	for i := range many {
		many[i] = fmt.Sprintf("f%d", i)
	}
	bomb := func() string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		w := tar.NewWriter(z)
		w.WriteHeader(&tar.Header{Name: "a", Size: 70 << 20, Mode: 0o644})
		zeros := make([]byte, 1<<20)
		for range 70 {
			w.Write(zeros)
		}
		w.WriteHeader(&tar.Header{Name: ".envrc", Mode: 0o644})
		w.Close()
		z.Close()
		return b.String()
	}()
	behind := func() string { // what lies behind the bytes that are looked at
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		w := tar.NewWriter(z)
		w.WriteHeader(&tar.Header{Name: "a", Size: 64<<20 - 512, Mode: 0o644})
		zeros := make([]byte, 1<<20)
		for range 63 {
			w.Write(zeros)
		}
		w.Write(zeros[512:])
		w.WriteHeader(&tar.Header{Name: ".envrc", Mode: 0o644})
		w.Close()
		z.Close()
		return b.String()
	}()
	a := unpacking(t)
	world := a.World.(*approvaltest.World)
	for name, text := range map[string]string{"behind.tgz": behind, "many.tgz": tarOf(t, true, many...), "many.zip": zipOf(t, many...), "bomb.tgz": bomb} {
		world.Files["/home/ann/p/"+name] = approvaltest.File{Mode: 0o644, UID: 500, Text: text}
		line := "tar xf " + name + " -C out"
		if strings.HasSuffix(name, ".zip") {
			line = "unzip " + name + " -d out"
		}
		began := time.Now()
		seg := a.Analyze(t.Context(), bash(line), approvaltest.Named("/home/ann/p")).Segments[0]
		if !slices.Contains(reasons(seg.Findings), approval.ReasonProtectedState) {
			t.Errorf("%s: %v", line, seg.Findings)
		}
		t.Logf("%s: %s", line, time.Since(began))
	}
	// What comes out of all archives of a text is bounded together.
	plan := a.Analyze(t.Context(), bash(strings.Repeat("tar xf bomb.tgz -C out; ", 20)), approvaltest.Named("/home/ann/p"))
	if !slices.Contains(reasons(plan.Findings), approval.ReasonTooComplex) {
		t.Error("many large archives:", reasons(plan.Findings))
	}
}

// FuzzArchived: no bytes make the look into them fail.
func FuzzArchived(f *testing.F) {
	f.Add([]byte(tarOf(f, false, "a", "b -> c")))
	f.Add([]byte(tarOf(f, true, "a")))
	f.Add([]byte(zipOf(f, "a")))
	f.Add([]byte("--- a/x\n+++ \"b/\\164\"\nrename to x\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		command.Patched(data)
		names, _ := command.Archived(data)
		for _, name := range names {
			if strings.HasPrefix(name, "/") || strings.HasPrefix(name, "../") {
				t.Errorf("%q leads out", name)
			}
		}
	})
}
