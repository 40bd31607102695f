package proxy

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/countersign-app/countersign/backend/programs"
)

// maxName is how long the name of a server may be, in bytes.
const maxName = 64

// CheckName refuses a name that no server may have: it is 1 to 64 of a-z, 0-9,
// "-", "_" and ".".
func CheckName(name string) error {
	if name == "" || len(name) > maxName || clean(name) != name {
		return errors.New("the name of a server is at most 64 of a-z, 0-9, -, _ and .")
	}
	return nil
}

// NameOf is what policy calls a server that is started with these words, where
// nobody gave it a name: the base name of the program. Where that does not tell
// one server from another, because the program runs what its words name (npx,
// node, docker), a part of them and the start of a hash of them all follow, so
// that what is allowed for one server is never allowed for the next.
//
// It is not what the server says in serverInfo.name: a server could then take
// the name of one that may do more, and would have none before it said it.
func NameOf(words []string) string {
	base := strings.TrimSuffix(filepath.Base(words[0]), ".exe")
	if runsOthers(base) && len(words) > 1 {
		return hashed(base+"-"+subject(words[1:]), words)
	}
	if clean(base) != base || len(base) > maxName {
		return hashed(base, words[:1])
	}
	return base
}

// NameOfURL is the same for a server at an address: its host, port and path.
func NameOfURL(at *url.URL) string {
	plain := at.Host + strings.TrimSuffix(at.Path, "/")
	if clean(plain) == plain && at.RawQuery == "" && len(plain) <= maxName {
		return plain
	}
	return hashed(plain, []string{at.Host, at.Path, at.RawQuery})
}

// runsOthers reports whether a program runs what its words name, by its own name and
// nothing like it: a server that is called gmail is not the program mail.
func runsOthers(base string) bool {
	plain := strings.TrimRight(base, "0123456789.")
	return programs.Launches(base) || programs.Launches(plain) || base == "cmd" || base == "wsl" // these two start programs on Windows alone
}

// subject is the first word that is no option, for people to recognise.
func subject(words []string) string {
	for _, w := range words {
		if !strings.HasPrefix(w, "-") && w != "run" && w != "exec" && w != "dlx" && w != "" {
			return filepath.Base(w)
		}
	}
	return "server"
}

// hashed is a name made of a text for people, and of what it stands for.
func hashed(text string, of []string) string {
	sum := sha256.Sum256([]byte(strings.Join(of, "\x00")))
	text = clean(text)
	return text[:min(len(text), maxName-9)] + "-" + hex.EncodeToString(sum[:4])
}

// clean makes a name of a text.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-_.", r) {
			return r
		}
		return '-'
	}, strings.ToLower(s))
}
