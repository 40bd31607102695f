package command_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
)

// Names that a program makes up may be those of links that the project brought:
// out of the working directory, to nothing yet, or into git's own folder.
func TestDerivedNames(t *testing.T) {
	tests := []struct {
		command string
		links   string // name -> target, in the working directory
		asks    bool
	}{
		{"split big.txt", "xaa -> /home/ann/.bashrc", true},
		{"split big.txt", "xab -> /home/ann/none", true},
		{"split big.txt", "yab -> /home/ann/none", false},
		{"split big.txt", "xab -> src/a.c", false},
		{"split big.txt", "xdocs -> /home/ann/folder", false}, // a folder is no file
		{"split big.txt", "xab -> .git/config", true},
		{"split big.txt part-", "part-aa -> /home/ann/.bashrc", true},
		{"split big.txt part-", "xaa -> /home/ann/.bashrc", true}, // more than it must
		{"split big.txt src/p", "src/paa -> /home/ann/.bashrc", true},
		{"split big.txt", "XAA -> /home/ann/.bashrc", true}, // disks may take the cases for one
		{"csplit big.txt 10", "xx00 -> /home/ann/.bashrc", true},
		{"csplit -f q big.txt 10", "q00 -> /home/ann/.bashrc", true},
		{"gzip big.txt", "big.txt.gz -> /home/ann/.bashrc", true},
		{"gzip -c big.txt", "big.txt.gz -> /home/ann/.bashrc", false},
		{"gzip big.txt", "other.gz -> /home/ann/.bashrc", false},
		{"gunzip big.tgz", "big.tar -> /home/ann/none", true},
		{"gzip src/a.c", "src/a.c.gz -> /home/ann/.bashrc", true},
		{"zstd big.txt", "big.txt.zst -> /home/ann/.bashrc", true},
		{"zstd -d big.zst", "big -> /home/ann/.bashrc", true},
		{"xz -k big.txt", "big.txt.xz -> /home/ann/none", true},
		{"bunzip2 big", "big.out -> /home/ann/none", true},
		{"zip out src", "out.zip -> /home/ann/.bashrc", true},
		{"7z a out src", "out.7z -> /home/ann/.bashrc", true},
		{"gcc src/a.c", "a.out -> /home/ann/.bashrc", true},
		{"gcc -c src/a.c", "a.o -> /home/ann/none", true},
		{"gcc -c src/a.c", "b.o -> /home/ann/none", false},
		{"rustc main.rs", "libmain.rlib -> /home/ann/none", true},
		{"rustc --out-dir out main.rs", "out/main -> /home/ann/.bashrc", true},
		{"javac -d out src/Main.java", "out/Main.class -> /home/ann/none", true},
		{"tsc src/a.ts", "src/a.js -> /home/ann/none", true},
		{"git format-patch -1", "0001-x.patch -> /home/ann/.bashrc", true},
		{"git format-patch -v2 -1", "v2-0001-x.patch -> /home/ann/.bashrc", true},
		{"git format-patch -o out -1", "out/0001-x.patch -> /home/ann/none", true},
		{"git -C src format-patch -1", "src/0001-x.patch -> /home/ann/none", true},
		{"git clone https://x.example/y.git", "y -> /home/ann/folder", true},
		{"go build .", "p -> /home/ann/.bashrc", true},
		{"go build ./...", "go.sum -> /home/ann/none", true},
		{"go mod tidy", "go.mod -> /home/ann/.bashrc", true},
		{"go vet ./...", "p -> /home/ann/.bashrc", false},
		{"cargo build", "target -> /home/ann/folder", true},
		{"cargo build", "docs -> /home/ann/folder", false},
		{"cargo test", "Cargo.lock -> /home/ann/.bashrc", true},
		{"npm ci", "node_modules -> /home/ann/folder", true},
		{"npm test", "node_modules -> /home/ann/folder", false},
		{"npm pack", "x-1.tgz -> /home/ann/none", true},
		{"nohup tool", "nohup.out -> /home/ann/.bashrc", true},
		{"npm install", "package-lock.json -> /home/ann/none", true},
		{"go mod vendor", "vendor -> /home/ann/folder", true},
		{"go test -c .", "p.test -> /home/ann/none", true},
		{"swift build", ".build -> /home/ann/folder", true},
		// Names that a word tells are looked at themselves.
		{"gcc -o prog src/a.c", "prog -> /home/ann/.bashrc", true},
		{"tar -xf a.tar -C out", "out/x -> /home/ann/none", true},
		{"unzip -o a.zip -d out", "out/x -> /home/ann/none", true},
		{"tee log", "log -> /home/ann/none", true},
	}
	programs := "/usr/bin/tool"
	for _, test := range tests {
		programs += " /usr/bin/" + strings.Fields(test.command)[0]
	}
	for _, test := range tests {
		for _, link := range []string{test.links, ""} {
			world := approvaltest.NewWorld(programs + ` /home/ann/.bashrc /home/ann/folder/x /home/ann/p/big.txt /home/ann/p/big.tgz
				/home/ann/p/big.zst /home/ann/p/src/a.c /home/ann/p/src/a.ts /home/ann/p/src/Main.java /home/ann/p/main.rs /home/ann/p/out/y /home/ann/p/.git/config /home/ann/p/.git/HEAD`)
			world.Files["/home/ann/p/a.tar"] = approvaltest.File{Mode: 0o644, UID: 500, Text: tarOf(t, false, "y")}
			world.Files["/home/ann/p/a.zip"] = approvaltest.File{Mode: 0o644, UID: 500, Text: zipOf(t, "y")}
			if link != "" {
				name, to, _ := strings.Cut(link, " -> ")
				if !strings.HasPrefix(to, "/") {
					to = "/home/ann/p/" + to
				}
				world.Links["/home/ann/p/"+name] = to
			}
			a := &command.Analyzer{World: world, Home: "/home/ann", UID: 500}
			a.SetPath([]string{"/usr/bin"})
			plan := a.Analyze(t.Context(), &approval.Request{Command: strings.Fields(test.command), Cwd: "/home/ann/p", Who: approval.Ours}, approvaltest.Named("/home/ann/p"))
			if asks := len(plan.Segments[0].Findings) > 0; asks != (test.asks && link != "") || plan.Segments[0].Program == nil {
				t.Errorf("%s with %q: %v", test.command, link, plan.Segments[0].Findings)
			} else if asks && !slices.Contains(reasons(plan.Segments[0].Findings), approval.ReasonOutsideFolder) {
				t.Errorf("%s with %q: %v", test.command, link, plan.Segments[0].Findings)
			}
		}
	}
}
