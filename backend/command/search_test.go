package command_test

import (
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
)

const activateText = "# from bash\ndeactivate () {\n  unset VIRTUAL_ENV\n}\nVIRTUAL_ENV=/home/ann/p/.venv\nexport VIRTUAL_ENV\nPATH=\"$VIRTUAL_ENV/bin:$PATH\"\nexport PATH\n"

// TestSearch: what a text adds to PATH has its known meaning where programs are started
// from these folders anyway, and an environment of Python of the project where it is
// activated; all else asks. The last program is found where want says, "" where the
// text asks.
func TestSearch(t *testing.T) {
	a := invented()
	world := a.World.(folders).World
	more := approvaltest.NewWorld(`/home/ann/.cargo/bin/ls /home/ann/.cargo/bin/cargo /home/ann/.bun/bin/bun /home/ann/tools/bin/ls /home/ann/other/.venv/bin/ls /opt/homebrew/opt/x/bin/ls
		/usr/local/go/bin/go /home/ann/p/.venv/bin/pytest /home/ann/p/.venv/bin/git /home/ann/p/node_modules/.bin/ls /home/ann/p/fake/bin/ls /tmp/x/ls /home/ann/.nvm/versions/node/v20.1.0/bin/node
		/home/ann/p/.venv/bin/python -> /usr/bin/python3.12
		/home/ann/.deno/bin -> /home/ann/p/fake/bin`)
	for name, file := range more.Files {
		file.UID = 500
		world.Files[name] = file
	}
	for name, to := range more.Links {
		world.Links[name] = to
	}
	put := func(name, text string) { world.Files[name] = approvaltest.File{Mode: 0o644, UID: 500, Text: text} }
	put("/home/ann/p/.venv/bin/activate", activateText)
	put("/home/ann/p/.venv/pyvenv.cfg", "home = /usr/bin\n")
	put("/home/ann/p/fake/bin/activate", "rm -rf ~\n")
	put("/home/ann/p/fake/pyvenv.cfg", "home = /usr/bin\n")
	put("/home/ann/p/bare/bin/activate", activateText)
	put("/home/ann/other/.venv/bin/activate", activateText)
	put("/home/ann/other/.venv/pyvenv.cfg", "home = /usr/bin\n")
	a.Temp = []string{"/tmp"}
	for _, row := range []struct{ text, want string }{
		{`export PATH="$HOME/.cargo/bin:$PATH"; ls`, "/home/ann/.cargo/bin/ls"},
		{`export PATH="/home/ann/.cargo/bin:$PATH" && ls`, "/home/ann/.cargo/bin/ls"},
		{`PATH="$HOME/.cargo/bin:$PATH"; ls`, "/home/ann/.cargo/bin/ls"},
		{`PATH=$HOME/.cargo/bin:$PATH; ls`, "/home/ann/.cargo/bin/ls"},
		{`PATH=~/.cargo/bin:${PATH}; ls`, "/home/ann/.cargo/bin/ls"},
		{`export PATH="$PATH:$HOME/.cargo/bin"; ls`, "/bin/ls"},
		{`export PATH="$PATH:$HOME/.cargo/bin"; cargo test`, "/home/ann/.cargo/bin/cargo"},
		{`export PATH="$HOME/.bun/bin:$HOME/.cargo/bin:$PATH"; ls`, "/home/ann/.cargo/bin/ls"},
		{`export PATH="$HOME/.bun/bin:$PATH"; export PATH="$HOME/.cargo/bin:$PATH"; ls`, "/home/ann/.cargo/bin/ls"},
		{`export PATH="$HOME/.nvm/versions/node/v20.1.0/bin:$PATH"; node x`, "/home/ann/.nvm/versions/node/v20.1.0/bin/node"},
		{`export PATH="/opt/homebrew/opt/x/bin:$PATH"; env ls`, "/opt/homebrew/opt/x/bin/ls"},
		{`(export PATH="$HOME/.cargo/bin:$PATH"); ls`, "/bin/ls"},
		{`PATH="$HOME/.cargo/bin:$PATH" | cat; ls`, "/bin/ls"},
		// Folders in which an agent may write, that others own, or that nobody knows.
		{`export PATH="$HOME/tools/bin:$PATH"; ls`, ""},
		{`export PATH="/home/ann/p/fake/bin:$PATH"; ls`, ""},
		{`export PATH="$PWD/node_modules/.bin:$PATH"; ls`, ""},
		{`export PATH="./fake/bin:$PATH"; ls`, ""},
		{`export PATH=".:$PATH"; ls`, ""},
		{`export PATH=":$PATH"; ls`, ""},
		{`export PATH="$PATH:"; ls`, ""},
		{`export PATH="/tmp/x:$PATH"; ls`, ""},
		{`export PATH="/open:$PATH"; ls`, ""},
		{`export PATH="/other:$PATH"; ls`, ""},
		{`export PATH="$HOME/.deno/bin:$PATH"; ls`, ""},
		{`export PATH="$HOME/.cargo/../tools/bin:$PATH"; ls`, ""},
		{`export PATH="$HOME/nothing/bin:$PATH"; ls`, ""},
		{`export PATH="$HOME/.cargo/bin"; ls`, ""},
		{`export PATH="$PATH:$PATH"; ls`, ""},
		{`export PATH='$HOME/.cargo/bin:$PATH'; ls`, ""},
		{`export PATH="$X:$PATH"; ls`, ""},
		{`export PATH="$(pwd):$PATH"; ls`, ""},
		{`export PATH="~/.cargo/bin:$PATH"; ls`, ""},
		{`PATH+=":$HOME/.cargo/bin"; ls`, ""},
		{`PATH="$HOME/.cargo/bin:$PATH" ls`, "/home/ann/.cargo/bin/ls"},
		{`PATH="$HOME/.cargo/bin:$PATH" ls; ls`, "/bin/ls"},
		{`A=1 PATH="$HOME/.cargo/bin:$PATH" env ls`, "/home/ann/.cargo/bin/ls"},
		{`PATH="$HOME/tools/bin:$PATH" ls`, ""},
		{`PATH="$HOME/.cargo/bin" ls`, ""},
		{`PATH="$HOME/.cargo/bin:$PATH" echo a`, ""},
		{`PATH="$HOME/.cargo/bin:$PATH" command -v ls`, ""},
		{`ls && export PATH="$HOME/.cargo/bin:$PATH" && ls`, "/home/ann/.cargo/bin/ls"},
		{`ls && export PATH="$HOME/.cargo/bin:$PATH" || ls`, ""},
		{`export PATH="$HOME/.cargo/bin:$PATH" || ls`, "/home/ann/.cargo/bin/ls"},
		{`! { ls && export PATH="$HOME/.cargo/bin:$PATH"; } && ls`, ""},
		{`Path="$HOME/.cargo/bin:$PATH"; ls`, ""},
		{`ls; false && export PATH="$HOME/.cargo/bin:$PATH"; ls`, ""},
		{`if ls; then export PATH="$HOME/.cargo/bin:$PATH"; fi; ls`, ""},
		{`for f in a b; do export PATH="$HOME/.cargo/bin:$PATH"; ls; done`, ""},
		{`export PATH="$HOME/.cargo/bin:$PATH"; command -v ls`, ""},
		// Environments of Python.
		{`source .venv/bin/activate; pytest`, "/home/ann/p/.venv/bin/pytest"},
		{`source .venv/bin/activate && pytest -q | head`, "/usr/bin/head"},
		{`. .venv/bin/activate && pytest`, "/home/ann/p/.venv/bin/pytest"},
		{`. /home/ann/p/.venv/bin/activate; python run.py`, "/usr/bin/python3.12"},
		{`cd sub && . ../.venv/bin/activate && pytest`, "/home/ann/p/.venv/bin/pytest"},
		{`source .venv/bin/activate; ls; cat main.go`, "/bin/cat"},
		{`(source .venv/bin/activate); pytest`, ""},
		{`source .venv/bin/activate; make`, "/usr/bin/make"},
		{`source .venv/bin/activate; curl http://localhost`, "/usr/bin/curl"},
		{`source .venv/bin/activate; tool x`, ""},
		{`source .venv/bin/activate x; pytest`, ""},
		{`source .venv/bin/activate > log; pytest`, ""},
		{`source fake/bin/activate; ls`, ""},
		{`source bare/bin/activate; ls`, ""},
		{`source ../other/.venv/bin/activate; ls`, ""},
		{`source activate; ls`, ""},
		{`source $x/bin/activate; ls`, ""},
		{`source run.sh; ls`, ""},
		{`source .venv/bin/../bin/activate; ls`, ""},
		{`cat main.go || source .venv/bin/activate; pytest`, ""},
		{`bash -c 'source .venv/bin/activate; pytest'`, ""},
	} {
		plan := a.Analyze(t.Context(), bash(row.text), approvaltest.Named("/home/ann/p"))
		got := ""
		if plan.Root != nil && len(plan.Findings) == 0 {
			last := plan.Segments[len(plan.Segments)-1]
			for _, s := range plan.Segments {
				for _, f := range s.Findings {
					if f.Allowed == "" && f.Reason != approval.ReasonInlineCode {
						last.Program = nil
					}
				}
			}
			if last.Program != nil {
				got = last.Program.File.Path
			}
		}
		if got != row.want {
			t.Errorf("%s: %q, want %q: %s", row.text, got, row.want, show(plan))
		}
		theirs := bash(row.text)
		theirs.Who = approval.Theirs
		if plan := a.Analyze(t.Context(), theirs, approvaltest.Named("/home/ann/p")); plan.Root != nil && strings.Contains(row.text, "PATH=") {
			t.Errorf("%s: passes where another shell runs it", row.text)
		}
	}
	// No entry for a bare name is about a program of the project.
	plan := a.Analyze(t.Context(), bash("source .venv/bin/activate; pytest"), approvaltest.Named("/home/ann/p"))
	if s := plan.Segments[1]; s.Program.Bare || s.Search.Venv != "/home/ann/p/.venv" {
		t.Errorf("%+v, %+v", s.Program, s.Search)
	}
	// What a command became is found in the same folders.
	now := a.Final(t.Context(), &plan, &plan.Segments[1], []string{"pytest", "x"}, "/home/ann/p")
	if !now.Segments[0].Program.Same(plan.Segments[1].Program) {
		t.Errorf("%+v", now.Segments[0].Program)
	}
}
