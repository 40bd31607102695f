package command_test

import (
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
)

// linked is the project of TestArrivals with links in it, and what is written to
// the folders that these lead to.
func linked(t testing.TB) *command.Analyzer {
	a := unpacking(t)
	world := a.World.(*approvaltest.World)
	for _, name := range []string{"touch", "gunzip", "ditto", "bsdunzip", "jar"} {
		world.Files["/usr/bin/"+name] = approvaltest.File{Mode: 0o755, Text: "\x7fELF"}
	}
	world.Files["/etc/hosts"] = approvaltest.File{Mode: 0o644, Text: "x"}
	for name, to := range map[string]string{"c": ".claude", "sub/l": "../.claude", "sub/up": "..", "lib/.claude": "../flat", "out/in/f": "../../.claude/settings.json", "gone": ".envrc", "sub/etc": "/etc"} {
		world.Links["/home/ann/p/"+name] = to
	}
	for name, text := range map[string]string{
		"sub/x.go": "x", "lib/a.go": "x", "mv/a.go": "x", "settings.json": "{}", "tasks.json": "{}", "settings.json.gz": "x", "c.tar": tarOf(t, false, "l/settings.json"), "c.zip": zipOf(t, "l/settings.json"), "in.tar": tarOf(t, false, "in/f"),
		"dot.tar": tarOf(t, false, "./.vscode/tasks.json"), "dots.tar": tarOf(t, false, "././a"), "t.patch": "--- a/tasks.json\n+++ b/tasks.json\n@@ -0,0 +1 @@\n+x\n", "l.patch": "--- a/l/settings.json\n+++ b/l/settings.json\n@@ -1 +1 @@\n-a\n+b\n", "code.tar": tarOf(t, false, ".vscode/tasks.json"),
		"old.zip": zipOf(t, "old.go"), "twice.zip": zipOf(t, "a", "A"), "same.zip": zipOf(t, "a/x", "b/x"),
		"etc.patch": "--- a/etc/motd\n+++ b/etc/motd\n@@ -0,0 +1 @@\n+x\n", "link.patch": "--- a/c\n+++ b/c\n@@ -1 +1 @@\n-a\n+b\n",
	} {
		world.Files["/home/ann/p/"+name] = approvaltest.File{Mode: 0o644, UID: 500, Text: text}
	}
	return a
}

// TestArrivalsThroughLinks: what is not there yet comes into being where the links on
// its way lead.
func TestArrivalsThroughLinks(t *testing.T) {
	a := linked(t)
	for text, want := range map[string]bool{
		"cp main.go c/settings.local.json": true, "cp settings.json c/": true, "cp settings.json c": true, "mv main.go c/settings.local.json": true, "mv settings.json c/": true, "mv -t c settings.json": true, "mv settings.json sub/l": true,
		"tee c/settings.local.json": true, "touch c/settings.local.json": true, "touch sub/l/settings.local.json": true, "install -m 644 settings.json c/settings.local.json": true, "install settings.json c": true, "rsync settings.json c/": true, "rsync -a flat/ c/": true,
		"git mv settings.json c/": true, "git mv main.go c/settings.local.json": true, "tar -cf c/settings.local.json src": true, "zip c/settings.local.json main.go": true, "gunzip c/settings.local.json.gz": true, "ln settings.json c/": true, "ln -s settings.json c/": true,
		"echo x > c/settings.local.json": true, "sed -n p main.go > sub/l/settings.local.json": true, "cp -r flat c/": true, "cp -r flat/. c": true, "sort -o c/settings.local.json main.go": true,
		"tar xf c.tar -C sub": true, "tar xf in.tar -C out": true, "unzip c.zip -d sub": true, "tar xf settings.tar -C c": true, "git apply --directory=sub l.patch": true, "git -C sub apply ../l.patch": true, "patch -d sub -p1 -i ../l.patch": true,
		"git apply link.patch": true, "patch -p1 -i link.patch": true, "patch -p1 -d sub -i ../etc.patch": true, "cp main.go sub/up/.envrc": true, "touch c/../.envrc": true, "tee gone": false,
		"cp main.go c/notes.txt": false, "mv main.go sub/": false, "touch sub/new/a.txt": false, "cp -r plain sub": false, "tee sub/l/notes.txt": false, "cat c/settings.json": false,
		"cp -r lib copy": true, "mv lib copy": true, "cp -r plain copy": false, "rsync -a lib/ copy/": true,
	} {
		if got := asksOnArrival(t, a, text); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}

// TestOptionsOfArrivals: where what arrives goes is read as the program reads it.
func TestOptionsOfArrivals(t *testing.T) {
	a := linked(t)
	for text, want := range map[string]bool{
		"tar xf dot.tar -C out --strip-components=1": true, "tar xf dot.tar -C out --strip-components=2": false, "tar xf dots.tar -C out": true, "tar xf code.tar -C out -- -fgood.tar .vscode": true,
		"tar xf code.tar -C out -- --strip-components=9 .vscode": true, "tar xf code.tar -C out -- -O": true, "tar xf code.tar -C out --strip-comp=1": true, "tar xf good.tar -C out --strip-comp=1": true,
		"tar xf good.tar -C out -C in": true, "tar xf good.tar pkg -C out": true, "tar xf good.tar -C out pkg/a.go": false, "tar xf good.tar -f code.tar -C out": true, "tar -xOf code.tar -C out": false, "tar --extract --to-stdout -f code.tar": false,
		"tar -xf good.tar --file=code.tar -C out": true, "tar --directory=out -xf good.tar": false, "tar --direct=out -xf good.tar": true, "tar --ge -f code.tar -C out": true, "tar xf good.tar -C out --strip-components=-1": true,
		"unzip code.zip -d out -Z": true, "unzip -Z code.zip": false, "unzip -o -Z code.zip -d out": true, "unzip 'co*.zip' -d out": true, "unzip good.zip -d out -d .claude": true, "unzip old.zip -d out": true, "unzip -o old.zip -d out": false, "unzip -n old.zip -d out": false, "unzip twice.zip -d new": true, "unzip -j same.zip -d new": true, "unzip same.zip -d new": false, "printf r | unzip good.zip -d out": false, "unzip -l code.zip -d out": false, "unzip -d out -- -l code.zip": true, "unzip -q -- code.zip -d out": true,
		"git -C mv apply ../code.patch": true, "git -C . apply code.patch": true, "git -C mv apply ../good.patch": false, "git --no-pager apply code.patch": true, "git -C rm am ../code.patch": true, "git -C . mv cfg/.vscode .": true, "git -C cfg mv a.go lefthook.yml": true, "git -C . mv main.go src.go": false,
		"git apply --stat --apply code.patch": true, "git apply --stat code.patch": false, "git apply --cached code.patch": true, "git apply -- --check code.patch": true, "git apply --directory=.vscode t.patch": true, "git apply --directory=sub t.patch": false, "git -C .vscode apply ../t.patch": true, "git apply - < code.patch": true, "git am - < good.patch": false,
		"git apply < good.patch < code.patch": true, "git apply <<< x": true, "cat code.patch | git apply": true, "patch -p1 < t.patch": false, "patch -d .vscode -p1 -i ../t.patch": true, "patch -p1 -d .claude < t.patch": false, "patch -p1 -d .claude < l.patch": true, "patch -d sub -p1 < t.patch": false,
		"patch -p1 -i good.patch -o lefthook.yml": true, "patch -p1 -i good.patch -r .envrc": true, "patch .envrc good.patch": true, "patch -p1 --inp=code.patch": true, "patch -p1 -i code.patch --dry-run": false, "patch -p1 -- -i code.patch": true, "patch -p1 -i good.patch -i code.patch": true, "patch": true, "patch -p1 < nowhere": true, "patch -p1 <<< x": true,
		"mv -T flat .claude": true, "mv --target=c settings.json": true, "mv -t sub settings.json": false, "mv -- cfg/.vscode .": true, "cp -r cfg/ more": true, "cp -r -- cfg/.vscode .": true, "install -d out/.github": true, "install -d out/lib": false,
		"git worktree add .vscode main": true, "git worktree add c/x main": false, "git clone https://example.com/x c": true, "git clone https://example.com/x sub/y": false,
		"7z x good.zip -so": false, "7z e good.zip": true, "bsdunzip good.zip": true, "cpio -o": false, "ditto -x -k good.zip out": true,
	} {
		if got := asksOnArrival(t, a, text); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}

// hunk is what stands behind the names in a patch.
const hunk = "@@ -0,0 +1 @@\n+x\n"

// TestPatches: what git, git am and patch read as a name, or do with a link.
func TestPatches(t *testing.T) {
	for name, patch := range map[string]struct {
		text             string
		git, mail, plain bool // asks
	}{
		"good":       {"diff --git a/x b/x\nindex 01..02 100644\n--- a/x\n+++ b/x\n" + hunk, false, false, false},
		"executable": {"diff --git a/x b/x\nnew file mode 100755\n--- /dev/null\n+++ b/x\n" + hunk, false, false, false},
		"mode":       {"diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", false, false, false},
		"dated":      {"--- x.orig\t2026-01-01 00:00:00 +0000\n+++ x 2026-01-01 00:00:00 +0000\n" + hunk, false, false, false},
		"mail":       {"From 01 Mon Sep 17 00:00:00 2001\nFrom: A <a@b.c>\nSubject: [PATCH] x\nMIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\nContent-Transfer-Encoding: 8bit\n\nWhy.\n---\n a | 1 +\n\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n" + hunk + "-- \n2.39\n", false, false, false},
		"comment":    {"diff --git a/x.sql b/x.sql\n--- a/x.sql\n+++ b/x.sql\n@@ -1,2 +1 @@\n x\n--- this says how, see https://example.com/y for more\n", false, false, false},
		"blanks":     {"diff --git a/a b.txt b/a b.txt\nnew file mode 100644\n", false, false, false},

		"link":         {"diff --git a/x b/x\nnew file mode 120000\n--- /dev/null\n+++ b/x\n" + hunk, true, true, true},
		"link-changed": {"diff --git a/x b/x\nindex 01..02 120000\n--- a/x\n+++ b/x\n" + hunk, true, true, true},
		"link-gone":    {"diff --git a/x b/x\ndeleted file mode 120000\n--- a/x\n+++ /dev/null\n" + hunk, true, true, true},
		"to-a-link":    {"diff --git a/x b/x\nold mode 100644\nnew mode 120000\n", true, true, true},
		"module":       {"diff --git a/x b/x\nnew file mode 160000\n--- /dev/null\n+++ b/x\n" + hunk, true, true, true},
		"blank-mode":   {"diff --git a/x b/x\nnew file mode   120000\n", true, true, true},
		"as-a-folder":  {"--- /dev/null\n+++ b/.claude\n" + hunk, true, true, true},

		"rename-new":    {"diff --git a/x b/y\nsimilarity index 100%\nrename old x\nrename new .vscode/settings.json\n", true, true, true},
		"rename-old":    {"diff --git a/x b/y\nrename old .vscode/settings.json\nrename new y\n", true, true, true},
		"copy-to":       {"diff --git a/x b/y\ncopy from x\ncopy to .envrc\n", true, true, true},
		"rename-quoted": {"diff --git a/x b/y\nrename from x\nrename to \".v\\163code/tasks.json\"\n", true, true, true},
		"both-quoted":   {"diff --git \"a/.cl\\141ude/settings.json\" \"b/.cl\\141ude/settings.json\"\nnew file mode 100644\nGIT binary patch\nliteral 1\n", true, true, true},
		"second-quoted": {"diff --git a/x \"b/.cl\\141ude/settings.json\"\nnew file mode 100644\n", true, true, true},
		"first-quoted":  {"diff --git \"a/.envr\\143\" b/y z\ndeleted file mode 100644\n", true, true, true},
		"half-quoted":   {"diff --git \"a/.envr\\143 b/x\nnew file mode 100644\n", true, true, true},
		"bad-quote":     {"--- a/x\n+++ \"b/\\q\"\n" + hunk, true, true, true},
		"tab-inside":    {"diff --git a/x b/y\nrename from x\nrename to y\t/.vscode/tasks.json\n", true, true, true},
		"return-inside": {"diff --git \"n\\141\"\r \"b/.envr\\143\"\nnew file mode 100644\n", true, true, true},
		"blank-behind":  {"diff --git a/.envrc \t\nnew file mode 100644\n", true, true, true},
		"no-names":      {"diff --git a/lefthook.yml b/lefthook.yml\nnew file mode 100644\n", true, true, true},
		"with-blanks":   {"diff --git a/x y/.envrc b/x y/.envrc\nnew file mode 100644\n", true, true, true},
		"up-to-a-blank": {"--- a/.vscode/tasks.json x\n+++ b/.vscode/tasks.json x\n" + hunk, true, true, true},
		"tab":           {"--- a/.vscode/tasks.json\tx y\n+++ b/q\n" + hunk, true, true, true},
		"return":        {"--- a/x\r\n+++ b/.envrc\r\n" + hunk, true, true, true},
		"context":       {"*** a/.envrc\tx\n--- a/.envrc\tx\n***************\n*** 1 ****\n! a\n--- 1 ----\n! b\n", true, true, true},
		"index":         {"Index: .envrc\n=====\n" + hunk, true, true, true},
		"index-tight":   {"Index:.envrc\n=====\n" + hunk, true, true, true},
		"absolute":      {"--- /etc/x\n+++ /etc/x\n" + hunk, true, true, true},
		"up":            {"--- a/../../x\n+++ a/../../x\n" + hunk, true, true, true},
		"nothing":       {"hello\n", true, true, true},
		"empty":         {"", true, true, true},

		"indented": {"--- a/x\n+++ b/x\n" + hunk + "  --- b/.vscode/tasks.json\n  +++ b/.vscode/tasks.json\n  @@ -1 +1 @@\n  -a\n  +b\n", false, false, true},
		"x-before": {"--- a/x\n+++ b/x\n" + hunk + "X--- b/.envrc\nX+++ b/.envrc\n", false, false, true},
		"dashes":   {"--- a/x\n+++ b/x\n" + hunk + "- --- b/.envrc\n- +++ b/.envrc\n", false, false, true},
		"ed":       {"--- a/x\n+++ b/x\n1a\nx\n.\n", false, false, true},

		"encoded":   {"From 01\nContent-Transfer-Encoding: base64\n\nLS0tIGEveAo=\n--- a/x\n+++ b/x\n", false, true, false},
		"folded":    {"From 01\nContent-Transfer-Encoding:\n base64\n\n--- a/x\n+++ b/x\n", false, true, false},
		"printable": {"From 01\ncontent-transfer-encoding: Quoted-Printable\n\n--- a/x\n+++ b/x\n", false, true, false},
		"parts":     {"From 01\nContent-Type: multipart/mixed; boundary=\"x\"\n\n--x\n\n--- a/x\n+++ b/x\n", false, true, false},
		"flowed":    {"From 01\nContent-Type: text/plain;\n\tformat=flowed; delsp=yes\n\n--- a/x\n+++ b/x\n", false, true, false},
		"series":    {"# This series applies on GIT commit 01\nother.patch\n--- a/x\n", false, true, false},
	} {
		a := unpacking(t)
		a.World.(*approvaltest.World).Files["/home/ann/p/x.patch"] = approvaltest.File{Mode: 0o644, UID: 500, Text: patch.text}
		for line, want := range map[string]bool{"git apply x.patch": patch.git, "git am x.patch": patch.mail, "patch -p1 -i x.patch": patch.plain} {
			if got := asksOnArrival(t, a, line); got != want {
				t.Errorf("%s: %s: %t", name, line, got)
			}
		}
	}
}

// TestFedPatchAgain: what a command is fed counts as well when it is judged once more
// before it starts.
func TestFedPatchAgain(t *testing.T) {
	a := unpacking(t)
	for text, want := range map[string]int{"patch -p1 < good.patch": 0, "patch -p1 < code.patch": 1, "tar -x -C out < good.tar": 0, "git apply < code.patch": 1} {
		plan := a.Analyze(t.Context(), bash(text), approvaltest.Named("/home/ann/p"))
		seg := &plan.Segments[0]
		again := a.Final(t.Context(), &plan, seg, seg.Argv, seg.Dir)
		if got := len(again.Segments[0].Findings); got != want {
			t.Errorf("%s: %v", text, again.Segments[0].Findings)
		}
	}
}

// TestManyPatches: the look into a patch is bounded.
func TestManyPatches(t *testing.T) {
	for name, text := range map[string]string{
		"names":  strings.Repeat("--- a/x\n+++ b/x\n", 100_000),
		"blanks": "--- a" + strings.Repeat(" b", 1<<20) + "\n",
		"both":   "diff --git a" + strings.Repeat(" b", 1<<20) + "\n",
		"deep":   strings.Repeat("+++ "+strings.Repeat("a/", 2000)+"\n", 900),
	} {
		a := unpacking(t)
		a.World.(*approvaltest.World).Files["/home/ann/p/x.patch"] = approvaltest.File{Mode: 0o644, UID: 500, Text: text}
		began := time.Now()
		bounded(t, a, &approval.Request{Text: "git apply x.patch", Cwd: "/home/ann/p"})
		t.Logf("%s: %s", name, time.Since(began))
	}
}

// FuzzPatched: no text makes the look into it fail.
func FuzzPatched(f *testing.F) {
	for _, text := range []string{"--- a/x\n+++ \"b/\\164\"\n", "diff --git \"a/x\" b/y z\nrename to x\n", "From 01\nContent-Type: x\n", " X- *** a b\tc\nindex 01..02 100644\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, name := range command.Patched(text) {
			if strings.Contains(name, "\n") && !strings.Contains(string(text), `\n`) && !strings.Contains(string(text), `\012`) {
				t.Errorf("%q holds the end of a line", name)
			}
		}
	})
}
