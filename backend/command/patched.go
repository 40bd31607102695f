package command

import (
	"bytes"
	"path"
	"strings"
)

// patchReader says how a program reads a patch.
type patchReader int

const (
	byGit     patchReader = iota // git apply
	byMail                       // git am: out of a mail
	byPatch                      // patch: also behind blanks, and as a script of ed
	byPatchOf                    // the same, and the file that it changes is named
)

// patched returns the names of the files that a patch writes, moves or removes, as
// they may stand in it: where a name ends, programs do not agree. It says no to
// what makes links, and to what is not written plainly.
func patched(text []byte, by patchReader) (names []string, err error) {
	loose := by == byPatch || by == byPatchOf
	if by == byMail && !plainMail(text) || loose && edScript().Match(text) {
		return nil, errUnseen
	}
	for line := range bytes.Lines(text) {
		said := strings.TrimRight(string(line), patchBlanks+"\n")
		for loose {
			short := strings.TrimPrefix(strings.TrimLeft(said, " \tX"), "- ")
			if short == said {
				break
			}
			said = short
		}
		more, ok := patchLine(said)
		if !ok {
			return nil, errLeads
		}
		if names = append(names, more...); len(names) > maxWalked {
			return nil, errNames
		}
	}
	if len(names) == 0 && by != byPatchOf {
		return nil, errUnseen
	}
	return names, nil
}

// patchLine returns the names that one line of a patch may hold. It reports false
// for one that makes or changes a link or a module of git, or that is not plain.
func patchLine(line string) (names []string, ok bool) {
	for _, begin := range []string{"old mode ", "new mode ", "deleted file mode ", "new file mode "} {
		if mode, is := strings.CutPrefix(line, begin); is {
			return nil, plainMode().MatchString(mode)
		}
	}
	if mode := indexMode().FindStringSubmatch(line); mode != nil {
		return nil, plainMode().MatchString(mode[1])
	}
	if rest, is := strings.CutPrefix(line, "diff --git "); is {
		return twoNames(rest)
	}
	for _, begin := range []string{"+++ ", "--- ", "*** ", "Index:", "rename from ", "rename to ", "rename old ", "rename new ", "copy from ", "copy to "} {
		if name, is := strings.CutPrefix(line, begin); is {
			return nameForms(strings.TrimLeft(name, patchBlanks))
		}
	}
	return nil, true
}

var (
	plainMode = expression(`^\s*100[0-7]{3}\s*$`)
	indexMode = expression(`^index [0-9a-f]+\.\.[0-9a-f]+\s+([0-7]+)\s*$`)
	edScript  = expression(`(?m)^[ \tX]*[0-9][0-9,]*[acdis]\s*$`)
)

// nameForms returns what a name at the beginning of a text may be: all of it, or what
// stands before a blank or a tab.
func nameForms(text string) (names []string, ok bool) {
	if strings.HasPrefix(text, `"`) {
		name, _, ok := unquoted(text)
		return []string{name}, ok
	}
	text = text[:min(len(text), maxPath)] + " "
	last := 0 // where its last part begins
	for i := range len(text) {
		switch {
		case text[i] == '/':
			last = i + 1
		case blank(text[i]) && i > 0 && !blank(text[i-1]) && i-last <= maxFileName:
			names = append(names, text[:i])
		}
	}
	return names, true
}

func blank(c byte) bool { return strings.IndexByte(patchBlanks, c) >= 0 }

// patchBlanks are what git and patch take for blanks.
const patchBlanks = " \t\r\v\f"

// maxFileName is how long the name of a file may be.
const maxFileName = 255

// twoNames returns what the two names behind "diff --git" may be.
func twoNames(text string) (names []string, ok bool) {
	text = text[:min(len(text), 2*maxPath)]
	if name, rest, ok := unquoted(text); ok {
		names, ok = nameForms(strings.TrimLeft(rest, patchBlanks))
		return append(names, name), ok
	}
	if i := strings.IndexByte(text, '"'); i >= 0 {
		names, _ = nameForms(text[:i])
		name, _, ok := unquoted(text[i:])
		return append(names, name), ok
	}
	names, _ = nameForms(text)
	for i := range len(text) {
		if name := text[i:]; i > 0 && blank(text[i-1]) && !blank(name[0]) && len(path.Base(name)) <= maxFileName {
			names = append(names, name)
		}
	}
	return names, true
}

// unquoted reads a name in quotes, as git and patch write it, at the beginning of a
// text.
func unquoted(text string) (name, rest string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		return "", text, false
	}
	var b strings.Builder
	for i := 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return b.String(), text[i+1:], true
		case c != '\\':
			b.WriteByte(c)
		case i+3 < len(text) && text[i+1] >= '0' && text[i+1] <= '3' && strings.Trim(text[i+2:i+4], "01234567") == "":
			b.WriteByte((text[i+1]-'0')<<6 | (text[i+2]-'0')<<3 | (text[i+3] - '0'))
			i += 3
		case i+1 < len(text) && strings.IndexByte(`abtnvfr"\`, text[i+1]) >= 0:
			b.WriteByte("\a\b\t\n\v\f\r\"\\"[strings.IndexByte(`abtnvfr"\`, text[i+1])])
			i++
		default:
			return "", text, false
		}
	}
	return "", text, false
}

// plainMail reports whether a mail is its text: not encoded, of one part, no line
// made of several, and no list of other files.
func plainMail(text []byte) bool {
	if bytes.HasPrefix(bytes.TrimLeft(text, "\r\n\t "), []byte("# This series")) {
		return false
	}
	for _, field := range mailField().FindAllString(string(text), -1) {
		if !plainField().MatchString(field) {
			return false
		}
	}
	return true
}

var (
	mailField  = expression(`(?im)^content-(type|transfer-encoding)\b.*(\n[ \t].*)*`)
	plainField = expression(`(?i)^content-(transfer-encoding: *(7bit|8bit)|type: *text/(plain|x-patch|x-diff)(;\s*charset="?(utf-8|us-ascii|iso-8859-1)"?)?)\s*$`)
)
