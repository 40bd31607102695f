//go:build linux || darwin

package preview

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/rescue"
)

// long is a limit that no test reaches: time decides none of them.
const long = time.Minute

// git runs git in a folder, with no settings but these.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@x", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@x",
	}
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return string(out)
}

func needGit(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("skipped: git is not installed, and its index is what is read")
	}
}

// folder makes a folder with these files: name, text.
func folder(t *testing.T, files ...string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(files); i += 2 {
		write(t, filepath.Join(dir, files[i]), files[i+1])
	}
	return dir
}

func write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// plan changes these, "deletes a" for instance, in a folder.
func plan(dir string, lines ...string) *approval.Plan {
	p := &approval.Plan{}
	for _, line := range lines {
		op, name, _ := strings.Cut(line, " ")
		if !filepath.IsAbs(name) {
			name = dir + "/" + name
		}
		p.Targets = append(p.Targets, approval.Target{Path: name, Op: approval.TargetOp(op)})
	}
	return p
}

// show writes what was seen in one line.
func show(dir string, p Preview) string {
	var list []string
	for _, t := range p.Targets {
		name, ok := strings.CutPrefix(t.Path, dir+"/")
		if !ok {
			name = t.Path
		}
		s := fmt.Sprintf("%s %s: %s", t.Op, name, t.Kind)
		if t.Kind != Nothing && t.Kind != NotLooked {
			s += fmt.Sprintf(" %d/%d", t.Files, t.Size)
		}
		if t.Partly {
			s += " and more"
		}
		if t.InRepo {
			s += fmt.Sprintf(" git -%d ~%d", t.Unknown, t.Changed)
		}
		if t.Repos > 0 {
			s += fmt.Sprintf(" repos %d", t.Repos)
		}
		list = append(list, s)
	}
	if p.GaveUp != "" {
		list = append(list, "gave up: "+string(p.GaveUp))
	}
	return strings.Join(list, ", ")
}

func TestFiles(t *testing.T) {
	dir := folder(t, "a", "12345", "sub/b", "12", "sub/deep/c", "1", "sub/empty/x", "", "elsewhere/f", "123")
	for _, err := range []error{
		os.Symlink("a", dir+"/link"), os.Symlink("sub", dir+"/way"), os.Symlink("gone", dir+"/dangling"),
		os.Symlink(dir+"/elsewhere", dir+"/sub/out"), os.Symlink("loop", dir+"/loop"),
		syscall.Mkfifo(dir+"/pipe", 0o600), syscall.Mkfifo(dir+"/sub/pipe", 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct{ line, want string }{
		{"deletes a", "deletes a: file 1/5"},
		{"writes a", "writes a: file 1/5"},
		{"moves a", "moves a: file 1/5"},
		{"deletes none", "deletes none: nothing"},
		{"writes none/x", "writes none/x: nothing"},
		{"writes link", "writes a: file 1/5"},
		{"deletes link", "deletes link: link 1/0"},
		{"moves link", "moves link: link 1/0"},
		{"deletes dangling", "deletes dangling: link 1/0"},
		{"writes dangling", "writes dangling: link 1/0"},
		{"deletes way/b", "deletes sub/b: file 1/2"},
		{"deletes way/../a", "deletes a: file 1/5"},
		{"deletes sub/", "deletes sub: folder 5/3"},
		{"writes sub", "writes sub: folder 0/0"},
		{"changes way", "changes sub: folder 0/0"},
		{"deletes way", "deletes way: link 1/0"},
		{"writes pipe", "writes pipe: other 0/0"},
		{"deletes pipe", "deletes pipe: other 0/0"},
		{"writes loop", "writes loop: link 1/0"},
		{"writes /dev/null", "writes /dev/null: other 0/0"},
		{"deletes a/x", "deletes a/x: , gave up: unreadable"},
		{"deletes " + strings.Repeat("x", 5000), "deletes " + strings.Repeat("x", 5000) + ": , gave up: unreadable"},
	} {
		if got := show(dir, New().Look(plan(dir, test.line), long)); got != test.want {
			t.Errorf("%.60s: %.200s, want %.200s", test.line, got, test.want)
		}
	}
	relative := plan(dir, "deletes a")
	relative.Targets[0].Path = "a"
	if got := show(dir, New().Look(relative, long)); got != "deletes a: , gave up: unreadable" {
		t.Error(got)
	}
}

// formats are the indexes that git writes, by what makes it write them.
var formats = []struct {
	name  string
	setup func(t *testing.T, dir string)
	magic byte // the version in the index
}{
	{"version 2", func(t *testing.T, dir string) { git(t, dir, "init", "-q") }, 2},
	{"version 3", func(t *testing.T, dir string) {
		git(t, dir, "init", "-q")
		write(t, dir+"/later", "x")
		git(t, dir, "add", "-N", "later")
	}, 3},
	{"version 4", func(t *testing.T, dir string) {
		git(t, dir, "init", "-q")
		git(t, dir, "config", "index.version", "4")
	}, 4},
	{"sha256", func(t *testing.T, dir string) { git(t, dir, "init", "-q", "--object-format=sha256") }, 2},
	{"sha256, version 4", func(t *testing.T, dir string) {
		git(t, dir, "init", "-q", "--object-format=sha256")
		git(t, dir, "config", "index.version", "4")
	}, 4},
}

func TestGit(t *testing.T) {
	needGit(t)
	for _, format := range formats {
		t.Run(format.name, func(t *testing.T) {
			dir := folder(t)
			format.setup(t, dir)
			for _, f := range []string{"clean", "changed", "grown", "touched", "conflict", "sub/one", "sub/two", "sub/deep/three", "sub-file", "mode"} {
				write(t, dir+"/"+f, "text of "+f+"\n")
			}
			if err := os.Symlink("clean", dir+"/link"); err != nil {
				t.Fatal(err)
			}
			git(t, dir, "add", ".", ":!later")
			if text, err := os.ReadFile(dir + "/.git/index"); err != nil || text[7] != format.magic {
				t.Fatalf("git wrote version %d: %v", text[7], err)
			}
			git(t, dir, "commit", "-q", "-m", "x")
			write(t, dir+"/changed", "Text of changed\n")
			write(t, dir+"/grown", "more text of grown\n")
			write(t, dir+"/new", "1")
			write(t, dir+"/sub/new", "1")
			write(t, dir+"/sub/deep/three", "others of three!!\n")
			for _, err := range []error{
				os.Chtimes(dir+"/touched", time.Time{}, time.Now().Add(-time.Hour)), os.Chmod(dir+"/mode", 0o755),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			for _, test := range []struct{ line, want string }{
				{"deletes clean", "deletes clean: file 1/14 git -0 ~0"},
				{"writes changed", "writes changed: file 1/16 git -0 ~1"},
				{"writes grown", "writes grown: file 1/19 git -0 ~1"},
				{"deletes touched", "deletes touched: file 1/16 git -0 ~0"},
				{"deletes mode", "deletes mode: file 1/13 git -0 ~0"},
				{"deletes link", "deletes link: link 1/0 git -0 ~0"},
				{"writes link", "writes clean: file 1/14 git -0 ~0"},
				{"deletes new", "deletes new: file 1/1 git -1 ~0"},
				{"deletes sub", "deletes sub: folder 4/51 git -1 ~1"},
				{"deletes sub/deep", "deletes sub/deep: folder 1/18 git -0 ~1"},
				{"deletes sub-file", "deletes sub-file: file 1/17 git -0 ~0"},
				{"writes none", "writes none: nothing"},
				{"deletes .git/config", "deletes .git/config: file 1/" + sizeOf(dir+"/.git/config") + " git -1 ~0"},
			} {
				if got := show(dir, New().Look(plan(dir, test.line), long)); got != test.want {
					t.Errorf("%s: %s, want %s", test.line, got, test.want)
				}
			}
			if format.magic == 3 {
				if got := show(dir, New().Look(plan(dir, "deletes later"), long)); got != "deletes later: file 1/1 git -0 ~1" {
					t.Errorf("it was only intended to be added: %s", got)
				}
			}
			all := New().Look(plan(dir, "deletes sub", "writes new", "deletes clean", "deletes sub/one"), long)
			want := "deletes sub: folder 4/51 git -1 ~1, writes new: file 1/1 git -1 ~0, deletes clean: file 1/14 git -0 ~0, deletes sub/one: file 1/16 git -0 ~0"
			if got := show(dir, all); got != want {
				t.Errorf("together: %s", got)
			}
			agrees(t, dir, all)
		})
	}
}

// agrees compares with what git says itself.
func agrees(t *testing.T, dir string, p Preview) {
	t.Helper()
	unknown := strings.Count(git(t, dir, "ls-files", "-o", "sub"), "\n")
	changed := strings.Count(git(t, dir, "diff-files", "--name-only", "sub"), "\n")
	if i := slices.IndexFunc(p.Targets, func(o Target) bool { return o.Kind == Folder }); p.Targets[i].Unknown != unknown || p.Targets[i].Changed != changed {
		t.Errorf("git knows nothing of %d files, and %d changed: %+v", unknown, changed, p.Targets[i])
	}
}

func sizeOf(name string) string {
	info, err := os.Stat(name)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprint(info.Size())
}

// Repositories of other shapes: a worktree, one in another, one without a
// file, a conflict, and what goes with a repository.
func TestRepositories(t *testing.T) {
	needGit(t)
	dir := folder(t, "main/a", "1", "main/b", "1")
	main := dir + "/main"
	git(t, main, "init", "-q", "-b", "main")
	if got := show(main, New().Look(plan(main, "deletes a"), long)); got != "deletes a: file 1/1 git -1 ~0" {
		t.Errorf("before anything is added: %s", got)
	}
	git(t, main, "add", "a")
	git(t, main, "commit", "-q", "-m", "x")
	git(t, main, "worktree", "add", "-q", dir+"/tree")
	write(t, dir+"/tree/new", "1")
	if got := show(dir, New().Look(plan(dir, "deletes tree/a", "deletes tree/new"), long)); got != "deletes tree/a: file 1/1 git -0 ~0, deletes tree/new: file 1/1 git -1 ~0" {
		t.Errorf("a worktree: %s", got)
	}
	if got := show(dir, New().Look(plan(dir, "deletes main"), long)); !strings.HasSuffix(got, " repos 1") || strings.Contains(got, "git -") {
		t.Errorf("a repository as a whole: %s", got)
	}
	if err := os.Rename(dir+"/tree", main+"/tree"); err != nil {
		t.Fatal(err)
	}
	if got := show(main, New().Look(plan(main, "deletes tree"), long)); !strings.Contains(got, "git -3 ~0 repos 1") {
		t.Errorf("a worktree in a repository: %s", got)
	}

	git(t, main, "checkout", "-q", "-b", "other")
	write(t, main+"/a", "2")
	git(t, main, "commit", "-q", "-a", "-m", "y")
	git(t, main, "checkout", "-q", "main")
	write(t, main+"/a", "3")
	git(t, main, "commit", "-q", "-a", "-m", "z")
	if exec.Command("git", "-C", main, "-c", "user.name=a", "-c", "user.email=a@x", "merge", "-q", "other").Run() == nil {
		t.Fatal("there is no conflict")
	}
	if got := show(main, New().Look(plan(main, "deletes a"), long)); !strings.HasSuffix(got, "git -0 ~1") {
		t.Errorf("a conflict: %s", got)
	}
}

// A file that was written again at the time of the index, with the same
// length, is read: its times do not tell.
func TestRacyFile(t *testing.T) {
	needGit(t)
	dir := folder(t, "a", "one")
	git(t, dir, "init", "-q")
	at := time.Now().Add(-time.Hour).Truncate(time.Second)
	set := func() {
		for _, name := range []string{"a", ".git/index"} {
			if err := os.Chtimes(filepath.Join(dir, name), at, at); err != nil && name == "a" {
				t.Fatal(err)
			}
		}
	}
	set()
	git(t, dir, "add", "a")
	write(t, dir+"/a", "two")
	set()
	if got := show(dir, New().Look(plan(dir, "deletes a"), long)); !strings.HasSuffix(got, "git -0 ~1") {
		t.Error(got)
	}
}

// What others put in the place of git's files is not followed, not waited for
// and not believed.
func TestHostileRepositories(t *testing.T) {
	big := func(name string, size int64) func(string) error {
		return func(dir string) error {
			f, err := os.Create(dir + name)
			if err != nil {
				return err
			}
			defer f.Close()
			if _, err := f.WriteString("DIRC\x00\x00\x00\x02\xff\xff\xff\xff"); err != nil {
				return err
			}
			return f.Truncate(size)
		}
	}
	inside := func(f func(string) error) func(string) error {
		return func(dir string) error {
			if err := os.Mkdir(dir+"/.git", 0o755); err != nil {
				return err
			}
			return f(dir)
		}
	}
	pointer := func(text string) func(string) error {
		return func(dir string) error { return os.WriteFile(dir+"/.git", []byte(text), 0o644) }
	}
	for name, test := range map[string]struct {
		make func(dir string) error
		want Reason
	}{
		"a pipe for the folder":      {func(dir string) error { return syscall.Mkfifo(dir+"/.git", 0o600) }, GaveUpUnreadable},
		"a link for the folder":      {func(dir string) error { return os.Symlink("/", dir+"/.git") }, GaveUpUnreadable},
		"a pipe for the index":       {inside(func(dir string) error { return syscall.Mkfifo(dir+"/.git/index", 0o600) }), GaveUpUnreadable},
		"a device for the index":     {inside(func(dir string) error { return os.Symlink("/dev/zero", dir+"/.git/index") }), GaveUpUnreadable},
		"a folder for the index":     {inside(func(dir string) error { return os.Mkdir(dir+"/.git/index", 0o755) }), GaveUpUnreadable},
		"an empty index":             {inside(func(dir string) error { return os.WriteFile(dir+"/.git/index", nil, 0o644) }), GaveUpUnreadable},
		"an index that lies":         {inside(big("/.git/index", 4096)), GaveUpMany},
		"a huge index":               {inside(big("/.git/index", 1<<40)), GaveUpMany},
		"a pointer to itself":        {pointer("gitdir: .git\n"), GaveUpUnreadable},
		"a pointer to a pointer":     {pointer("gitdir: next\n"), GaveUpUnreadable},
		"a pointer to nowhere":       {pointer("gitdir: /nowhere/at/all\n"), GaveUpUnreadable},
		"a pointer to a device":      {pointer("gitdir: /dev/zero\n"), GaveUpUnreadable},
		"no pointer":                 {pointer("hello"), GaveUpUnreadable},
		"a pointer of two lines":     {pointer("gitdir: /\nx"), GaveUpUnreadable},
		"a pointer without an end":   {big("/.git", 1<<40), GaveUpMany},
		"a pointer with a NUL in it": {pointer("gitdir: /tmp\x00x"), GaveUpUnreadable},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, "a", "1", "next", "gitdir: /tmp\n")
			if err := test.make(dir); err != nil {
				t.Skipf("skipped: this disk does not take it: %v", err)
			}
			got := New().Look(plan(dir, "deletes a"), long)
			if len(got.Targets) != 1 || got.Targets[0].Kind != File || got.Targets[0].InRepo || got.GaveUp != test.want {
				t.Errorf("%+v", got)
			}
		})
	}
}

// What is too much is not looked at, and said.
func TestLimits(t *testing.T) {
	dir := folder(t, "a", "1")
	var lines []string
	for i := range maxTargets + 50 {
		lines = append(lines, fmt.Sprintf("deletes x%d", i))
	}
	got := New().Look(plan(dir, lines...), long)
	if got.GaveUp != GaveUpMany || got.Targets[maxTargets-1].Kind != Nothing || got.Targets[maxTargets].Kind != NotLooked {
		t.Errorf("%d targets: %q", len(got.Targets), got.GaveUp)
	}
	deep := dir
	for range maxDepth + 1 {
		deep += "/d"
	}
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := New().Look(plan(dir, "deletes d"), long); got.GaveUp != GaveUpMany || !got.Targets[0].Partly {
		t.Errorf("a deep folder: %+v", got)
	}
	if err := os.Mkdir(dir+"/many", 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range maxFiles + 1 {
		if err := os.Link(dir+"/a", fmt.Sprintf("%s/many/%d", dir, i)); err != nil {
			f, err := os.Create(fmt.Sprintf("%s/many/%d", dir, i))
			if err != nil {
				t.Fatal(err)
			}
			f.Close()
		}
	}
	if got := New().Look(plan(dir, "deletes many"), long); got.GaveUp != GaveUpMany || got.Targets[0].Files != maxFiles || !got.Targets[0].Partly {
		t.Errorf("a large folder: %+v", got)
	}
}

// A disk that does not answer costs a look its result, and nobody any time. So
// many looks wait for it, and not one more.
func TestDiskThatHangs(t *testing.T) {
	dir := folder(t, "a", "1")
	l, answer := New(), make(chan struct{})
	l.wait = func() { <-answer }
	before := runtime.NumGoroutine()
	for i := range maxLeft + 3 {
		got := l.Look(plan(dir, "deletes a"), time.Millisecond)
		want := GaveUpTime
		if i >= maxLeft {
			want = GaveUpBusy
		}
		if got.GaveUp != want || len(got.Targets) != 1 || got.Targets[0].Kind != NotLooked {
			t.Errorf("look %d: %+v", i, got)
		}
	}
	if n := runtime.NumGoroutine() - before; n > maxLeft {
		t.Errorf("%d are left behind", n)
	}
	close(answer)
	for l.Look(plan(dir, "deletes a"), long).GaveUp != "" { // the disk is back
		runtime.Gosched()
	}
}

// What is below a folder that cannot be read is not counted, and that is said.
func TestClosedFolder(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("skipped: root reads every folder")
	}
	dir := folder(t, "sub/a", "1", "sub/closed/b", "1")
	if err := os.Chmod(dir+"/sub/closed", 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir+"/sub/closed", 0o700)
	if got := show(dir, New().Look(plan(dir, "deletes sub"), long)); got != "deletes sub: folder 1/1 and more, gave up: unreadable" {
		t.Error(got)
	}
}

// A look whose time is over says so, and what it saw until then.
func TestTimeIsOver(t *testing.T) {
	dir := folder(t, "a", "1")
	v := visit{end: time.Now()}
	targets := []Target{{Op: approval.TargetDeletes, Path: dir + "/a"}}
	if v.look(targets); v.gaveUp != GaveUpTime || targets[0].Kind != NotLooked {
		t.Errorf("%q, %+v", v.gaveUp, targets)
	}
}

// Only what surely changes nothing is said to read.
func TestReads(t *testing.T) {
	reader := approval.Segment{Argv: []string{"cat", "x"}, Kind: approval.KindReader, Program: &approval.Resolution{}}
	with := func(change func(*approval.Segment)) approval.Segment {
		s := reader
		change(&s)
		return s
	}
	for name, test := range map[string]struct {
		plan approval.Plan
		want bool
	}{
		"nothing":     {approval.Plan{}, false},
		"a reader":    {approval.Plan{Segments: []approval.Segment{reader, {Argv: []string{"cd", "x"}, Builtin: "cd"}}}, true},
		"redirected":  {approval.Plan{Segments: []approval.Segment{reader}, Targets: []approval.Target{{Path: "/x", Op: approval.TargetWrites}}}, false},
		"not read":    {approval.Plan{Segments: []approval.Segment{reader}, Findings: []approval.Finding{{Reason: approval.ReasonUnreadable}}}, false},
		"an option":   {approval.Plan{Segments: []approval.Segment{with(func(s *approval.Segment) { s.Targets = []approval.Target{{Op: approval.TargetWrites}} })}}, false},
		"a changer":   {approval.Plan{Segments: []approval.Segment{with(func(s *approval.Segment) { s.Kind, s.Profiled = approval.KindChanger, true })}}, false},
		"not known":   {approval.Plan{Segments: []approval.Segment{with(func(s *approval.Segment) { s.Kind = approval.KindOther })}}, false},
		"a name":      {approval.Plan{Segments: []approval.Segment{with(func(s *approval.Segment) { s.Argv = []string{"$x"} })}}, false},
		"it may more": {approval.Plan{Segments: []approval.Segment{with(func(s *approval.Segment) { s.Findings = []approval.Finding{{Reason: approval.ReasonWritesFile}} })}}, false},
	} {
		if got := New().Look(&test.plan, long); got.Reads != test.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

func TestTold(t *testing.T) {
	file := func(name string) *approval.Resolution {
		return &approval.Resolution{File: approval.File{Path: name}}
	}
	p := New().Look(&approval.Plan{
		Targets: []approval.Target{{Op: approval.TargetWrites}},
		Segments: []approval.Segment{
			{Argv: []string{"cat", "x"}, Program: file("/bin/cat"), Kind: approval.KindReader},
			{Argv: []string{"/opt/tool"}, Program: file("/opt/tool")},
			{Argv: []string{"tool"}, Program: file("/opt/tool"), Named: true},
			{Argv: []string{"cd", "x"}, Builtin: "cd"},
			{Argv: []string{"curl"}, Program: file("/bin/curl"), Profiled: true, Effects: []approval.Effect{approval.EffectNetwork}},
			{Argv: []string{"make"}, Program: file("/bin/make"), Profiled: true, Effects: []approval.Effect{approval.EffectProject}},
			{Argv: []string{"sh"}, Program: file("/bin/sh"), Kind: approval.KindShell, Profiled: true},
			{Argv: []string{"sed"}, Program: file("/bin/sed"), Profiled: true, Findings: []approval.Finding{{Reason: approval.ReasonStartsProgram}}},
		},
	}, long)
	got := fmt.Sprint(p.Programs, p.Unknown, p.Network, p.Project, p.Untold)
	if want := "[/bin/cat /opt/tool /bin/curl /bin/make /bin/sh /bin/sed] [tool sh sed] [curl] [make] true"; got != want || p.GaveUp != "" {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestPanics: looks that panic say that not all was seen, take nobody's place, and
// the next one looks.
func TestPanics(t *testing.T) {
	dir := folder(t, "a", "1")
	l := New()
	l.wait = func() { panic("secret") }
	before := rescue.Caught()
	for range 2 * maxLeft {
		for { // the place of the one before is free soon
			got := l.Look(plan(dir, "deletes a"), long)
			if got.GaveUp == GaveUpUnreadable && len(got.Targets) == 1 {
				break
			}
			if got.GaveUp != GaveUpBusy {
				t.Fatalf("%+v", got)
			}
			runtime.Gosched()
		}
	}
	if n := rescue.Caught() - before; n != 2*maxLeft {
		t.Errorf("%d were counted", n)
	}
	l.wait = func() {}
	for l.Look(plan(dir, "deletes a"), long).GaveUp != "" {
		runtime.Gosched()
	}
}
