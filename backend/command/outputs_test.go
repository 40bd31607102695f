//go:build linux || darwin

package command_test

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/machine"
)

// outputsBench is a project, a temp folder and what is around them, on the real disk.
type outputsBench struct {
	*command.Analyzer
	t   *testing.T
	top string // home, tmp, temp -> tmp and state are in it
}

func newOutputsBench(t *testing.T) *outputsBench {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b := &outputsBench{t: t, top: top}
	for _, name := range []string{
		"home/p/file", "home/p/dir/file", "home/p/one", "home/p/.git/HEAD", "home/p/.git/config", "home/p/.git/objects/x", "home/p/.git/refs/x", "home/p/.git/hooks/x",
		"home/p/bin/there", "home/p/bare/HEAD", "home/p/bare/objects/x", "home/p/bare/refs/x", "home/p/.env", "home/p/run.py", "home/p/p.awk", "home/p/a.tar", "home/p/sub/.git/HEAD",
		"home/other/file", "home/.bashrc", "state/policy.json", "tmp/mine", "tmp/theirs", "tmp/deep/x", "tmp/clone/.git/HEAD", "tmp/clone/file",
	} {
		b.put(name, "text\n", 0o644)
	}
	b.put("home/p/prog", "#!/bin/sh\n", 0o755)
	b.put("home/p/key", "-----BEGIN OPENSSH PRIVATE KEY-----\nx\n", 0o600)
	for name, to := range map[string]string{
		"temp": "tmp", "home/p/link": "file", "home/p/outlink": "../other/file", "home/p/linkdir": "dir", "home/p/outdir": "../other", "home/p/dangling": "../other/new",
		"home/p/nowhere": "new", "tmp/link": "mine", "tmp/home": "../home", "home/p/tostate": "../../state", "home/p/tobashrc": "../.bashrc", "home/plink": "p", "home/p/stdout": "/dev/stdout", "home/p/zero": "/dev/zero",
	} {
		b.must(os.Symlink(to, b.at(name)))
	}
	b.must(os.Link(b.at("home/p/one"), b.at("home/p/two")))
	b.must(os.Link(b.at("home/.bashrc"), b.at("home/p/hard")))
	b.must(unix.Mkfifo(b.at("home/p/fifo"), 0o600))
	b.must(unix.Mkfifo(b.at("tmp/fifo"), 0o600))
	if l, err := net.Listen("unix", b.at("home/p/sock")); err == nil {
		t.Cleanup(func() { l.Close() })
	}
	b.Analyzer = &command.Analyzer{World: machine.Disk{}, Home: b.at("home"), UID: os.Getuid(), Ours: []string{b.at("state")}, Temp: []string{b.at("temp"), b.at("nothing")}}
	b.SetPath([]string{"/usr/bin", "/bin", b.at("home/p/bin")})
	return b
}

func (b *outputsBench) must(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

func (b *outputsBench) at(name string) string { return filepath.Join(b.top, name) }

func (b *outputsBench) put(name, text string, mode os.FileMode) {
	b.t.Helper()
	b.must(os.MkdirAll(filepath.Dir(b.at(name)), 0o755))
	b.must(os.WriteFile(b.at(name), []byte(text), mode))
	b.must(os.Chmod(b.at(name), mode))
}

func (b *outputsBench) look(name string) approval.File {
	b.t.Helper()
	file, err := machine.Disk{}.Look(b.at(name))
	b.must(err)
	return file
}

// plan reads a text that runs in the project, of a session that made tmp/mine.
func (b *outputsBench) plan(shell, text string, who approval.Who) approval.Plan {
	text = strings.NewReplacer("TEMP", b.at("temp"), "TMP", b.at("tmp"), "HOME", b.at("home"), "STATE", b.at("state")).Replace(text)
	return b.Analyze(b.t.Context(), &approval.Request{Command: []string{shell, "-c", text}, Cwd: b.at("home/p"), Who: who, Wrote: []approval.File{b.look("tmp/mine")}}, approvaltest.Named(b.at("home/p")))
}

// covers says which words an entry needs to let a plan pass: "never" where none helps.
func covers(p approval.Plan) string {
	var words []string
	for _, s := range p.Segments {
		if s.Floor != "" {
			return "never"
		}
		for _, f := range s.Findings {
			if f.Allowed == "" {
				return "never"
			}
			if !slices.Contains(words, string(f.Allowed)) {
				words = append(words, string(f.Allowed))
			}
		}
	}
	if p.Root == nil || len(p.Findings) > 0 {
		return "never"
	}
	slices.Sort(words)
	return strings.Join(words, " ")
}

// TestOutputs: which files redirections may write under an entry, and which never.
func TestOutputs(t *testing.T) {
	const project, temp, never = "writes-project", "writes-temp", "never"
	b := newOutputsBench(t)
	for _, row := range []struct{ text, want string }{
		{"ls > new", project}, {"ls >> new", project}, {"ls > file", project}, {"ls >> file", project}, {"ls >| file", project}, {"ls 2> new", project}, {"ls 2>>new", project},
		{"ls > new 2>&1", project}, {"ls 2>&1 > new", project}, {"ls &> new", project}, {"ls &>> new", project}, {"ls > new > file", project}, {"ls > ./new", project}, {"ls > dir/new", project},
		{"cd dir; ls > ../new", project}, {"cd dir && ls > file", project}, {"ls > HOME/p/new", project}, {"ls > 'a b'", project}, {"ls > -n", project}, {"ls > [a]", never}, {"ls > 'a*'", project},
		{"{ ls; cat file; } > new", project}, {"(ls; ls) > new", project}, {"for f in a b; do ls; done > new", project}, {"if ls; then ls; fi > new", project}, {"while ls; do ls; done 2> new", project},
		{"cat > new <<'E'\n$x\nE", project}, {"echo a > new", project}, {"printf a > new", project}, {": > new", project}, {"pwd > new", project},
		{"echo a > TMP/new", temp}, {"echo a > TEMP/new", temp}, {"echo a >> TMP/new", temp}, {"echo a > TMP/mine", temp}, {"echo a >> TEMP/mine", temp}, {"echo a > TMP/deep/new", temp}, {"{ ls; } > TMP/new", temp},
		{"ls > new 2> TMP/new", project + " " + temp}, {"mkdir made && ls > made/new", project}, {"mkdir -p TMP/made && ls > TMP/made/new", never},
		{"ls > new | wc", project}, {"ls | cat > new", project}, {"ls > dir/../new", never}, {"cat file > file", project}, {"ls > new; cat new", project},

		{"mkdir made2 && cd made2 && ls > new", project},
		// Names that only the run can tell.
		{"for f in a b; do ls > \"$f.log\"; done", project}, {"LOG=new; ls > $LOG; cat $LOG", project}, {"LOG=TMP/new; ls > \"$LOG\" 2>&1", temp}, {"d=dir; ls >> $d/new", project}, {"L=new; { ls; ls; } > $L", project},
		{"f=../other/file; ls > $f", never}, {"for f in a ../x; do ls > $f; done", never}, {"ls > \"$X\"", never}, {"x=$(ls); ls > $x", never}, {"for f in new TMP/new; do ls > $f; done", never}, {"ls > \"$X/new\"", never},
		{"f=run.py; ls > $f; python3 run.py", never}, {"f=.env; ls > $f", never}, {"f=/dev/tty; ls > $f", never}, {"f=link; ls > $f", never}, {"f=new; ls > $f$(ls)", never}, {"f=new; ls > {$f,b}", never}, {"f=TMP/theirs; ls > $f", never},

		// Not where the text says, or not there.
		{"ls > link", never}, {"ls > outlink", never}, {"ls > linkdir/new", never}, {"ls > outdir/new", never}, {"ls > dangling", never}, {"ls > nowhere", never}, {"ls >> dangling", never},
		{"ls > HOME/plink/new", never}, {"ls > HOME/p/outdir/file", never}, {"cd linkdir; ls > ../new", project}, {"cd outdir; ls > new", never}, {"cd outdir; ls > ../new", never}, {"ls > TMP/link", never}, {"ls > TMP/home/p/new", never}, {"ls > TMP/home/.bashrc", never},
		{"ls > ../other/file", never}, {"ls > ..", never}, {"ls > .", never}, {"ls > dir", never}, {"ls > dir/", never}, {"ls > new/", never}, {"ls > dir/.", never}, {"ls > file/new", never}, {"ls > none/new", never},
		{"ls > HOME/new", never}, {"ls > ../new", never}, {"ls > ''", never}, {"ls > /new", never}, {"ls > " + strings.Repeat("n", 300), never}, {"ls > " + strings.Repeat("d/", 2100) + "n", never},
		{"ls > $'a\\nb'", never}, {"ls > $x", never}, {"ls > $(echo new)", never}, {"ls > {a,b}", never}, {"ls > a{b}", project}, {"ls > 'a{b'", never}, {"ls > 'a}b{'", never}, {"ls > '{{a,b}'", never}, {"ls > *.py", never}, {"cd none; ls > new", never}, {"cd $x; ls > new", never},
		// What is no plain file, or is more than one.
		{"ls > fifo", never}, {"ls > sock", never}, {"ls > /dev/tty", never}, {"ls > /dev/stdout", never}, {"ls > /dev/stderr", never}, {"ls > /dev/fd/1", never}, {"ls > /dev/fd/2", never}, {"ls > /proc/self/fd/1", never}, {"ls > /dev/sda", never},
		{"ls > stdout", never}, {"ls > zero", never}, {"ls > /dev/tcp/h/1", never}, {"ls > one", never}, {"ls > two", never}, {"ls >> hard", never}, {"ls > prog", never}, {"ls > TMP/fifo", never}, {"ls > /proc/self/comm", never},
		// What holds secrets, starts programs or is ours.
		{"ls > .env", never}, {"ls >> .env.local", never}, {"ls > key", never}, {"ls > .git/config", never}, {"ls > .git/new", never}, {"ls > .git/hooks/pre-commit", never}, {"ls > .GIT/config", never}, {"ls > sub/.git/HEAD", never}, {"ls > bare/hooks", never},
		{"ls > .vscode/tasks.json", never}, {"ls > .envrc", never}, {"ls > .husky", never}, {"ls > .claude/settings.json", never}, {"ls > .mcp.json", never}, {"ls > .npmrc", never}, {"ls > bin/new", never}, {"ls > bin/there", never}, {"mkdir .husky && ls > .husky/pre-commit", never},
		{"ls > HOME/.bashrc", never}, {"ls > tobashrc", never}, {"ls > STATE/policy.json", never}, {"ls > tostate/policy.json", never}, {"ls > STATE/new", never}, {"ls > TMP/.env", never}, {"ls > TMP/.npmrc", never},
		// What others made in the temp folder, or a project there.
		{"ls > TMP/theirs", never}, {"ls >> TMP/theirs", never}, {"ls > TMP/clone/new", never}, {"ls > TMP/clone/file", never}, {"ls > TMP", never}, {"ls > TMP/none/new", never}, {"ls > TMP/../home/new", never}, {"ls > TMP/deep/x", never},
		// What the same text starts or reads meanwhile.
		{"echo a > prog; ./prog", never}, {"echo a > run.py; python3 run.py", never}, {"python3 run.py; echo a > run.py", never}, {"python3 run.py > run.py", never}, {"echo a > new; ./new", never}, {"echo a > p.awk; awk -f p.awk file", never},
		{"for f in a b; do awk -f p.awk file; echo a > p.awk; done", never}, {"cat file > p.awk | awk -f p.awk file", never}, {"cat file > a.tar | tar -xf a.tar", never}, {"{ awk -f p.awk file; } > p.awk", never}, {"echo a > new; bash new", never}, {"echo a > new; . ./new", never}, {"echo a > new; source new", never},
		{"echo a > Makefile && make", never}, {"echo a > package.json; make", never}, {"echo a > vite.config.ts; make", never}, {"echo a > .eslintrc.cjs; make", never}, {"make > make.log 2>&1", project}, {"make > make.log; make clean > clean.log", project}, {"echo a > pick; make pick", never},
		{"awk -f p.awk file & echo a > p.awk", never}, {"echo a > p.awk & awk -f p.awk file", never}, {"tar -xf a.tar & echo a > a.tar", never}, {"echo a > a.tar & sleep 1; tar -xf a.tar", never}, {"{ cat file > a.tar; } & { sleep 1; tar -xf a.tar; } & wait", never},
		{"for i in 1 2; do tar -xf a.tar & echo a > a.tar; done", never}, {"for i in 1 2; do echo a > a.tar; tar -xf a.tar & done", never}, {"for i in 1 2; do { echo a > a.tar; tar -xf a.tar; } & done", never}, {"echo a > a.tar & wait; tar -xf a.tar", never},
		{"ls > new &", project}, {"make > make.log 2>&1 & sleep 3; cat make.log", project}, {"{ ls > new; } & ls", project}, {"echo a > new & ./new", never}, {"ls > new & ls > outlink", never},
		// Descriptors and operators that the runner does not know.
		{"ls 3> new", never}, {"ls <> new", never}, {"ls >& new", never}, {"ls 0> new", never}, {"ls > new 3>&1", never}, {"> new", never}, {"x=1 > new", never}, {"{ x=1; } > new", never}, {"exec > new", never}, {"f() { ls; } > new; f", never},
		{"bash -c 'ls > new'", never}, {"env bash -c 'ls > new'", never}, {"ls > new; ls > ../other/file", never}, {"ls > new > outlink", never}, {"{ ls > new; } > outlink", never}, {"{ ls > outlink; } > new", never},
	} {
		if got := covers(b.plan("bash", row.text, approval.Ours)); got != row.want {
			t.Errorf("%.80q: %q, want %q: %s", row.text, got, row.want, show(b.plan("bash", row.text, approval.Ours)))
		}
		if got := covers(b.plan("bash", row.text, approval.Theirs)); got != never {
			t.Errorf("%.80q: %q passes where another shell runs it", row.text, got)
		}
	}
	for _, row := range []struct{ shell, text, want string }{
		{"sh", "ls > new", project}, {"dash", "ls >> new 2>&1", project}, {"zsh", "ls > new", never}, {"sh", "ls &> new", never}, {"dash", "ls >| new", project},
	} {
		if got := covers(b.plan(row.shell, row.text, approval.Ours)); got != row.want {
			t.Errorf("%s: %q: %q, want %q", row.shell, row.text, got, row.want)
		}
	}
	// Nothing is inside where no folder counts, and no temp folder is one that the home folder is in.
	none := b.Analyze(t.Context(), &approval.Request{Command: []string{"bash", "-c", "ls > new"}, Cwd: b.at("home/p"), Who: approval.Ours}, approval.Folder{})
	if got := covers(none); got != never {
		t.Errorf("without a project: %q", got)
	}
	b.Temp = []string{b.top, "/"}
	if got := covers(b.plan("bash", "ls > HOME/new", approval.Ours)); got != never {
		t.Errorf("a temp folder with the home folder in it: %q", got)
	}
}

// oneCase is a disk that tells no cases apart and keeps the letters of names.
type oneCase struct{ machine.Disk }

func (d oneCase) Look(at string) (approval.File, error) {
	file, err := d.Disk.Look(at)
	if names, e := d.List(filepath.Dir(at)); err != nil && e == nil {
		for _, name := range names {
			if strings.EqualFold(name, filepath.Base(at)) {
				return d.Disk.Look(filepath.Join(filepath.Dir(at), name))
			}
		}
	}
	return file, err
}

// In other letters than those of the disk no file is written without a question.
func TestOutputsInOtherLetters(t *testing.T) {
	b := newOutputsBench(t)
	b.World = oneCase{}
	for text, want := range map[string]string{"ls > file": "writes-project", "ls > File": "never", "ls > Dir/new": "never", "ls > DIR": "never", "ls > .ENV": "never", "ls > .Git/config": "never", "ls > New": "writes-project"} {
		if got := covers(b.plan("bash", text, approval.Ours)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// TestOutputsJudgedAnew: what became of a file meanwhile decides again.
func TestOutputsJudgedAnew(t *testing.T) {
	b := newOutputsBench(t)
	for _, row := range []struct {
		name, text string
		then       func(at string) error
		want       approval.Reason
	}{
		{"nothing", "ls > file", func(string) error { return nil }, approval.ReasonNone},
		{"made", "ls > new", func(at string) error { return os.WriteFile(at, nil, 0o644) }, approval.ReasonNone},
		{"removed", "ls > file", os.Remove, approval.ReasonNone},
		{"a link", "ls > new2", func(at string) error { return os.Symlink("one", at) }, approval.ReasonWritesFile},
		{"a folder", "ls > new3", func(at string) error { return os.Mkdir(at, 0o755) }, approval.ReasonWritesFile},
		{"a pipe", "ls > new4", func(at string) error { return unix.Mkfifo(at, 0o600) }, approval.ReasonWritesFile},
		{"another name", "ls > new5", func(at string) error { return os.Link(b.at("home/other/file"), at) }, approval.ReasonWritesFile},
		{"a program", "ls > new6", func(at string) error { return os.WriteFile(at, nil, 0o755) }, approval.ReasonWritesFile},
		{"a key", "ls > new7", func(at string) error { return os.WriteFile(at, []byte("-----BEGIN RSA PRIVATE KEY-----\n"), 0o600) }, approval.ReasonProtectedState},
		{"a repository above", "ls > dir/new", func(at string) error { return os.MkdirAll(filepath.Dir(at)+"/refs", 0o755) }, approval.ReasonNone},
		{"made in temp", "ls > TMP/new", func(at string) error { return os.WriteFile(at, nil, 0o644) }, approval.ReasonWritesFile},
	} {
		plan := b.plan("bash", row.text, approval.Ours)
		if covers(plan) == "never" {
			t.Fatalf("%s: %s", row.name, show(plan))
		}
		r := plan.Segments[0].Redirects[0]
		b.must(row.then(r.File.Path))
		now, why := b.Output(t.Context(), &plan, r, nil)
		if why.Reason != row.want || why.Allowed != "" || row.want == approval.ReasonNone && (now.File.Path != r.File.Path || now.FD != r.FD || now.To != r.To) {
			t.Errorf("%s: %+v, %+v", row.name, why, now)
		}
	}
	for name, want := range map[string]approval.Reason{"other": approval.ReasonNone, "dir/.gitignore": approval.ReasonWritesFile} { // what a search leaves out, while it may run
		plan := b.plan("bash", `f=file; ls > "$f"`, approval.Ours)
		r := plan.Segments[0].Redirects[0]
		r.File = &approval.File{Path: name}
		if _, why := b.Output(t.Context(), &plan, r, nil); why.Reason != want {
			t.Errorf("%s: %+v", name, why)
		}
	}
}

// TestOverwritten: a file that git writes over can be remembered like a redirection into
// it, but not where something starts from it.
func TestOverwritten(t *testing.T) {
	for text, want := range map[string]approval.Allowed{
		"git checkout -- main.go":                 approval.AllowProjectWrites,
		"git restore main.go":                     approval.AllowProjectWrites,
		"git checkout HEAD~1 main.go":             approval.AllowProjectWrites,
		"git checkout -- run.sh":                  "", // a program
		"git checkout -- sub":                     "",
		"git checkout -- .":                       "",
		"git checkout -- .env":                    "",
		"git checkout -- run.sh && ./run.sh":      "",
		"git checkout -- ../other":                "",
		"git checkout -- main.go && make main.go": "",
		"echo a > new && git add new":             approval.AllowProjectWrites,
		"echo a > package.json && git add .":      approval.AllowProjectWrites,
		"echo a > msg; git commit -F msg":         approval.AllowProjectWrites,
		"echo a > .gitattributes; git add .":      "",
		"echo a > p.diff; git apply p.diff":       "",
		"echo a > box; git am box":                "",
		"echo a > new; git hash-object -w new":    "",
		"echo a > package.json; git commit -m x":  "", // what a hook starts
		"echo a > new; git diff new":              approval.AllowProjectWrites,
		"echo a > new; git -C sub add ../new":     approval.AllowProjectWrites,
	} {
		req := bash(text)
		plan := invented().Analyze(t.Context(), req, approvaltest.Named(req.Cwd))
		got := approval.Allowed("none")
		for _, f := range plan.Segments[0].Findings {
			if got = f.Allowed; got == "" {
				break
			}
		}
		if got != want {
			t.Errorf("%s: %q %+v", text, got, plan.Segments[0].Findings)
		}
	}
}
