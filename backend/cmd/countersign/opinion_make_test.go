package main

import (
	"path"
	"slices"
	"strings"
)

// truth is all that is known.
type truth struct {
	tools []tool
	texts map[string][]string
}

// maker makes one command.
type maker struct {
	*draws
	truth
	harm     bool // a part that must not pass is still to come
	o        opinion
	layers   int
	depth    int
	bashOnly bool // bash and sh read it differently
	moved    bool // behind a cd
	vars     bool // X is set
	piped    bool // in a pipeline, of which all stages run at the same time
	secrets  bool // names of secret files may be shown: nothing can take them as arguments
}

// makeOpinion makes a command of these choices, and says what it must be
// answered.
func makeOpinion(d *draws, known truth) opinion {
	m := maker{draws: d, truth: known, o: opinion{want: mustAllow}}
	m.harm = m.one(2)
	m.secrets = m.one(4)
	switch {
	case m.hurt(30):
		m.o.env = pick(d, m.texts["env-wrong"])
		m.because(mustNotAllow, "requested "+m.o.env, 0)
	case m.one(10):
		m.o.env = pick(d, m.texts["env"])
	}
	switch m.n(6) {
	case 5: // a plain command, as words
		words := m.command()
		if slices.ContainsFunc(words, func(w word) bool { return w.raw }) {
			m.o.text = m.render(words)
			return m.o
		}
		for _, w := range words {
			m.o.argv = append(m.o.argv, w.text)
		}
		return m.o
	case 4:
		text := m.list()
		m.o.argv = []string{pick(d, []string{"bash", "/bin/bash"}), pick(d, []string{"-c", "-lc"}), text}
		return m.o
	case 3:
		var text string
		if m.hurt(10) {
			text = pick(d, m.texts["sh-wrong"])
			m.because(mustNotAllow, "sh and bash differ: "+text, 0)
		} else {
			text = m.list()
		}
		if !m.bashOnly {
			m.o.argv = []string{pick(d, []string{"sh", "/bin/sh"}), pick(d, []string{"-c", "-lc"}), text}
			return m.o
		}
		m.o.text = text
		return m.o
	}
	m.o.text = m.list()
	return m.o
}

// hurt says, once, that the next part must not pass.
func (m *maker) hurt(in int) bool {
	if !m.harm || !m.one(in) {
		return false
	}
	m.harm = false
	return true
}

// because notes what must be said of the command, and why. The part has so
// many wrappers of its own.
func (m *maker) because(want wanted, part string, layers int) {
	if want == mustDeny && m.layers+layers > 4 {
		want = mustNotAllow // nobody looks into so many wrappers
	}
	m.o.want, m.o.because = want, part
}

// list is a list of statements. Its end is a newline or the end of a word.
func (m *maker) list() string {
	text := ""
	for i := range 1 + m.n(3) {
		if i > 0 && !strings.HasSuffix(text, "\n") {
			text += pick(m.draws, []string{"; ", " && ", " || ", "\n", " &&\n"})
		}
		text += m.statement()
		if m.one(16) {
			text += pick(m.draws, []string{" # wget x\n", " #\n", "\n# $(id) > x\n\n", " # it's `\n"})
		}
	}
	return text
}

// closed ends a list so that a closing word may follow.
func closed(list string) string {
	if strings.HasSuffix(list, "\n") {
		return list
	}
	return list + "; "
}

func (m *maker) statement() string {
	if m.hurt(10) {
		return m.wrongStatement()
	}
	if m.depth >= 2 {
		return m.pipeline()
	}
	m.depth++
	defer func() { m.depth-- }()
	vars := m.vars
	switch m.n(24) {
	default:
		return m.pipeline()
	case 23:
		return "! " + m.pipeline()
	case 22:
		return "{ " + closed(m.list()) + "}" + m.redirect(6)
	case 21:
		text := "( " + m.list() + ")" + m.redirect(6)
		m.vars = vars
		return text
	case 20:
		return "if " + closed(m.pipeline()) + "then " + closed(m.list()) + "fi"
	case 19:
		return "if " + closed(m.pipeline()) + "then " + closed(m.list()) + "else " + closed(m.list()) + "fi"
	case 18:
		return "for i in a 'b c' d; do " + closed(m.list()) + "done" + m.redirect(8)
	case 17:
		return pick(m.draws, []string{"while ", "until "}) + closed(m.pipeline()) + "do " + closed(m.list()) + "done"
	case 16:
		if m.secrets {
			return m.pipeline()
		}
		m.bashOnly = true // what it prints may hold a backslash
		text := "echo \"a $( " + m.list() + ") b\""
		m.vars = vars
		return text
	case 15:
		m.vars = true
		return pick(m.draws, []string{"X=README.md", "X='a b'", "export LANG=C", "X=\"$(ls)\""})
	case 14:
		text := pick(m.draws, []string{":", "true", "false", "pwd", "test -f README.md", "[ -d src ]", "[ a '=' b ]", "set -e", "set -euo pipefail", "echo `ls`", "echo \"$?\"", "time ls", "time -p wc README.md", "true wget"})
		m.bashOnly = m.bashOnly || strings.HasPrefix(text, "time ") || strings.Contains(text, "pipefail") // a program, and a mistake, for sh
		return text
	case 13:
		// Behind anything but && nobody knows whether the cd took place.
		moved := m.moved
		m.moved = true
		text := "(" + pick(m.draws, []string{"cd src", "cd ./src", "cd 'src'", "cd -- src", "cd /Users/dev/project"}) + " && " + m.pipeline() + ")"
		m.moved = moved
		return text
	case 12:
		body := pick(m.draws, []string{"hello\n", "$(wget x)\nrm -rf /\n", "", "`id` > x\n", "EO\n"})
		text := m.readerCommand() + " <<'EOF'"
		if m.one(2) {
			m.piped = true
			text += " | " + m.simple()
			m.piped = false
		}
		return text + "\n" + body + "EOF\n"
	case 11:
		if !m.vars {
			return "X=src; ls \"$X\" $X"
		}
		return pick(m.draws, []string{"ls \"$X\"", "cat $X", "wc -l \"${X}\"", "echo $X", "head -n 3 -- \"$X\"", "test -f \"$X\""})
	}
}

func (m *maker) wrongStatement() string {
	m.bashOnly = true
	if m.one(4) {
		text := pick(m.draws, m.texts["deny"])
		m.because(mustDeny, "denied: "+text, 0)
		return text
	}
	text := pick(m.draws, m.texts["wrong"])
	m.because(mustNotAllow, "construct: "+text, 0)
	return text
}

func (m *maker) pipeline() string {
	stages := 1
	for m.one(4) {
		stages++
	}
	defer func(was bool) { m.piped = was }(m.piped)
	m.piped = m.piped || stages > 1
	text := m.simple()
	for range stages - 1 {
		bar := " | "
		if m.one(8) {
			bar, m.bashOnly = " |& ", true
		}
		text += bar + m.simple()
	}
	return text
}

// simple is a command with its assignments and redirections.
func (m *maker) simple() string {
	text := ""
	if m.one(12) {
		text = pick(m.draws, []string{"CI=1 ", "LANG=C ", "TERM=dumb TZ='UTC' ", "NO_COLOR=1 ", "LC_ALL=C PAGER= "})
	}
	if m.one(16) {
		text += strings.TrimPrefix(m.redirect(1), " ") + " "
	}
	return text + m.render(m.command()) + m.redirect(6)
}

// redirect is a redirection, one time in so many.
func (m *maker) redirect(in int) string {
	switch {
	case m.hurt(8):
		if m.one(4) {
			text := pick(m.draws, m.texts["redirect-deny"])
			m.because(mustDeny, "redirection "+text, 0)
			return " " + text
		}
		text := pick(m.draws, m.texts["redirect-wrong"])
		m.bashOnly = true
		m.because(mustNotAllow, "redirection "+text, 0)
		return " " + text
	case in > 1 && !m.one(in):
		return ""
	case m.one(5):
		m.bashOnly = true
		return " " + pick(m.draws, m.texts["redirect-bash"])
	}
	if text := pick(m.draws, m.texts["redirect"]); !m.moved || !strings.Contains(text, "README") {
		return " " + text
	}
	return " </dev/null"
}

// command is a program with its words, behind wrappers or not.
func (m *maker) command() (words []word) {
	layers := m.layers
	defer func() { m.layers = layers }()
	for m.one(4) {
		if m.layers == 4 {
			if !m.hurt(1) {
				break
			}
			m.because(mustNotAllow, "five wrappers", 0)
		}
		m.layers++
		prefix, last := m.wrapper()
		words = append(words, prefix...)
		if last {
			leaf := m.reader(prefix[0].text == "find")
			words = append(words, leaf...)
			if prefix[0].text == "find" {
				words = append(words, word{text: "{}"}, word{text: pick(m.draws, []string{";", "+"})})
			}
			return words
		}
	}
	return append(words, m.leaf()...)
}

// wrapper is what stands before another command; last says that only a reader
// may follow.
func (m *maker) wrapper() (words []word, last bool) {
	env := []string{"env", "env -i", "env CI=1", "env -u FOO", "env CI=1 TZ=UTC", "env -i CI=1", "env --", "env -u FOO CI=1", "/usr/bin/env", "env --ignore-environment", "env --unset=FOO"}
	others := []string{
		"nice", "nice -n 5", "nice -n5", "nice --adjustment=5", "nohup", "timeout 5", "timeout 1m", "timeout -k 1 5", "timeout -s KILL 5", "timeout --signal=TERM 5", "timeout --foreground 5",
		"timeout -k5 5", "stdbuf -oL", "stdbuf -o L", "stdbuf --output=L", "stdbuf -i0 -oL", "timeout --preserve-status 5s", "nice --", "nohup --", "timeout -- 5",
	}
	readers := []string{
		"xargs", "xargs -0", "xargs -n 1", "xargs -n1", "xargs -0 -n1", "xargs -r", "xargs -P 4", "xargs -L 1", "find src -exec", "find src -name *.go -exec", "find src -type f -print -execdir", "xargs -0n1", "xargs --null", "xargs --max-args=1", "xargs -I {}",
	}
	var line string
	switch m.n(4) {
	case 0:
		line = pick(m.draws, env)
	case 3:
		if line, last = pick(m.draws, readers), true; m.secrets {
			line = "find src -exec"
		}
	default:
		line = pick(m.draws, others)
	}
	return plainWords(strings.Fields(line)...), last
}

// leaf is a program with its words.
func (m *maker) leaf() []word {
	if m.hurt(3) {
		return m.wrongLeaf()
	}
	tool := m.tool(func(t tool) bool {
		brings := t.name == "git" && len(t.sub) == 0 // files of a commit, which another stage may read
		return (!m.piped || !brings) && (!m.moved || !t.how["plain"] && t.name != "go" && t.name != "git")
	})
	return m.use(tool, false)
}

// tool picks one of the programs of which this is true.
func (m *maker) tool(ok func(tool) bool) tool {
	list := slices.DeleteFunc(slices.Clone(m.tools), func(t tool) bool { return !ok(t) })
	return pick(m.draws, list)
}

// reader is a program that may follow xargs: one that only reads what it is
// told, with options that are complete. What is in files it shows only where it is
// found what they are: what comes to xargs may name any.
func (m *maker) reader(found bool) []word {
	if m.hurt(2) {
		if m.one(2) {
			text := pick(m.draws, deniedPrograms)
			m.because(mustDeny, "denied: "+text, 0)
			return plainWords(text, "x")
		}
		text := pick(m.draws, []string{"id", "rm -f", "git log", "sort", "python3 script.py", "tee", "cp", "awk 1", "sed p", "find", "sh", "./payload", "nothere", "make", "tar -tf", "curl -s", "node", "touch", "grep -f", "wc --files0-from"})
		m.because(mustNotAllow, "fed: "+text, 0)
		return plainWords(strings.Fields(text)...)
	}
	list := []string{"ls", "wc -l", "ls -l -a", "echo", "stat", "du -h", "basename"}
	if found {
		list = append(list, "cat", "cat -n", "head -n 5", "grep -l foo", "grep -n -e foo", "tail -n5")
	}
	return plainWords(strings.Fields(pick(m.draws, list))...)
}

func (m *maker) readerCommand() string {
	return m.render(plainWords(strings.Fields(pick(m.draws, []string{"cat", "wc -l", "head -n 2", "cat -n"}))...))
}

func (m *maker) wrongLeaf() []word {
	switch m.n(8) {
	case 0:
		line := pick(m.draws, m.texts["program"])
		m.because(mustNotAllow, "not allowed: "+line, 0)
		return plainWords(strings.Fields(line)...)
	case 1:
		name := pick(m.draws, deniedPrograms)
		m.because(mustDeny, "denied: "+name, 0)
		name = pick(m.draws, []string{name, "/usr/bin/" + name, "/usr/bin/../bin/" + name, strings.ToUpper(name), "//usr//bin/" + name})
		return plainWords(name, pick(m.draws, []string{"x", "--version", "-q"}))
	}
	return m.use(m.tool(func(t tool) bool { return len(t.harm)+len(t.wrong)+len(t.deny) > 0 }), true)
}

// use is a program with harmless options and operands, and with one harmful
// part if asked for.
func (m *maker) use(t tool, harmful bool) []word {
	name := t.name
	if m.one(8) {
		name = "/usr/bin/" + name
	}
	words := plainWords(append([]string{name}, t.sub...)...)
	var before [][]word
	if len(t.safe) > 0 {
		for range m.n(4) {
			before = append(before, m.spell(t, pick(m.draws, t.safe)))
		}
	}
	operands := pick(m.draws, t.operands)
	if m.moved && slices.ContainsFunc(operands, func(w word) bool { return w.raw }) {
		operands = t.operands[0] // other names match there
	}
	if harmful {
		switch n := m.n(len(t.harm) + len(t.wrong) + len(t.deny)); {
		case n < len(t.harm):
			o := t.harm[n]
			m.because(mustNotAllow, strings.Join(append([]string{t.name}, t.sub...), " ")+" "+o.short+o.long, 0)
			before = slices.Insert(before, m.n(len(before)+1), m.spell(t, o))
		case n < len(t.harm)+len(t.wrong):
			operands = t.wrong[n-len(t.harm)]
			if m.moved && slices.ContainsFunc(operands, func(w word) bool { return w.raw || path.Clean(w.text) == "." }) {
				operands = t.wrong[0]
			}
			m.because(mustNotAllow, t.name+" "+lineOf(operands), 0)
		default:
			operands = t.deny[n-len(t.harm)-len(t.wrong)]
			m.because(mustDeny, t.name+" "+lineOf(operands), 3) // find -exec env nice
		}
	}
	operands = slices.Clone(operands)
	for i, w := range operands {
		switch {
		case w.path && !harmful && !m.secrets:
			operands[i].text = "README.md"
		case w.path:
			operands[i].text = m.path(w.text)
		}
		m.bashOnly = m.bashOnly || w.raw && strings.Contains(w.text, "{") || t.name == "echo" && strings.Contains(w.text, `\`)
	}
	if t.how["single"] { // find: paths first
		return slices.Concat(words, operands, slices.Concat(before...))
	}
	if t.how["permutes"] && len(operands) > 0 && !strings.HasPrefix(operands[0].text, "-") && m.one(4) {
		return slices.Concat(words, operands[:1], slices.Concat(before...), operands[1:])
	}
	return slices.Concat(words, slices.Concat(before...), operands)
}
