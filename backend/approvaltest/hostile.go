package approvaltest

import (
	"fmt"
	"strings"
)

// shape is a part of a text that is repeated as often as it fits, with others
// before and behind.
type shape struct {
	name, before, part, after string
	// closing closes each part again, behind all of them.
	closing string
}

var shapes = []shape{
	{name: "commands", part: "ls;"},
	{name: "different commands", part: "c%d;"},
	{name: "words", before: "ls ", part: "a "},
	{name: "words that may be commands", before: "tool ", part: "rm "},
	{name: "options", before: "git log ", part: "-p "},
	{name: "letters of options", before: "sort -", part: "u"},
	{name: "pipeline", before: "ls", part: "|ls"},
	{name: "chain", before: "ls", part: "&&ls"},
	{name: "negation", part: "! "},
	{name: "subshells", part: "(", closing: ")"},
	{name: "groups", part: "{ ", before: "", after: "ls;", closing: "}"},
	{name: "substitutions", before: "ls ", part: "$(", after: "ls", closing: ")"},
	{name: "substitutions side by side", before: "ls ", part: "$(ls)"},
	{name: "quoted substitutions", before: "ls ", part: `"$(ls `, after: "a", closing: `)"`},
	{name: "back quotes", before: "ls ", part: "`"},
	{name: "parameter", before: "ls ", part: "${a:-", closing: "}"},
	{name: "parameters", before: "a=b;ls ", part: "$a"},
	{name: "variables that double", before: "a=aa;", part: "a=$a$a;"},
	{name: "loops that double", part: "for a in $a $a; do ", closing: "done;", after: "ls;"},
	{name: "loops", part: "for a in b; do ls $a; done;"},
	{name: "nested loops", part: "while ls; do ", after: "ls;", closing: "done;"},
	{name: "conditions", part: "if ls; then ", after: "ls;", closing: "fi;"},
	{name: "else", before: "if ls; then ls;", part: "elif ls; then ls;", after: "fi"},
	{name: "cases", part: "case a in a) ", after: "ls;", closing: ";; esac"},
	{name: "arithmetic", before: "ls ", part: "$((", after: "1", closing: "))"},
	{name: "sums", before: "ls $((1", part: "+1", after: "))"},
	{name: "parentheses in sums", before: "ls $((", part: "(", after: "1))", closing: ")"},
	{name: "subscripts", before: "ls $((", part: "a[", after: "1))", closing: "]"},
	{name: "braces", before: "ls ", part: "{a,b}"},
	{name: "nested braces", before: "ls ", part: "{a,", closing: "}"},
	{name: "long sequence", before: "ls ", part: "{1..9999}"},
	{name: "empty braces", before: "ls ", part: "{,,,,,,,,}"},
	{name: "stars", before: "ls ", part: "**a"},
	{name: "stars in names", before: "ls /", part: "*a"},
	{name: "folders of stars", before: "ls ", part: "/*"},
	{name: "patterns", before: "ls ", part: "* "},
	{name: "bracket", before: "ls ", part: "["},
	{name: "brackets", before: "ls ", part: "[a-z]"},
	{name: "extended patterns", before: "ls ", part: "+(a|"},
	{name: "here-documents", part: "cat <<E\na\nE\n"},
	{name: "here-documents in one line", before: "cat ", part: "<<E "},
	{name: "long here-document", before: "cat <<E\n", part: "$a\n", after: "E\n"},
	{name: "here-strings", before: "cat ", part: "<<<a "},
	{name: "redirections", before: "ls ", part: ">/dev/null "},
	{name: "input files", before: "ls ", part: "<a%d "},
	{name: "output files", before: "ls ", part: ">a%d "},
	{name: "output files of groups", part: "{ ", after: "ls;", closing: "} >a;"},
	{name: "commands that write", part: "ls >a%d;"},
	{name: "quotes", before: "ls ", part: `''`},
	{name: "one quote", before: "ls ", part: `'`},
	{name: "double quotes", before: "ls ", part: `"a"'b'`},
	{name: "escapes", before: "ls ", part: `\a`},
	{name: "C quotes", before: "ls ", part: `$'\x41'`},
	{name: "joined lines", before: "ls ", part: "a \\\n"},
	{name: "joined lines in quotes", before: "ls ", part: "\"a\\\nb\" "},
	{name: "joined lines between quotes", before: "ls ", part: "'a' \"b\" \\\n"},
	{name: "joiners in quotes", before: "ls ", part: "'é\u200cé' "},
	{name: "assignments", part: "A%d=b "},
	{name: "assigning", part: "a=b;"},
	{name: "folders", part: "cd a;"},
	{name: "folders up", before: "cd ", part: "../"},
	{name: "files", before: "cat ", part: "/a%d "},
	{name: "deep name", before: "cat ", part: "/a"},
	{name: "many dots", before: "cat ", part: "./"},
	{name: "links up", before: "rm ", part: "a/../"},
	{name: "wrappers", part: "env "},
	{name: "wrappers with variables", before: "env ", part: "A%d=b ", after: "ls"},
	{name: "finds", before: "find . ", part: `-exec ls {} + `},
	{name: "finds in finds", part: `find . -exec `},
	{name: "texts in texts", part: "bash -c '"},
	{name: "texts side by side", part: "bash -c 'ls';"},
	{name: "xargs", part: "xargs "},
	{name: "awk", before: "awk '{print ", part: "(", after: "1}'", closing: ")"},
	{name: "awk tokens", before: "awk '{print ", part: "$1,", after: "1}'"},
	{name: "sed", before: "sed -n '", part: "s/a/b/;", after: "'"},
	{name: "sed options", before: "sed ", part: "-e p "},
	{name: "jq", before: "jq '", part: ".a|", after: ".'"},
	{name: "jq in strings", before: "jq '", part: `"\(`, after: `1'`, closing: `)"`},
	{name: "comments", part: "#\n"},
	{name: "comments behind commands", part: "ls # ; ls\n"},
	{name: "blanks", before: "ls", part: " "},
	{name: "lines", part: "\n", after: "ls"},
	{name: "semicolons", part: ";"},
	{name: "functions", part: "f() { ", after: "ls;", closing: "}"},
	{name: "process substitutions", before: "ls ", part: "<(ls) "},
	{name: "background", part: "ls& "},
	{name: "tests", before: "[[ a ", part: "&& a ", after: "]]"},
	{name: "regular expressions", before: "[[ a =~ ", part: "(a*", after: " ]]", closing: ")*"},
	{name: "arrays", before: "a=(", part: "b ", after: ")"},
	{name: "coprocesses", part: "coproc "},
	{name: "time", part: "time "},
	{name: "tildes", before: "ls ", part: "~ "},
	{name: "equals", before: "ls ", part: "=a "},
	{name: "letters of many bytes", before: "ls ", part: "é"},
	{name: "bytes that are no text", before: "ls ", part: "\xff"},
}

// HostileText is a text that somebody hopes is expensive.
type HostileText struct{ Name, Text string }

// Hostile returns texts of so many bytes.
func Hostile(size int) (list []HostileText) {
	for _, s := range shapes {
		list = append(list, HostileText{s.name, s.text(size)})
	}
	return list
}

// text repeats the part of a shape up to a size.
func (s shape) text(size int) string {
	n := max(1, (size-len(s.before)-len(s.after))/(len(s.part)+len(s.closing)+strings.Count(s.part, "%d")*3))
	var b strings.Builder
	b.WriteString(s.before)
	for i := range n {
		b.WriteString(strings.ReplaceAll(s.part, "%d", fmt.Sprint(i)))
	}
	b.WriteString(s.after)
	b.WriteString(strings.Repeat(s.closing, n))
	return b.String()[:min(size, b.Len())]
}
