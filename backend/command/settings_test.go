package command_test

import (
	"slices"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
)

// TestShowsSettings: git's settings are shown where no secret is in them.
func TestShowsSettings(t *testing.T) {
	const header = "[http]\n\textraHeader = Authorization: Bearer x\n"
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
