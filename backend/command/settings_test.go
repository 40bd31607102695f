package command_test

import (
	"slices"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
)

// TestShowsSettings: git's settings are shown where no secret is in them.
func TestShowsSettings(t *testing.T) {
	const (
		header  = "[http]\n\textraHeader = Authorization: Bearer x\n"
		address = "[remote \"origin\"]\n\turl = https://ann:secret@example.com/x\n"
		plain   = "[remote \"origin\"]\n\turl = https://github.com/x/y\n"
	)
	for _, test := range []struct {
		text, file, holds string
		asks              bool
	}{
		{"git config -l", "/home/ann/.gitconfig", "[user]\n\tname = Ann\n\temail = ann@example.com\n[credential]\n\thelper = store\n[remote \"origin\"]\n\turl = git@github.com:x/y\n", false},
		{"git config --list --show-origin", "/home/ann/.gitconfig", header, true}, {"git config -l", "/home/ann/p/.git/config", header, true}, {"git config list", "/home/ann/.config/git/config", header, true},
		{"git config --get-regexp .", "/home/ann/.gitconfig", "[github]\n\ttoken = x\n", true}, {"git config get --all --regexp .", "/home/ann/.gitconfig", header, true}, {"git var -l", "/home/ann/.gitconfig", header, true},
		{"git config -l", "/home/ann/p/.git/config", "[remote \"origin\"]\n\turl = https://ann:secret@example.com/x\n", true}, {"git config -l", "/home/ann/p/.git/config", "[remote \"origin\"]\n\turl = https://ghp_0123456789abcdef0123@github.com/x/y\n", true},
		{"git config -l", "/home/ann/.other", "[sendemail]\n\tsmtpPass = x\n", true}, {"git config --get user.name", "/home/ann/.gitconfig", header, false}, {"git config --get-all http.extraheader", "/home/ann/.other", "", true},
		{"git remote -v", "/home/ann/p/.git/config", "[remote \"origin\"]\n\turl = https://ann:secret@example.com/x\n", true}, {"git remote get-url origin", "/home/ann/p/.git/config", "[remote \"origin\"]\n\turl = https://ann:secret@example.com/x\n", true},
		{"git remote -v", "/home/ann/p/.git/config", "[remote \"origin\"]\n\turl = https://github.com/x/y\n", false}, {"git remote", "/home/ann/p/.git/config", header, false},
		{"git config --get-urlmatch http https://github.com/", "/home/ann/.gitconfig", header, true}, {"git config get --url=https://github.com http", "/home/ann/.gitconfig", header, true}, {"git config --get-urlmatch http https://github.com/", "/home/ann/.gitconfig", "[user]\n\tname = Ann\n", false}, {"git config --get-urlmatch sendemail x", "/home/ann/.other", "[sendemail]\n\tsmtpPass = x\n", true},
		{"git ls-remote --get-url", "/home/ann/p/.git/config", address, true}, {"git ls-remote --get-url origin", "/home/ann/p/.git/config", plain, false}, {"git config --get remote.origin.url", "/home/ann/p/.git/config", address, true}, {"git config --get-all remote.origin.pushURL", "/home/ann/p/.git/config", address, true}, {"git config remote.origin.url", "/home/ann/p/.git/config", address, true}, {"git config get remote.origin.url", "/home/ann/p/.git/config", address, true},
		{"git config --get remote.origin.url", "/home/ann/p/.git/config", plain, false}, {"git config get remote.origin.url", "/home/ann/p/.git/config", plain, false}, {"git config --get http.proxy", "/home/ann/.gitconfig", "[http]\n\tproxy = http://ann:secret@proxy:1\n", true}, {"git config --get user.email", "/home/ann/p/.git/config", address, false},
		{"rg -. header", "/home/ann/p/.git/config", header, true}, {"grep -rh url .git", "/home/ann/p/.git/config", address, true}, {"find . -name config -exec cat {} +", "/home/ann/p/.git/config", address, true}, {"find .git -name 'conf*' | xargs cat", "/home/ann/p/.git/config", address, true}, {"tar -cf - .git", "/home/ann/p/.git/config", address, true}, {"diff -r .git src", "/home/ann/p/.git/config", address, true},
		{"grep -rh url .git", "/home/ann/p/.git/modules/a/config", address, true}, {"cp -r . ../q", "/home/ann/p/.git/config", address, true}, {"cat x.git/config", "/home/ann/p/x.git/config", address, true}, {"ls .git | xargs -I{} cat .git/{}", "/home/ann/p/.git/config", address, true},
		{"rg -. url", "/home/ann/p/.git/config", plain, false}, {"grep -rh url .git", "/home/ann/p/.git/config", plain, false}, {"rg url", "/home/ann/p/.git/config", address, false}, {"git add .", "/home/ann/p/.git/config", address, false}, {"find . -name '*.go' -exec cat {} +", "/home/ann/p/.git/config", address, false},
		{"cat .git/config", "/home/ann/p/.git/config", header, true}, {"cat .git/config", "/home/ann/p/.git/config", "[core]\n\tbare = false\n", false}, {"rg x ~/.gitconfig", "/home/ann/.gitconfig", header, true}, {"ls .git/config", "/home/ann/p/.git/config", header, false},
	} {
		a := walked()
		files := a.World.(*approvaltest.World).Files
		files["/home/ann/.gitconfig"] = approvaltest.File{Mode: 0o644, UID: 500, Text: "[include]\n\tpath = ~/.other\n"}
		files[test.file] = approvaltest.File{Mode: 0o644, UID: 500, Text: test.holds}
		found := allReasons(a.Analyze(t.Context(), bash(test.text), approvaltest.Named("/home/ann/p")))
		if got := slices.Contains(found, approval.ReasonProtectedState) || slices.Contains(found, approval.ReasonStartsProgram); got != test.asks {
			t.Errorf("%s with %s: %v", test.text, test.file, found)
		}
	}
}
