package protected

import (
	"os"
	"path"
	"strings"
	"testing"
)

const home = "/home/ann"

// at is where a line of a list of names means: below home, absolute, or in a
// project.
func at(name string) string {
	name = strings.ReplaceAll(name, "x.default", "ab12.default")
	switch {
	case strings.HasPrefix(name, "~/"):
		return home + name[1:]
	case strings.HasPrefix(name, "/"):
		return name
	}
	return home + "/work/app/" + name
}

func lines(t *testing.T, file string) (list []string) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			list = append(list, line)
		}
	}
	return list
}

// TestKnown: each file of a list of well-known ones holds secrets.
func TestKnown(t *testing.T) {
	for _, name := range lines(t, "testdata/secrets.txt") {
		switch k := Of(at(name), home); {
		case k.Has(Tools) && !k.Has(Secret|Private):
			if !strings.Contains(name, "known_hosts") {
				t.Errorf("%s is for commands", name)
			}
		case !k.Has(Secret):
			t.Errorf("%s: %b", name, k)
		}
	}
}

// TestOthers: so do files that are not among these, by how they are called and
// where they lie.
func TestOthers(t *testing.T) {
	for _, name := range append(lines(t, "testdata/others.txt"), lines(t, "testdata/more.txt")...) {
		if k := Of(at(name), home); !k.Has(Secret | Private) {
			t.Errorf("%s: %b", name, k)
		}
	}
}

// TestPlain: what only looks like it passes.
func TestPlain(t *testing.T) {
	for _, name := range lines(t, "testdata/plain.txt") {
		if k := Of(at(name), home); k.Has(Secret | Private | Tools) {
			t.Errorf("%s: %b", name, k)
		}
	}
}

// TestIn: a name in a folder is what its path is.
func TestIn(t *testing.T) {
	for _, file := range []string{"testdata/secrets.txt", "testdata/others.txt", "testdata/more.txt", "testdata/plain.txt"} {
		for _, name := range lines(t, file) {
			whole := at(name)
			if got, want := In(path.Dir(whole), home).Of(path.Base(whole)), Of(whole, home); got != want {
				t.Errorf("%s: %b, want %b", name, got, want)
			}
		}
	}
}

// TestSpellings: case, accents and the other names of a folder make no
// difference, and no other one is taken for it.
func TestSpellings(t *testing.T) {
	zoe, apart := "/Users/Zo\u00eb", "/Users/Zoe\u0308"
	for _, c := range []struct {
		at, home string
		want     bool
	}{
		{"/Users/ZO\u00cb/.AWS/Credentials", apart, true}, {apart + "/.codex/auth.json", zoe, true}, {zoe + "/.newtool/x", apart, true},
		{"/System/Volumes/Data" + zoe + "/.netrc", zoe, true}, {"/private/etc/sudoers", zoe, true}, {"/SYSTEM/volumes/data/private/etc/Shadow", zoe, true},
		{zoe + "/p/.e\u200cnv", zoe, true}, {zoe + "/p/.env/..namedfork/data", zoe, true}, {zoe + "/p/.\u017fsh/x", zoe, true}, {zoe + "/p/x.\u212aey", zoe, true},
		{zoe + "/p/env", zoe, false}, {zoe + "x/.newtool", zoe, false}, {"/srv/.newtool", zoe, false},
	} {
		if got := Of(c.at, c.home).Has(Secret | Private); got != c.want {
			t.Errorf("%q below %q: %t", c.at, c.home, got)
		}
	}
}

// TestCopies: a copy of a file with secrets holds them too, however it is called;
// one of another file holds none.
func TestCopies(t *testing.T) {
	for name, want := range map[string]bool{
		".env~": true, "#.env#": true, ".#.env": true, ".env copy": true, ".env (1)": true, ".env.2024-01-01": true, ".env 2": true, ".envrc~": true, ".dev.vars.orig": true,
		"id_rsa~": true, "id_rsa (1)": true, "id_rsa 2": true, "id_rsa copy": true, "id_rsa - Copy": true, ".id_rsa.swp": true, "id_rsa.~1~": true, "id_rsa.tar.gz": true, "id_ed25519(copy)": true,
		".npmrc.bak": true, ".npmrc_2024-01-01": true, ".netrc.old": true, ".netrc.OLD": true, ".netrc-backup": true, ".pypirc.rpmsave": true, ".pgpass.dpkg-old": true, ".git-credentials.txt": true,
		"server.key.bak": true, "server.key.old.1": true, "cert.p12.part": true, "wallet (1).dat": true, "wallet.dat.bak.gz": true, "credentials (2).json": true, "credentials copy 2.json": true, "secrets.old.yml": true,
		"Copy of credentials.json": true, "Kopie von id_rsa": true, "backup-id_rsa": true, "old.id_rsa": true, "wp-config.php~": true, ".wp-config.php.swo": true, ".ssh.bak/work": true, "x/.aws-old/credentials": true,
		".gnupg copy/secring": true, "~/.newtool.bak/x": true,
		".env.example~": false, ".env.dist": false, ".env.sample.bak": false, "parameters.yml.dist": false, "id_rsa.pub": false, "main.go~": false, "main.go.orig": false, "config.json.bak": false,
		"README (1).md": false, "outback": false, "~": false, "#": false, "a.tar.gz": false, "notes copy.txt": false, "token.go.bak": false, "2024-01-01": false, "test.old/main.go": false, ".github.bak/x": false,
		"Copy of": false, "(1)": false, ".bak": false, "docs/credentials.md.orig": false,
	} {
		if got := Of(at(name), home).Has(Secret | Private); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
	for name, want := range map[string]bool{".ssh.bak": true, ".ssh": true, ".vscode.old": false} {
		if got := OfFolder(at(name), home).Has(Secret | Private); got != want {
			t.Errorf("the folder %s: %t", name, got)
		}
	}
}

// TestTrials: keys of tests open nothing, where a folder of tests lies in a project.
func TestTrials(t *testing.T) {
	for name, want := range map[string]bool{
		"server.key": true, "src/server.key": true, "latest/server.key": true, "test/.env": true, "testdata/secrets.tfvars": true, "tests/vault.kdbx": true, "~/test/server.key": true, "~/tests/id_rsa": true, "~/.ssh/test/x.key": true,
		"~/.config/app/test/x.key": true, "node_modules/a/server.key": true,
		"test/server.key": false, "a/testdata/b/c/server.key": false, "/srv/app/test/server.key": false, "~/app/spec/id_rsa": false,
	} {
		if got := Of(at(name), home).Has(Secret | Private); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// TestStartup: these are not written unasked, and what agents are told in words
// is none of them.
func TestStartup(t *testing.T) {
	for name, want := range map[string]bool{
		".git/config": true, ".git/commondir": true, ".git/config.worktree": true, ".git/info/attributes": true, ".git/hooks/pre-commit": true, ".git/modules/x/config": true,
		".git/worktrees/x/config.worktree": true, "sub/x.git/config": true, "x.git/hooks/update": true, "a/.git/HOOKS/x": true, ".husky/pre-commit": true, ".githooks/x": true,
		"lefthook.yml": true, ".lefthook.toml": true, ".pre-commit-config.yaml": true, ".devcontainer/devcontainer.json": true, ".vscode/mcp.json": true, ".vscode/tasks.json": true,
		".cursor/mcp.json": true, ".cursor/hooks.json": true, ".envrc": true, ".claude/settings.local.json": true, ".claude/hooks/x.sh": true, ".mcp.json": true, "app/.mcp.json": true,
		".codex/config.toml": true, ".gemini/settings.json": true, ".opencode/plugin/x.ts": true, "opencode.json": true, ".idea/runConfigurations/x.xml": true, ".cargo/config.toml": true,
		"~/.bashrc": true, "~/.config/fish/conf.d/x.fish": true, "~/Library/LaunchAgents/x.plist": true, "~/.config/systemd/user/x.service": true, "~/.gitconfig": true,
		"~/.ssh/authorized_keys": true, "/etc/cron.d/x": true, "~/.config/Code/User/settings.json": true, "~/Library/Application Support/Cursor/User/tasks.json": true, ".npmrc": true,
		".pnp.cjs": true, ".pnp.loader.mjs": true, "tools/bazel": true, ".bazelversion": true, "rust-toolchain": true, "sub/rust-toolchain.toml": true, ".latexmkrc": true, "doc/latexmkrc": true, ".tool-versions": true,
		".claude/agents/x.md": true, ".claude/commands/sub/x.md": true, ".claude/skills/pdf/SKILL.md": true, ".claude/hooks.json": true, ".claude/plugins/x": true, ".venv/bin/activate": true, ".venv/bin/activate.fish": true,
		"venv/pyvenv.cfg": true, ".venv/lib/python3.12/site-packages/x.pth": true, ".venv/lib/python3.12/site-packages/sitecustomize.py": true, ".cursor/commands/x.md": true, ".sqliterc": true, ".psqlrc": true,
		".gdbinit": true, ".lldbinit": true, ".inputrc": true, ".tmux.conf": true, ".screenrc": true, ".vimrc": true, ".exrc": true, ".nvimrc": true, ".nvim.lua": true, ".lazy.lua": true, "~/.emacs": true, ".dir-locals.el": true,
		".Rprofile": true, ".irbrc": true, ".pryrc": true, "mise.toml": true, ".yarnrc.yml": true, ".pnpmfile.cjs": true, ".bazelrc": true, ".zed/tasks.json": true, ".run/x.run.xml": true, ".idea/workspace.xml": true,
		".aider.conf.yml": true, ".windsurf/workflows/x.md": true, ".clinerules/workflows/x.md": true, ".opencode/command/x.md": true, ".opencode/agents/x.md": true, ".github/agents/x.agent.md": true, ".github/prompts/x.prompt.md": true,
		".amazonq/cli-agents/x.json": true, ".vibe/config.toml": true, ".qwen/settings.json": true, ".mux/init": true, ".luarc.json": true, "gradle/wrapper/gradle-wrapper.properties": true, ".terraform/providers/x/y": true,
		".octaverc": true, "jupyter_server_config.py": true, ".reviewboardrc": true, "_darcs/prefs/defaults": true, ".flox/env/manifest.toml": true, ".codesandbox/tasks.json": true, "app.xcodeproj/xcshareddata/xcschemes/x.xcscheme": true,
		".claude/skills/pdf/scripts/fill.py": false, ".claude/rules/x.md": false, "bazel/x": false, "bazel.go": false, "activate.go": false, "bin/tool": false, "GEMINI.md": false, ".windsurf/rules/x.md": false, ".pylintrc": false, "conftest.py": false,
		"flake.nix": false, "shell.nix": false, ".python-version": false, ".nvmrc": false, "startup.go": false, ".gitmodules": false, ".gitattributes": false, "pnpm-workspace.yaml": false, "gradle.properties": false,
		"CLAUDE.md": false, "AGENTS.md": false, ".claude/CLAUDE.md": false, ".cursor/rules/x.mdc": false, ".github/copilot-instructions.md": false,
		".git/HEAD": false, ".git/refs/heads/x": false, ".github/workflows/ci.yml": false, ".vscode/README.md": false, "Makefile": false, "package.json": false, "hooks/x.go": false,
		".gitignore": false, "config": false, "src/config": false,
	} {
		if got := Of(at(name), home).Has(Startup); got != want {
			t.Errorf("%s: %t", name, got)
		}
	}
	for name, want := range map[string]bool{
		".claude": true, "a/.vscode": true, ".git": true, ".GIT": true, ".husky": false, ".idea": true, ".config": true, "~/.config": true, "~/.config/fish": false,
		"code": false, "tools": false, "bin": false, "commands": false, ".claude/skills": true, ".venv": false, "gradle": false, "src": false, "": false, "/": false, "/usr": false, "user": false,
	} {
		if got := Above(at(name), home); got != want {
			t.Errorf("above, %s: %t", name, got)
		}
	}
}

// TestBegins: keys are known by how they begin.
func TestBegins(t *testing.T) {
	for text, want := range map[string]bool{
		"-----BEGIN OPENSSH PRIVATE KEY-----\nb3": true, "\n-----BEGIN RSA PRIVATE KEY-----": true, "-----BEGIN PGP PRIVATE KEY BLOCK-----": true, "# created\n# public key: age1\nAGE-SECRET-KEY-1X": true,
		"Bag Attributes\n    x\n-----BEGIN PRIVATE KEY-----": true, "PuTTY-User-Key-File-3: ssh-ed25519": true, "{\n  \"type\": \"service_account\",": true, "\x03\xd9\xa2\x9a\x67": true,
		"-----BEGIN CERTIFICATE-----": false, "-----BEGIN PUBLIC KEY-----": false, "ssh-ed25519 AAAA": false, "package main": false, "{\"name\": \"x\"}": false, "": false,
		"const key = `-----BEGIN PRIVATE KEY-----`": false,
	} {
		if got := Begins([]byte(text)); got != want {
			t.Errorf("%q: %t", text, got)
		}
	}
}

// TestRows: each line of the list says why, and its patterns are patterns.
func TestRows(t *testing.T) {
	l := table()
	if len(l.rows) < 1000 {
		t.Fatalf("only %d rows", len(l.rows))
	}
	for _, r := range l.rows {
		if r.reason == "" {
			t.Errorf("files.txt:%d: no reason", r.line)
		}
		for _, seg := range r.segs {
			if _, err := path.Match(seg, ""); err != nil || seg == "" || strings.ContainsAny(seg, "{}") {
				t.Errorf("files.txt:%d: %q is no pattern", r.line, seg)
			}
		}
	}
}

// FuzzOf: no path makes it fail, and a folder knows what the path is.
func FuzzOf(f *testing.F) {
	f.Add("/home/ann/.ssh/x", "/home/ann")
	f.Fuzz(func(t *testing.T, at, home string) {
		at = path.Clean("/" + at)
		if at == "/" || len(at) > 4096 || strings.HasSuffix(Fold(at), "/") || strings.Contains(at, "..namedfork") {
			return
		}
		if got, want := In(path.Dir(at), home).Of(path.Base(at)), Of(at, home); got != want && path.Dir(Fold(at)) == Fold(path.Dir(at)) {
			t.Errorf("%q, %q: %b, want %b", at, home, got, want)
		}
	})
}

// TestHomesAnywhere: a home folder that lies in folders of any name is one, and what
// is called there as in a project is not.
func TestHomesAnywhere(t *testing.T) {
	for _, top := range strings.Fields("private var tmp build dist vendor node_modules testdata test tests examples samples docs src") {
		home := "/" + top + "/var/folders/" + top + "/T/ann"
		if !Of(home+"/.ssh/id_rsa", home).Has(Secret | Private) {
			t.Errorf("%s holds no keys", home)
		}
		if In(home+"/project", home).Of("main.go") != 0 || Of("/"+top+"/x", home) != 0 {
			t.Errorf("%s: source is protected", home)
		}
	}
}
