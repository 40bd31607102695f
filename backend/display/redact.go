package display

import (
	"regexp"
	"strings"
	"sync"
)

// mark stands for a secret.
const mark = "***"

// The value that follows a name. A word of a shell may be in quotes or not;
// it does not begin with $ outside of quotes, because a reference to a
// variable is no secret, and after an option it does not begin with a dash.
// A quote that is never closed goes to the end.
const (
	end    = `\s'"\\;&|<>()` + "`"
	quoted = `"(?:[^"\\]|\\.)*"?|'[^']*'?|\\.`
	rest   = `(?:` + quoted + `|[^` + end + `])*`
	word   = `(?:\$?(?:` + quoted + `)|[^` + end + `$])` + rest
	option = `(?:\$?(?:` + quoted + `)|[^` + end + `$-])` + rest
	group  = `[\[{](?:"(?:[^"\\]|\\.)*"?|[^\]}"])*[\]}]?`                           // to its first end
	value  = `(?:` + group + `|\\"[^"\\]*(?:\\"|"|\z)|` + quoted + `|[^\s"',}\]]+)` // JSON, also inside a string
)

// names that say that a value is a secret, as the end of a longer name.
const names = `(?:secret|passw(?:or)?d|passphrase)[a-z0-9_.-]*|token|credentials?|` +
	`api[_-]?key|(?:access|account|auth|encryption|private|secret|signing)[_-]?key(?:[_-]id)?`

// rule replaces what its expression finds; the expressions run in linear
// time. A text that holds none of the hints, in lower case, is left alone.
type rule struct {
	hints []string
	find  func() *regexp.Regexp
	put   string
}

var rules = []rule{
	{ // private keys, to the end of the text if they are not closed
		[]string{"private key"},
		expression(`(?s)(-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----).*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)`),
		"${1}" + mark,
	},
	{ // who asks, in a URL
		[]string{"://"},
		expression(`://[^\s/?#'"]*@`),
		"://" + mark + "@",
	},
	{ // headers
		[]string{"authorization", "cookie", "-key", "-token", "-secret"},
		expression(`(?i)\b((?:proxy-)?authorization\\?["']?\s*:\s*\\?["']?(?:(?:basic|bearer|digest|negotiate|token)\s+)?|(?:set-)?cookie\s*:\s*|[a-z-]+-(?:key|token|secret)\s*:\s*)[^\r\n'"]+`),
		"${1}" + mark,
	},
	{
		[]string{"bearer"},
		expression(`(?i)\b(bearer\s+)[^\s'"*]+`),
		"${1}" + mark,
	},
	{ // NAME=value and --name=value, "name": value, --name value
		[]string{"secret", "passw", "passphrase", "token", "key", "credential"},
		expression(`(?is)((?:` + names + `)=)` + word +
			`|((?:` + names + `)\\?["']\s*:\s*)` + value +
			`|((?:^|[\s'"])--?[a-z0-9_-]*(?:` + names + `)["']?\s+)` + option),
		"${1}${2}${3}" + mark,
	},
	{ // -u name:password
		[]string{"-u", "--user", "--proxy-user"},
		expression(`((?:^|[\s'"])(?:-u|--user|--proxy-user)(?:["']?\s+|=)["']?[^\s:'"]+:)[^\s'"]+`),
		"${1}" + mark,
	},
	{ // tokens that are known by their shape
		[]string{"sk-", "sk_", "rk_", "gh", "xox", "glpat-", "akia", "asia", "aiza", "npm_", "hf_", "eyj"},
		expression(`\b(?:sk-[A-Za-z0-9_-]{12,}|[sr]k_(?:live|test)_[A-Za-z0-9]{8,}|gh[opusr]_[A-Za-z0-9]{12,}|github_pat_[A-Za-z0-9_]{12,}` +
			`|xox[abeprs]-[A-Za-z0-9-]{8,}|glpat-[A-Za-z0-9_-]{12,}|(?:AKIA|ASIA)[A-Z0-9]{12,}|AIza[A-Za-z0-9_-]{24,}` +
			`|npm_[A-Za-z0-9]{24,}|hf_[A-Za-z0-9]{24,}|eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)*)`),
		mark,
	},
}

// expression is compiled when a text first holds one of its hints.
func expression(text string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(text) })
}

// Redact replaces what looks like a secret by ***: known tokens, bearer and
// other credentials in headers and URLs, values whose name says it, and
// private keys. It works in linear time. It finds what is known and no more.
func Redact(s string) string {
	lower := strings.ToLower(s)
	for _, r := range rules {
		for _, hint := range r.hints {
			if strings.Contains(lower, hint) {
				s = r.find().ReplaceAllString(s, r.put)
				break
			}
		}
	}
	return s
}
