// Package protected knows by a path which files hold secrets and which start
// programs. It is a list with a few questions to it: it reads no disk, follows
// no link and decides nothing. What must never happen here: that another
// spelling of a listed path (its case, the way its accents are written, the
// other name that macOS has for a folder) is taken for another file.
package protected

import (
	_ "embed"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Kind is what a path is. A file may be of several kinds.
type Kind uint16

const (
	// Secret is a file whose reader is told a secret.
	Secret Kind = 1 << iota
	// Private may hold one, by its name or its place; nobody listed it.
	Private
	// Tools may be read by commands, while tools ask.
	Tools
	// Startup is a file from which programs start, or do what it says.
	Startup
)

// Kinds that only the list has.
const (
	likely Kind = 1 << (iota + 4)
	private
	plain
	public
	usual
	trial
)

// Has reports whether any of these kinds is among those of a file.
func (k Kind) Has(any Kind) bool { return k&any != 0 }

//go:embed files.txt
var text string

// table is read when it is first asked, as most programs that start ask nothing.
var table = sync.OnceValue(func() *list { return read(text) })

// Of returns what a cleaned absolute path is for the person with this home
// folder.
func Of(at, home string) Kind {
	names := split(Fold(at))
	if len(names) == 0 {
		return 0
	}
	return inFolder(names[:len(names)-1], split(Fold(home))).of(names[len(names)-1])
}

// OfFolder returns what a folder is: not what a file of its name would be.
func OfFolder(at, home string) Kind {
	f := In(at, home)
	k := told(f.kinds)
	if f.from != nil {
		k |= told(f.from.kinds) & (Secret | Private)
	}
	return k
}

// told leaves of the kinds of rows what they mean together.
func told(p Kind) Kind {
	k := p & (Tools | Startup)
	switch {
	case p.Has(public):
	case p.Has(Secret), p.Has(usual) && !p.Has(trial):
		k |= Secret
	case p.Has(likely|private) && !p.Has(plain):
		k |= Private
	}
	return k
}

// Folder is a folder of which many names are asked.
type Folder struct {
	names []string
	homes homes
	kinds Kind
	from  *Folder // that it may be a copy of
}

// In makes a Folder of a cleaned absolute path.
func In(folder, home string) *Folder { return inFolder(split(Fold(folder)), split(Fold(home))) }

func inFolder(at, own []string) *Folder {
	at = append(slices.Clone(at), "")
	f := &Folder{names: at, homes: homesOf(at, own)}
	for n := 1; n < len(at); n++ {
		f.kinds |= table().folders.kinds(at[:n], &f.homes, f.kinds)
	}
	if from := copiedFrom(at[:len(at)-1]); from != nil {
		f.from = inFolder(from, own)
	}
	return f
}

// Of returns what a name in the folder is. It is not safe for two at once.
func (f *Folder) Of(name string) Kind {
	if name == "" || strings.Contains(name, "/") {
		return 0
	}
	return f.of(Fold(name))
}

func (f *Folder) of(name string) Kind {
	raw := f.one(name)
	k := told(raw)
	if raw.Has(public) {
		return k
	}
	for _, from := range copied(name) {
		if k.Has(Secret) {
			return k
		}
		k |= told(f.one(from)) & (Secret | Private)
	}
	if f.from != nil {
		k |= f.from.of(name) & (Secret | Private)
	}
	return k
}

// one returns the kinds that rows give a name in the folder, whatever it may be a
// copy of.
func (f *Folder) one(name string) Kind {
	f.names[len(f.names)-1] = name
	return table().files.kinds(f.names, &f.homes, f.kinds)
}

// Begins reports whether the first bytes of a file are those of a key, of a
// password store, or of a login that a cloud hands out.
func Begins(head []byte) bool {
	text := strings.TrimLeft(strings.TrimPrefix(string(head), "\ufeff"), " \t\r\n")
	for _, begin := range []string{
		"PuTTY-User-Key-File", "AGE-SECRET-KEY-", "untrusted comment: minisign encrypted secret key", "untrusted comment: signify secret key",
		"\x03\xd9\xa2\x9a", "\xfe\xed\xfe\xed", "\xce\xce\xce\xce", "kych", "Salted__", "nkey seed", "openssh-key-v1",
	} {
		if strings.HasPrefix(text, begin) {
			return true
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if begin := strings.HasPrefix(line, "-----BEGIN ") || strings.HasPrefix(line, "---- BEGIN "); begin && (strings.Contains(line, "PRIVATE KEY") || strings.Contains(line, "OpenVPN Static key")) || strings.HasPrefix(line, "AGE-SECRET-KEY-") {
			return true
		}
	}
	if !strings.HasPrefix(text, "{") {
		return false
	}
	tight := strings.NewReplacer(" ", "", "\n", "", "\t", "", "\r", "").Replace(text)
	for _, field := range []string{`"type":"service_account"`, `"private_key"`, `"private_key_id"`, `"client_secret"`, `"refresh_token"`, `"access_token"`, `"aws_secret_access_key"`, `"SecretAccessKey"`} {
		if strings.Contains(tight, field) {
			return true
		}
	}
	return false
}

// Above reports whether files from which programs start may lie in a folder, by
// its name: .claude, .vscode, .git.
func Above(at, home string) bool {
	return table().above(split(Fold(at)), split(Fold(home)))
}

// maxPath is more than any system opens; what is longer names nothing.
const maxPath = 8192

// Fold writes a path in the one way in which it is compared: without case, with
// its accents as macOS stores them, without what some disks of it leave out of
// names, and without the names that macOS has besides for the same folders.
func Fold(at string) string {
	if len(at) > maxPath {
		at = at[:maxPath]
	}
	if strings.ContainsFunc(at, func(r rune) bool { return r >= utf8.RuneSelf }) {
		at = strings.Map(func(r rune) rune {
			if unicode.Is(unicode.Cf, r) {
				return -1
			}
			return r
		}, at)
		at = norm.NFD.String(strings.ToUpper(norm.NFD.String(at)))
	}
	at = strings.ToLower(at)
	at = strings.TrimPrefix(at, "/system/volumes/data")
	for _, folder := range []string{"/private/etc", "/private/var", "/private/tmp"} {
		if at == folder || strings.HasPrefix(at, folder+"/") {
			at = strings.TrimPrefix(at, "/private")
		}
	}
	if i := strings.Index(at, "/..namedfork"); i > 0 { // macOS: what a file holds, once more
		at = at[:i]
	}
	return at
}

func split(at string) []string {
	at = strings.Trim(path.Clean("/"+at), "/")
	if at == "" {
		return nil
	}
	return strings.Split(at, "/")
}
