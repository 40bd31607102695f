//go:build unix

package project_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/project"
)

// disk is the real one, with files that belong to others.
type disk struct{ others map[string]bool }

func (d disk) Look(name string) (approval.File, error) {
	if !filepath.IsAbs(name) {
		return approval.File{}, errors.New("not absolute")
	}
	real, err := filepath.EvalSymlinks(name)
	if err != nil {
		return approval.File{}, err
	}
	info, err := os.Stat(real)
	if err != nil {
		return approval.File{}, err
	}
	st := info.Sys().(*syscall.Stat_t)
	f := approval.File{Path: real, Dev: uint64(st.Dev), Ino: st.Ino, Size: st.Size, Mode: uint32(st.Mode), UID: int(st.Uid)}
	if d.others[real] {
		f.UID++
	}
	return f, nil
}

func (d disk) Head(file approval.File, n int) ([]byte, error) {
	text, err := os.ReadFile(file.Path)
	return text[:min(n, len(text))], err
}

// machine is a scratch disk with a home folder on it.
type machine struct {
	*testing.T
	disk
	root, home string
}

func newMachine(t *testing.T) machine {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	m := machine{t, disk{map[string]bool{}}, root, root + "/home/ann"}
	m.folder("home/ann")
	return m
}

func (m machine) folder(name string) string {
	m.Helper()
	if err := os.MkdirAll(m.root+"/"+name, 0o755); err != nil {
		m.Fatal(err)
	}
	return m.root + "/" + name
}

func (m machine) file(name, text string) {
	m.Helper()
	m.folder(filepath.Dir(name))
	if err := os.WriteFile(m.root+"/"+name, []byte(text), 0o644); err != nil {
		m.Fatal(err)
	}
}

func (m machine) link(name, to string) {
	m.Helper()
	m.folder(filepath.Dir(name))
	if err := os.Symlink(to, m.root+"/"+name); err != nil {
		m.Fatal(err)
	}
}

// repository makes what git takes for a repository.
func (m machine) repository(name string) {
	m.folder(name + "/objects")
	m.folder(name + "/refs")
	m.file(name+"/HEAD", "ref: refs/heads/main\n")
	m.file(name+"/config", "[core]\n\tbare = false\n")
}

func (m machine) git(words ...string) {
	m.Helper()
	cmd := exec.Command("git", words...)
	cmd.Env = []string{"HOME=" + m.home, "PATH=" + os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org"}
	if out, err := cmd.CombinedOutput(); err != nil {
		m.Fatalf("git %s: %v\n%s", strings.Join(words, " "), err, out)
	}
}

func (m machine) find(cwd string, said ...approval.Project) approval.Folder {
	for i := range said {
		said[i].Path = m.root + "/" + said[i].Path
	}
	f := project.Find(m.root+"/"+cwd, project.Person{Home: m.home, UID: os.Getuid()}, said, m.disk)
	f.Path, f.Offer = strings.TrimPrefix(f.Path, m.root+"/"), strings.TrimPrefix(f.Offer, m.root+"/")
	f.Dev, f.Ino = 0, 0
	return f
}

func checkout(at string) approval.Folder {
	return approval.Folder{Path: at, By: approval.FolderCheckout}
}
func named(at string) approval.Folder   { return approval.Folder{Path: at, By: approval.FolderNamed} }
func offered(at string) approval.Folder { return approval.Folder{Offer: at} }
func isNamed(at string) approval.Project {
	return approval.Project{Path: at}
}

func TestFind(t *testing.T) {
	m := newMachine(t)
	const home = "home/ann/"
	m.repository(home + "p/.git")
	m.folder(home + "p/src/deep")
	m.repository(home + "p/vendor/x/.git")
	m.folder(home + "Downloads/new")
	m.folder(home + ".config/gcloud")
	m.repository(home + ".config/nvim/.git")
	m.folder(home + "Library/Application Support/x")
	m.folder(home + "work/a")
	m.repository(home + "work/b/.git")
	m.repository(home + "others/.git")
	m.others[m.root+"/"+home+"others"] = true
	m.repository(home + "theirs/.git")
	m.others[m.root+"/"+home+"theirs/.git"] = true
	m.folder(home + "empty/.git")
	m.link(home+"linked/.git", "../p/.git")
	m.link(home+"way", "p/src")
	m.link(home+"moved", ".config/gcloud")
	m.repository(home + "away/.git")
	m.file(home+"away/.git/config", "[core]\n\tworktree = ../../Downloads\n")
	for name, text := range map[string]string{
		"bom": "\ufeff[core]\n\tworktree = ../../Downloads\n", "nosection": "worktree = ../../Downloads\n", "unread": "[core\n\tworktree = ..\n",
		"strange": "[core]\n\twork_tree = x\n", "usual": "# x\n[core] ; y\n\tbare = false\n\tignorecase\n[branch \"a]b\"]\n\tmerge = refs/heads/a]b\n",
	} {
		m.repository(home + name + "/.git")
		m.file(home+name+"/.git/config", text)
	}
	m.repository(home + "told/.git")
	m.file(home+"told/.git/config", "[core]\n\tworktree = ..\n")
	m.repository(home + "commons/.git")
	m.file(home+"commons/.git/commondir", "../../p/.git\n")
	m.file(home+"afile", "")
	m.folder(home + "work/caf\u00e9")
	m.folder(home + "work/cafe\u0301")

	tests := []struct {
		name, cwd string
		said      []approval.Project
		want      approval.Folder
	}{
		{"the root of a checkout", home + "p", nil, checkout(home + "p")},
		{"a folder in it", home + "p/src/deep", nil, checkout(home + "p")},
		{"by a link", home + "way", nil, checkout(home + "p")},
		{"the nearest one", home + "p/vendor/x", nil, checkout(home + "p/vendor/x")},
		{"the outer one, if that was named", home + "p/vendor/x", []approval.Project{isNamed(home + "p")}, named(home + "p")},
		{"a name in a checkout makes no less of it", home + "p/src/deep", []approval.Project{isNamed(home + "p/src")}, checkout(home + "p")},
		{"no checkout", home + "Downloads/new", nil, offered(home + "Downloads/new")},
		{"a named folder", home + "work/a", []approval.Project{isNamed(home + "work/a")}, named(home + "work/a")},
		{"a folder in a named one", home + "Downloads/new", []approval.Project{isNamed(home + "Downloads")}, named(home + "Downloads")},
		{"the outer one of two names", home + "Downloads/new", []approval.Project{isNamed(home + "Downloads/new"), isNamed(home + "Downloads")}, named(home + "Downloads")},
		{"beside a named one", home + "work/ab", []approval.Project{isNamed(home + "work/a")}, approval.Folder{Never: "x"}},
		{"a name in other letters", home + "work/a", []approval.Project{isNamed(home + "work/A")}, offered(home + "work/a")},
		{"a name in other forms of its letters", home + "work/cafe\u0301", []approval.Project{isNamed(home + "work/caf\u00e9")}, offered(home + "work/cafe\u0301")},
		{"a link in the place of a named folder", home + ".config/gcloud", []approval.Project{isNamed(home + "moved")}, approval.Folder{Never: "x"}},
		{"a link was named", home + "p/src", []approval.Project{isNamed(home + "way")}, checkout(home + "p")},
		{"a named folder of somebody else now", home + "others", []approval.Project{isNamed(home + "others")}, offered(home + "others")},
		{"home", "home/ann", nil, approval.Folder{Never: "x"}},
		{"home, named", "home/ann", []approval.Project{isNamed("home/ann")}, approval.Folder{Never: "x"}},
		{"above home", "home", []approval.Project{isNamed("home")}, approval.Folder{Never: "x"}},
		{"in home, which was named", home + "work/a", []approval.Project{isNamed("home/ann")}, offered(home + "work/a")},
		{"a hidden folder of home", home + ".config/gcloud", []approval.Project{isNamed(home + ".config/gcloud")}, approval.Folder{Never: "x"}},
		{"a checkout in one", home + ".config/nvim", []approval.Project{isNamed(home + ".config/nvim")}, approval.Folder{Never: "x"}},
		{"what macOS keeps of programs", home + "Library/Application Support/x", []approval.Project{isNamed(home + "Library")}, approval.Folder{Never: "x"}},
		{"inside of git's own folder", home + "p/.git/refs", nil, approval.Folder{Never: "x"}},
		{"a folder of somebody else", home + "others", nil, offered(home + "others")},
		{"a repository of somebody else", home + "theirs", nil, offered(home + "theirs")},
		{"an empty .git", home + "empty", nil, offered(home + "empty")},
		{"a link for .git", home + "linked", nil, offered(home + "linked")},
		{"a repository that works elsewhere", home + "away", nil, offered(home + "away")},
		{"settings that begin with a mark of their encoding", home + "bom", nil, offered(home + "bom")},
		{"settings in no section", home + "nosection", nil, offered(home + "nosection")},
		{"a section that does not end", home + "unread", nil, offered(home + "unread")},
		{"a key that git does not take", home + "strange", nil, offered(home + "strange")},
		{"settings as git writes them", home + "usual", nil, checkout(home + "usual")},
		{"a repository that says where it is", home + "told", nil, checkout(home + "told")},
		{"a repository that has its parts elsewhere", home + "commons", nil, offered(home + "commons")},
		{"not there", home + "nothing", nil, approval.Folder{Never: "x"}},
		{"a file", home + "afile", nil, approval.Folder{Never: "x"}},
		{"a no", home + "work/a", []approval.Project{{Path: home + "work/a", No: true}}, approval.Folder{Offer: home + "work/a", Declined: true}},
		{"a no to a checkout", home + "p/src", []approval.Project{{Path: home + "p", No: true}}, approval.Folder{Offer: home + "p", Declined: true}},
		{"a no above a checkout", home + "work/b", []approval.Project{{Path: home + "work", No: true}}, checkout(home + "work/b")},
		{"a no to one of two names", home + "Downloads/new", []approval.Project{isNamed(home + "Downloads"), {Path: home + "Downloads", No: true}, isNamed(home + "Downloads/new")}, named(home + "Downloads/new")},
	}
	for _, test := range tests {
		got := m.find(test.cwd, test.said...)
		if test.want.Never != "" && got.Never != "" {
			got.Never = test.want.Never
		}
		if got != test.want {
			t.Errorf("%s: got %+v, want %+v", test.name, got, test.want)
		}
	}
}

// The checkout of what is below a home folder that is one itself is no project,
// and a relative name is none either.
func TestHomeIsACheckout(t *testing.T) {
	m := newMachine(t)
	m.repository("home/ann/.git")
	m.folder("home/ann/notes")
	for cwd, want := range map[string]approval.Folder{"home/ann/notes": offered("home/ann/notes"), "home/ann": {Never: "it is the home folder, or above it"}} {
		if got := m.find(cwd); got != want {
			t.Errorf("%s: got %+v, want %+v", cwd, got, want)
		}
	}
	if got := project.Find("notes", project.Person{Home: m.home}, nil, m.disk); got.Path != "" || got.Offer != "" {
		t.Errorf("a relative name: got %+v", got)
	}
}

// A link in the place of the folder that was looked at, or another folder, is
// seen by whoever compares two looks.
func TestSwapped(t *testing.T) {
	m := newMachine(t)
	m.repository("home/ann/p/.git")
	m.repository("home/ann/q/.git")
	look := func() approval.Folder {
		return project.Find(m.home+"/p", project.Person{Home: m.home, UID: os.Getuid()}, nil, m.disk)
	}
	before := look()
	if before != look() {
		t.Fatal("two looks differ")
	}
	for name, swap := range map[string]func(){
		"a link":         func() { m.link("home/ann/p", "q") },
		"another folder": func() { m.repository("home/ann/p/.git") },
		"its repository": func() { m.folder("home/ann/p/.git") },
	} {
		if err := os.Rename(m.home+"/p", m.home+"/was"+name); err != nil { // one that is gone may give its number to the next
			t.Fatal(err)
		}
		if swap(); before == look() {
			t.Errorf("%s: the same folder", name)
		}
	}
}

// What git makes counts: a repository, a worktree, a submodule, and a worktree
// of a bare repository.
func TestRealGit(t *testing.T) {
	m := newMachine(t)
	at := func(name string) string { return m.home + "/" + name }
	m.git("init", "-q", at("p"))
	m.git("-C", at("p"), "commit", "-q", "--allow-empty", "-m", "x")
	m.git("-C", at("p"), "worktree", "add", "-q", at("tree"))
	m.git("-C", at("p"), "worktree", "add", "-q", at("p/.trees/inner"))
	m.git("init", "-q", at("lib"))
	m.git("-C", at("lib"), "commit", "-q", "--allow-empty", "-m", "x")
	m.git("-C", at("p"), "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", at("lib"), "libs/lib")
	m.git("clone", "-q", "--bare", at("p"), at("bare.git"))
	m.git("-C", at("bare.git"), "worktree", "add", "-q", at("ofbare"), "HEAD")
	for _, name := range []string{"p", "tree", "p/.trees/inner", "p/libs/lib", "ofbare"} {
		if got, want := m.find("home/ann/"+name), checkout("home/ann/"+name); got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
	if got := m.find("home/ann/bare.git"); got.Path != "" {
		t.Errorf("a bare repository: got %+v", got)
	}
}

// A .git file that names a place which does not point back counts for nothing.
func TestForeignGitFile(t *testing.T) {
	m := newMachine(t)
	at := func(name string) string { return m.home + "/" + name }
	m.git("init", "-q", at("p"))
	m.git("-C", at("p"), "commit", "-q", "--allow-empty", "-m", "x")
	m.git("-C", at("p"), "worktree", "add", "-q", at("tree"))
	m.git("init", "-q", "--separate-git-dir", at("apart.git"), at("apart"))
	m.repository("srv/theirs.git")
	m.file("srv/theirs.git/config", "[core]\n\tworktree = "+at("theirs")+"\n")
	m.others[m.root+"/srv/theirs.git"] = true
	for name, text := range map[string]string{
		"copied":  "gitdir: " + at("p/.git/worktrees/tree") + "\n", // that one is of tree
		"whole":   "gitdir: ../p/.git\n",
		"theirs":  "gitdir: " + m.root + "/srv/theirs.git\n",
		"gone":    "gitdir: ../nothing\n",
		"two":     "gitdir: ../p/.git\nmore\n",
		"none":    "",
		"nul":     "gitdir: ../p/.git\x00\n",
		"long":    "gitdir: " + strings.Repeat("./", 4096) + "../p/.git\n",
		"itself":  "gitdir: .git\n",
		"folder":  "gitdir: .\n",
		"upwards": "gitdir: ../../../../../../../../../../..\n",
	} {
		m.file("home/ann/"+name+"/.git", text)
		if got, want := m.find("home/ann/"+name), offered("home/ann/"+name); got != want {
			t.Errorf("%s: got %+v, want %+v", name, got, want)
		}
	}
	if got, want := m.find("home/ann/apart"), offered("home/ann/apart"); got != want {
		t.Errorf("apart: got %+v, want %+v", got, want)
	}
	m.file("home/ann/apart.git/config", "[core]\n\tworktree = ../apart\n")
	if got, want := m.find("home/ann/apart"), checkout("home/ann/apart"); got != want {
		t.Errorf("apart, which points back: got %+v, want %+v", got, want)
	}
	if err := os.Rename(at("tree"), at("elsewhere")); err != nil { // git knows it under its old place
		t.Fatal(err)
	}
	if got, want := m.find("home/ann/elsewhere"), offered("home/ann/elsewhere"); got != want {
		t.Errorf("moved: got %+v, want %+v", got, want)
	}
}

func TestNever(t *testing.T) {
	tests := []struct {
		home, at string
		never    bool
	}{
		{"/home/ann", "/", true}, {"/home/ann", "/home", true}, {"/home/ann", "/home/ann", true}, {"/home/ann", "/HOME/Ann", true},
		{"/home/ann", "/home/ann/p", false}, {"/home/ann", "/home/ann/.p", true}, {"/home/ann", "/home/ann/.p/q/r", true},
		{"/home/ann", "/home/ann/p/.q", false}, {"/home/ann", "/home/ann/p/.git", true}, {"/home/ann", "/home/ann/p/.GIT/x", true},
		{"/home/ann", "/home/ann/library", false}, {"/home/ann", "/home/ann/Library", true}, {"/home/ann", "/home/ann/Library/Mobile Documents", true},
		{"/home/ann", "/home/ann/Library/CloudStorage/Drive", true}, {"/home/ann", "/home/ann/Library/CloudStorage/Drive/p", false},
		{"/home/ann", "/home/ann/Library/Mobile Documents/com~x/p", false},
		{"/home/ann", "/home/bob/p", false}, {"/home/ann", "/home/annabel", false}, {"/home/ann", "/homes/ann", false},
		{"/home/ann", "/srv", true}, {"/home/ann", "/srv/p", false}, {"/home/ann", "/work", true}, {"/home/ann", "/opt/p", false},
		{"/home/ann", "/opt/homebrew", true}, {"/home/ann", "/opt/homebrew/x/y", true}, {"/home/ann", "/opt/homebrewery", false},
		{"/home/ann", "/etc", true}, {"/home/ann", "/etc/nginx", true}, {"/home/ann", "/ETC/nginx", true}, {"/home/ann", "/usr/local/src/p", true},
		{"/home/ann", "/var/www/p", true}, {"/home/ann", "/proc/self/cwd", true}, {"/home/ann", "/dev/shm/p", true}, {"/home/ann", "/run/user/1/p", true},
		{"/home/ann", "/tmp", true}, {"/home/ann", "/tmp/p", false}, {"/home/ann", "/var/tmp", true}, {"/home/ann", "/var/tmp/p", false},
		{"/home/ann", "/mnt/c", true}, {"/home/ann", "/mnt/c/p", false}, {"/home/ann", "/media/ann/stick", true}, {"/home/ann", "/media/ann/stick/p", false},
		{"/home/ann", "/run/media/ann/stick", true}, {"/home/ann", "/run/media/ann/stick/p", false},
		{"/Users/ann", "/Users", true}, {"/Users/ann", "/private/tmp", true}, {"/Users/ann", "/private/tmp/p", false}, {"/Users/ann", "/private/etc/x", true},
		{"/Users/ann", "/private/var/folders/a/b", true}, {"/Users/ann", "/private/var/folders/a/b/T", true}, {"/Users/ann", "/private/var/folders/a/b/T/p", false},
		{"/Users/ann", "/private/var/folders/a/b/C/p", true}, {"/Users/ann", "/System/Volumes/Data/Users/ann", true}, {"/Users/ann", "/System/Volumes/Data/Users/ann/p", false},
		{"/Users/ann", "/System/Volumes/Data/Users/ann/Library", true}, {"/Users/ann", "/System/Volumes/Data/Users/ann/Library/LaunchAgents", true}, {"/Users/ann", "/system/VOLUMES/data/Users/ann/.ssh", true},
		{"/Users/ann", "/System/Volumes/Data", true}, {"/Users/ann", "/System/Volumes/Data/Users", true}, {"/Users/ann", "/System/Volumes/Data/opt/homebrew", true}, {"/Users/ann", "/System/Volumes/Database/p", true}, {"/Users/ann", "/System/Volumes/Preboot/x", true},
		{"/System/Volumes/Data/Users/ann", "/Users/ann/Library/x", true}, {"/System/Volumes/Data/Users/ann", "/System/Volumes/Data/Users/ann/p", false}, {"/System/Volumes/Data/Users/ann", "/Users/ann/.ssh", true},
		{"/Users/ann", "/Applications/X.app/Contents", true}, {"/Users/ann", "/Volumes/Disk", true}, {"/Users/ann", "/Volumes/Disk/p", false},
		{"/root", "/root/p", false}, {"/root", "/root/.p", true},
		{"/var/lib/jenkins", "/var/lib/jenkins/p", false}, {"/var/lib/jenkins", "/var/lib/jenkins", true}, {"/var/lib/jenkins", "/var/lib/other", true},
		{"/var/lib/jenkins", "/var/lib/Jenkins/p", true}, {"/var/lib/jenkins", "/etc/x", true},
		{"/", "/etc/x", true}, {"/", "/srv/p", false}, {"/", "/.x", true},
	}
	for _, test := range tests {
		why := project.Never(test.at, project.Person{Home: test.home}, disk{})
		if (why != "") != test.never {
			t.Errorf("home %s, %s: got %q, want never %v", test.home, test.at, why, test.never)
		}
	}
}
