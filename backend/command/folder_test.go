package command_test

import (
	"slices"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
)

// What is inside is what lies in the session's folder, whatever folder the agent
// says that it works in.
func TestFolder(t *testing.T) {
	world := approvaltest.NewWorld(`
		/bin/bash /bin/rm /bin/cp /bin/mv /bin/mkdir /bin/cat /bin/ls /bin/grep /usr/bin/touch /usr/bin/git /usr/bin/make /usr/bin/python3 /usr/bin/tar /usr/bin/rg
		/usr/bin/find /usr/bin/tee /usr/bin/sort /usr/bin/curl /usr/bin/go /usr/bin/gofmt /usr/bin/gh
		/home/ann/p/a /home/ann/p/run.py /home/ann/p/sub/b /home/ann/p/sub/run.py /home/ann/p/sub/deep/c /home/ann/q/d /home/ann/q/run.py
		/home/ann/p/out -> /home/ann/q`)
	world.Files["/home/ann/p/sub/x.tar"] = approvaltest.File{Mode: 0o644, UID: 500, Text: tarOf(t, false, "y")}
	a := &command.Analyzer{World: world, Home: "/home/ann", UID: 500}
	a.SetPath([]string{"/usr/bin", "/bin"})
	const (
		none    = approval.ReasonNone
		outside = approval.ReasonOutsideFolder
		deletes = approval.ReasonDeletes
		uploads = approval.ReasonUploads
		network = approval.ReasonNetwork
	)
	tests := []struct {
		text string
		// What it asks for where p is the project and the agent works in p/sub, where
		// the person named p/sub alone, and where no folder counts.
		root, sub, no approval.Reason
	}{
		{"cat b", none, none, none},
		{"cat ../a /home/ann/q/d", none, none, none},
		{"ls -la ~", none, none, none},
		{"find . -name x", none, none, none},
		{"grep -n x b", none, none, none},
		{"grep -rn x .", none, none, outside},
		{"rg x", none, none, outside},
		{"touch x", none, none, outside},
		{"touch ../x", none, outside, outside},
		{"touch ../../x", outside, outside, outside},
		{"touch ../out/x", outside, outside, outside},
		{"touch /home/ann/p/x", none, outside, outside},
		{"mkdir -p ../new/deep", none, outside, outside},
		{"mkdir .git", outside, outside, outside},
		{"git init .", none, none, outside},
		{"git clone https://x.example/y", none, none, outside},
		{"gh repo clone x/y", none, none, outside},
		{"gh pr checkout 12", none, none, outside},
		{"gh pr view 12", none, none, none},
		{"cp b ../b", none, outside, outside},
		{"rm b", none, none, deletes},
		{"rm ../a", none, deletes, deletes},
		{"rm -rf deep", none, none, deletes},
		{"rm -rf .", deletes, deletes, deletes},
		{"rm -rf ../sub", deletes, deletes, deletes},
		{"rm -rf /home/ann/p/sub", deletes, deletes, deletes},
		{"rm -rf ..", deletes, deletes, deletes},
		{"rm -rf ../*", deletes, deletes, deletes},
		{"rm -rf *", deletes, deletes, deletes},
		{"cd .. && rm -rf sub", deletes, deletes, deletes},
		{"cd .. && rm a", none, deletes, deletes},
		{"mv ../sub ../other", none, outside, outside},
		{"make", none, none, outside},
		{"make -C ..", approval.ReasonProtectedState, outside, outside},
		{"cd .. && make", none, outside, outside},
		{"cd /home/ann/q && make", outside, outside, outside},
		{"git status", none, none, outside},
		{"git -C /home/ann/q status", outside, outside, outside},
		{"go test ./...", none, none, outside},
		{"gofmt -w b", none, none, outside},
		{"python3 run.py", none, none, outside},
		{"python3 ../run.py", none, outside, outside},
		{"python3 ../../q/run.py", outside, outside, outside},
		{"cat < b", none, none, outside},
		{"cat < ../a", none, outside, outside},
		{"tar -xf x.tar -C deep", none, none, outside},
		{"tee ../log", none, outside, outside},
		{"curl -T b https://x.example", network, network, uploads},
		{"curl -d @b https://x.example", network, network, uploads},
		{"curl -d @../a https://x.example", network, uploads, uploads},
		{"bash -c 'touch ../x'", none, outside, outside},
	}
	for _, test := range tests {
		for _, one := range []struct {
			name string
			at   approval.Folder
			want approval.Reason
		}{{"p", approvaltest.Named("/home/ann/p"), test.root}, {"p/sub", approvaltest.Named("/home/ann/p/sub"), test.sub}, {"none", approval.Folder{Offer: "/home/ann/p"}, test.no}} {
			plan := a.Analyze(t.Context(), &approval.Request{Command: []string{"bash", "-c", test.text}, Cwd: "/home/ann/p/sub", Who: approval.Ours}, one.at)
			got := reasonsOf(plan)
			if one.want == none && len(got) > 0 || one.want != none && !slices.Contains(got, one.want) {
				t.Errorf("%s: %q asks for %q, want %q", one.name, test.text, got, one.want)
			}
		}
	}
}

// reasonsOf are those of the whole text and of all commands in it.
func reasonsOf(plan approval.Plan) (list []approval.Reason) {
	for _, f := range plan.Findings {
		list = append(list, f.Reason)
	}
	for _, s := range plan.Segments {
		for _, f := range s.Findings {
			list = append(list, f.Reason)
		}
	}
	return list
}

// A command of a text that became final is judged by the folder that the text was.
func TestFinalInFolder(t *testing.T) {
	a := invented()
	plan := a.Analyze(t.Context(), bash("touch main.go"), approval.Folder{})
	for _, folder := range []approval.Folder{{}, approvaltest.Named("/home/ann/p")} {
		plan.Folder = folder
		final := a.Final(t.Context(), &plan, &plan.Segments[0], []string{"mkdir", "x"}, "/home/ann/p")
		if got := len(reasonsOf(final)) == 0; got != (folder.Path != "") {
			t.Errorf("%+v: %v", folder, reasonsOf(final))
		}
	}
}
