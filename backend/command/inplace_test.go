//go:build linux || darwin

package command_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

// TestInPlace: which files sed -i may edit under an entry, by the words as GNU's and as
// BSD's sed read them.
func TestInPlace(t *testing.T) {
	const project, temp, never = "writes-project", "writes-temp", "never"
	b := newOutputsBench(t)
	for _, name := range []string{"home/p/web.go", "home/p/README.md", "home/p/wx", "home/p/src/a.go", "home/p/rx", "home/p/s,a,b,", "home/p/s.a.b.w", "home/p/two words", "home/p/-e", "home/p/f.sed", "home/p/w.sed"} {
		b.put(name, "text\n", 0o644)
	}
	b.put("home/p/f.sed", "s/a/b/\n", 0o644)
	b.put("home/p/w.sed", "w new\n", 0o644)
	b.put("home/p/Makefile", "all:\n", 0o644)
	b.must(os.MkdirAll(b.at("home/p/files#a#b#;#"), 0o755))
	for _, row := range []struct{ text, want string }{
		// As each writes them.
		{"sed -i s/a/b/ file", project}, {"sed -i 's/a/b/' ./file", project}, {"sed -i -e s/a/b/ file", project}, {"sed -i -e s/a/b/ -e p file dir/file", never}, {"sed -i'' -e s/a/b/ -e p file", never}, {"sed -i.bak -e s/a/b/ -e p file dir/file", project}, {"sed -E -i s/a/b/ file", project}, {"sed -Ei s/a/b/ file", project},
		{"sed --in-place s/a/b/ file", project}, {"sed --in-place=.bak s/a/b/ file", project}, {"sed -i.bak s/a/b/ file", project}, {"sed -i.bak -e s/a/b/ file dir/file", project}, {"sed -i~ s/a/b/ file", project}, {"sed -ni p file", project}, {"sed -n -i p file", project},
		{"sed -i '' s/a/b/ file", project}, {"sed -i '' 's|/a|/b|' file dir/file", project}, {`sed -i "" -e s/a/b/ file`, project}, {"sed -i '' -E 's/(a|b)/c/' file", project}, {"sed -E -i '' s/a/b/ file", project}, {"sed -i '' /x/d file", project}, {"sed -i '' '1i\\\nx' file", project},
		{"sed -i 1d README.md", project}, {"sed -i 1d src/a.go", project}, {"sed -i 1d file README.md", project}, {"sed -i 1d *.md", project}, {"sed -i 1d 'two words'", never}, {"sed -i '' 1d 'two words'", project}, {"sed -i -f f.sed file", project}, {"sed -i '' -f f.sed file", project},
		{"cd dir && sed -i s/a/b/ ../file", project}, {"cd dir && sed -i '' s/a/b/ file", project}, {"sed -i s/a/b/ HOME/p/file", never}, {"sed -i '' s/a/b/ HOME/p/file", project}, {"sed -i -e s/a/b/ HOME/p/file", project}, {"env sed -i s/a/b/ file", project},
		{"cp file new && sed -i s/a/b/ new", project}, {"cp file new && sed -i '' s/a/b/ new", project}, {"ls > new && sed -i '' s/a/b/ new", project},
		{"sed -i '' s/a/b/ TMP/mine", temp}, {"sed -i -e s/a/b/ TEMP/mine", temp}, {"sed -i '' s/a/b/ TMP/mine file", project + " " + temp}, {"sed -i.bak -e s/a/b/ TMP/mine", temp}, {"sed -i '' s/a/b/ TMP/theirs", never}, {"sed -i '' s/a/b/ TMP/link", never}, {"sed -i '' s/a/b/ TMP/clone/file", never},
		// What is a script to one and a file to the other.
		{"sed -i s/a/b/ wx", never}, {"sed -i -- s/a/b/ wx", project}, {"sed -i s/a/b/ web.go", never}, {"sed -i '' s/a/b/ web.go", project}, {"sed -i s/a/b/ web.go file", never}, {"sed -i s/a/b/ rx file", never}, {"sed -i s/a/b/ rx", project}, {"sed -i s/a/b/ README.md file", never}, {"sed -i s/a/b/ s.a.b.w", never},
		{"sed -i '' s,a,b, file", project}, {"sed -n -i '' s,a,b, file", never}, {"sed -n -i '' /x/p file", never}, {"sed -i '' link file", never}, {"sed -i '' HOME/other/file file", never}, {"sed -i '' .env file", never},
		{"sed -i 's#a#b#;#/../../../x' file", project}, {"sed -i 's#a#b#;#/../../../x' file dir/file", never}, {"sed -i 's#a#b#;#/x' file file", project}, {"sed -i s/a/b/ file -e p", never}, {"sed -i x '' -e p file", never}, {"sed -i '' '' -e p file", never}, {"sed s/a/b/ -i file", never}, {"sed -i '' s/a/b/ file -e", never}, {"sed -i '' s/a/b/ -- -e", never},
		{"sed -i s/a/b/ 'a{b'", never}, {"sed -i '' 'a{b' file", project}, {"sed -i .bak s/a/b/ file", never}, {"sed -i -n p file", project}, {"sed -i -i s/a/b/ file", never}, {"sed -I '' s/a/b/ file", never}, {"sed -i", never}, {"sed -i ''", never}, {"sed -i s/a/b/", never}, {"sed -i '' s/a/b/", never},
		// Scripts that start, write or read.
		{"sed -i '1e id' file", never}, {"sed -i '' '1e id' file", never}, {"sed -i s/a/id/e file", never}, {"sed -i '' 'w new' file", never}, {"sed -i s/a/b/w.x file", never}, {"sed -i '' 'r /etc/passwd' file", never}, {"sed -i '' -e 'R x' file", never}, {"sed -i -e p -e 'W x' file", never}, {"sed -i -f w.sed file", never}, {"sed -i '' -f none.sed file", never},
		{"sed -i -e 'w new' file", never}, {"sed -i -f file", never}, {"sed -i '' -fw.sed file", never},
		// Suffixes that lead elsewhere, or to what starts programs.
		{"sed -i'*.bak' s/a/b/ file", never}, {"sed -i'dir/*' s/a/b/ file", never}, {"sed -i/x s/a/b/ file", never}, {"sed -i../x -e p file", never}, {"sed --in-place='bak_*' -e p file", never}, {"sed -irc -e p .env", never}, {"sed -irc -e p .npm", never}, {"sed -irc -e p .npx", project}, {"sed -iv -e p .en", never}, {"sed -i.py -e p run", project},
		// What no redirection may write.
		{"sed -i s/a/b/ link", never}, {"sed -i '' s/a/b/ outlink", never}, {"sed -i '' s/a/b/ linkdir/file", never}, {"sed -i '' s/a/b/ outdir/file", never}, {"sed -i '' s/a/b/ one", never}, {"sed -i '' s/a/b/ hard", never}, {"sed -i '' s/a/b/ prog", never}, {"sed -i '' s/a/b/ fifo", never}, {"sed -i '' s/a/b/ dir", never}, {"sed -i '' s/a/b/ ../other/file", never},
		{"sed -i '' s/a/b/ .env", never}, {"sed -i '' s/a/b/ key", never}, {"sed -i '' s/a/b/ .git/config", never}, {"sed -i '' s/a/b/ sub/.git/HEAD", never}, {"sed -i '' s/a/b/ HOME/.bashrc", never}, {"sed -i '' s/a/b/ STATE/policy.json", never}, {"sed -i '' s/a/b/ bin/there", never}, {"sed -i '' s/a/b/ .vscode/tasks.json", never}, {"sed -i '' s/a/b/ file link", never}, {"sed -i '' s/a/b/ /etc/passwd", never}, {"sed -i '' s/a/b/ dir/../file", never},
		// Names that only the run can tell, and other programs that name them.
		{"sed -i s/a/b/ $x", never}, {"sed -i '' s/$x/b/ file", never}, {"sed -i$x s/a/b/ file", never}, {"f=file; sed -i '' s/a/b/ \"$f\"", never}, {"sed -i '' s/a/b/ $(ls)", never}, {"ls | xargs sed -i s/a/b/", never}, {"find . -name '*.go' -exec sed -i s/a/b/ {} +", never}, {"sed -i '' s/a/b/ {file,link}", never}, {"cd $x; sed -i '' s/a/b/ file", never},
		// What may write the script meanwhile.
		{"git merge x & sed -f f.sed file", never}, {"git merge x | sed -f f.sed file", never}, {"sed -f f.sed file & git pull", never}, {"git log & sed -f f.sed file", ""}, {"git diff | sed -f f.sed file", ""}, {"kubectl frob & sed -f f.sed file", never},
		// What the same text starts.
		{"sed -i s/a/b/ run.py; python3 run.py", never}, {"sed -i '' s/a/b/ run.py; python3 run.py", never}, {"sed -i '' s/a/b/ Makefile && make", never}, {"sed -i s/a/b/ Makefile; make", never}, {"sed -i '' s/a/b/ p.awk; awk -f p.awk file", never}, {"awk -f p.awk file; sed -i '' s/a/b/ p.awk", never}, {"sed -i '' s/a/b/ file; make", project}, {"sed -i '' s/a/b/ new; ./new", never}, {"cat run.py | sed -i '' s/a/b/ p.awk | awk -f p.awk file", never},
	} {
		for _, who := range []approval.Who{approval.Ours, approval.Theirs} {
			plan := b.plan("bash", row.text, who)
			if got := covers(plan); got != row.want && !(who == approval.Theirs && got == never) {
				t.Errorf("%.80q, %s: %q, want %q: %s", row.text, who, got, row.want, show(plan))
			}
		}
	}
}

// TestInPlaceReally: the sed of this machine changes no other file than those that the
// findings name.
func TestInPlaceReally(t *testing.T) {
	for _, text := range []string{"sed -i s/text/new/ file", "sed -i '' s/text/new/ file", "sed -i '' -e s/text/new/ file dir/file", "sed -i.bak s/text/new/ file", "sed -i -e s/text/new/ file", "sed -i 1d README.md", "sed -i '' 1d file README.md", "sed -i -n p file", "sed -i 's#text#b#;#/x' file", "sed -i '' 's|text|new|' file"} {
		b := newOutputsBench(t)
		b.put("home/p/README.md", "text\n", 0o644)
		plan, before := b.plan("bash", text, approval.Ours), b.texts()
		run := exec.Command("bash", "-c", text)
		run.Dir = b.at("home/p")
		_ = run.Run() // one of the two readings is often an error
		named := ""
		for _, f := range plan.Segments[0].Findings {
			named += f.Sentence + "\n"
		}
		for name, now := range b.texts() {
			if before[name] != now && !strings.Contains(named, `"`+strings.TrimPrefix(name, "home/p/")+`"`) {
				t.Errorf("%s changes %s: %s", text, name, named)
			}
		}
	}
}

// texts are the files of the bench by their names.
func (b *outputsBench) texts() map[string]string {
	all := map[string]string{}
	out, err := exec.Command("find", b.top, "-type", "f", "-print").Output()
	b.must(err)
	for name := range strings.Lines(string(out)) {
		text, err := os.ReadFile(strings.TrimSuffix(name, "\n"))
		b.must(err)
		all[strings.TrimPrefix(strings.TrimSuffix(name, "\n"), b.top+"/")] = string(text)
	}
	return all
}
