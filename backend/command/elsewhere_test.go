package command_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
)

// linkedHome is a home folder with names that lead into a project, which also holds
// folders of PATH.
func linkedHome() *command.Analyzer {
	world := approvaltest.NewWorld(`/bin/cat /bin/cp /bin/mv /bin/rm /bin/ls /bin/mkdir /usr/bin/tee /usr/bin/touch /usr/bin/ln /usr/bin/git /usr/bin/rsync /usr/bin/sed /usr/bin/chmod /usr/bin/curl /usr/bin/install /usr/bin/make
		/home/ann/p/bin/tool /home/ann/p/lbin/own
		/home/ann/.zshrc -> p/dots/zshrc
		/home/ann/.npmrc -> /home/ann/p/npmrc
		/home/ann/.gitconfig -> p/gitconfig
		/home/ann/.vimrc -> p/none/vimrc
		/home/ann/.bashrc -> p/dot/rc
		/home/ann/p/dot/rc -> ../dot2/rc
		/home/ann/.config/nvim -> ../p/nvim
		/home/ann/.local/bin -> ../p/lbin
		/home/ann/.cache -> p/cache
		/home/ann/work -> p/work`)
	for name := range strings.FieldsSeq("main.go dots/zshrc dots/README.md evil/zshrc evil/tool nvim/init.lua gitconfig npmrc cache/x work/a sub/a.go") {
		world.Files["/home/ann/p/"+name] = approvaltest.File{Mode: 0o644, UID: 500}
	}
	a := &command.Analyzer{World: world, Home: "/home/ann", UID: 500, Ours: []string{"/state"}}
	a.SetPath([]string{"/home/ann/p/bin", "/home/ann/p/not/yet", "/home/ann/.local/bin", "/usr/bin", "/bin", ".", "./node_modules/.bin", ""})
	return a
}

// TestElsewhere: what a name in the home folder leads to, and what PATH finds, is what
// programs start from, wherever it is.
func TestElsewhere(t *testing.T) {
	for text, asks := range map[string]bool{
		// Names in the home folder that are links.
		"tee dots/zshrc <<< x": true, "cp main.go dots/zshrc": true, "mv main.go gitconfig": true, "touch nvim/init.lua": true, "touch nvim/new.lua": true, "rm dots/zshrc": true, "ln -sf main.go gitconfig": true,
		"git checkout main -- dots/zshrc": true, "cp -r evil/. dots": true, "rsync -a evil/ dots/": true, "mv dots x": true, "git mv dots x": true, "rm -r dots": true, "mv evil dots": true, "git mv evil/zshrc dots": true,
		"tee none/vimrc <<< x": true, "cp main.go none/vimrc": true, "mv main.go none/vimrc": true, "touch none/x": false, // of a link that leads nowhere yet
		"mv dot dot3": true, "rm -r dot": true, "ln -sfn evil dot": true, "git mv dot dot3": true, "tee dot2/rc <<< x": true, "tee dot/x <<< x": false, // each link on the way
		"cat npmrc": true, "sed -n p npmrc": true, "cat dots/zshrc": false, "git add dots/zshrc": false, "touch dots/README.md": false, "cp main.go evil/zshrc": false, "touch cache/x": false, "cat cache/x": false, "touch work/a": false, "cp main.go sub": false,
		// Folders of PATH.
		"cp main.go bin/rg": true, "tee bin/git <<< x": true, "touch bin/tool": true, "chmod +x bin/tool": true, "install main.go bin/rg": true, "git mv main.go bin/rg": true, "cp -r evil/. bin": true, "mv evil bin": true, "rm bin/tool": true,
		"cp main.go lbin/rg": true, "ln -s ../main.go bin/rg": true, "curl -so bin/rg https://x.example": true, "mkdir -p not/yet": true, "mv evil not": true, "cd bin && touch rg": true, "git checkout main -- bin/rg": true,
		"cp main.go node_modules/.bin/rg": true, "touch sub/node_modules/.bin/x": true, "touch node_modules/x": false, "cat node_modules/.bin/rg": false,
		"cat bin/tool": false, "ls bin": false, "make": false, "touch sub/bin": false, "touch bins": false,
	} {
		plan := linkedHome().Analyze(t.Context(), bash(text), approvaltest.Named("/home/ann/p"))
		found := allReasons(plan)
		if got := slices.Contains(found, approval.ReasonProtectedState); got != asks {
			t.Errorf("%s: %v", text, found)
		}
	}
	for at, want := range map[string][2]approval.Protected{ // read, and written
		"/home/ann/p/dots/zshrc": {approval.ProtectedNot, approval.ProtectedStartup}, "/home/ann/p/npmrc": {approval.ProtectedKeys, approval.ProtectedKeys}, "/home/ann/p/bin/rg": {approval.ProtectedNot, approval.ProtectedStartup},
		"/home/ann/p/lbin/rg": {approval.ProtectedNot, approval.ProtectedStartup}, "/home/ann/p/main.go": {approval.ProtectedNot, approval.ProtectedNot}, "/home/ann/p/cache/x": {approval.ProtectedNot, approval.ProtectedNot},
	} {
		a := linkedHome()
		if got := [2]approval.Protected{a.Protected(at, true), a.Protected(at, false)}; got != want {
			t.Errorf("%s: %v, want %v", at, got, want)
		}
	}
}

// TestElsewhereForMany: many may ask at once.
func TestElsewhereForMany(t *testing.T) {
	a := linkedHome()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if got := a.Protected("/home/ann/p/dots/zshrc", false); got != approval.ProtectedStartup {
				t.Errorf("%v", got)
			}
		})
	}
	wg.Wait()
}
