// Package verbs says of each verb of the command line whom it is for. Judgement
// looks into it where an agent's command is one of Countersign's own, and the
// README of the command line shows it.
//
// It keeps an honest agent from operating and tells it so early. It is no wall:
// who wants to can start our program out of sight. What holds then is the door of
// the host, and for what loosens a person's yes.
package verbs

import (
	"path"
	"strings"
)

// Verb is one command of the command line. Each of the columns is "" or Yes, or
// says when it counts: an option ("--takeover") or a few words.
type Verb struct {
	// Words name it, as in "policy set".
	Words string
	// Reads: it only shows. Asks: it has something judged, and a person asked.
	Reads, Asks string
	// Tightens: our program may outside of every agent. Person: it wants a person's
	// yes. NoWall: it changes what the user alone owns, which nothing can guard.
	Tightens, Person, NoWall string
	// Default tells that its last word may be left out.
	Default bool
}

// Yes in a column stands for always.
const Yes = "yes"

// All are the verbs, as the command line lists them.
var All = []Verb{
	{Words: "host run", NoWall: Yes},
	{Words: "host refresh", Person: Yes},
	{Words: "node run", NoWall: Yes},
	{Words: "node install", NoWall: Yes},
	{Words: "node uninstall", NoWall: Yes},
	{Words: "node start", NoWall: Yes},
	{Words: "node stop", NoWall: Yes},
	{Words: "node status", Reads: Yes},
	{Words: "node identity", Reads: Yes},
	{Words: "gateway run", NoWall: Yes},
	{Words: "gateway install", NoWall: Yes},
	{Words: "gateway uninstall", NoWall: Yes},
	{Words: "gateway start", NoWall: Yes},
	{Words: "gateway stop", NoWall: Yes},
	{Words: "gateway status", Reads: Yes},
	{Words: "gateway call", Person: Yes},
	{Words: "gateway policy", Reads: "without a file", Person: "with a file"},
	{Words: "gateway pending", Reads: Yes},
	{Words: "gateway approve", Person: Yes},
	{Words: "gateway reject", Person: Yes},
	{Words: "run", Asks: Yes},
	{Words: "approvals get", Reads: Yes},
	{Words: "approvals list", Reads: Yes},
	{Words: "approvals add", Tightens: "--deny", Person: "an entry"},
	{Words: "approvals remove", Tightens: "an entry", Person: "a denial"},
	{Words: "approvals pending", Reads: Yes},
	{Words: "approvals approve", Person: Yes},
	{Words: "approvals deny", Tightens: Yes},
	{Words: "approvals hold", Tightens: Yes},
	{Words: "approvals standing", Reads: Yes},
	{Words: "approvals forget", Person: "a denial", Tightens: "a yes"},
	{Words: "approvals serve", Person: Yes},
	{Words: "policy show", Reads: Yes},
	{Words: "policy set", Tightens: "stricter", Person: "looser"},
	{Words: "policy start", Reads: "--print", Tightens: "stricter", Person: "looser"},
	{Words: "policy explain", Reads: Yes},
	{Words: "policy test", Reads: Yes},
	{Words: "policy diff", Reads: Yes},
	{Words: "policy stops", Reads: Yes},
	{Words: "policy accept", Reads: "without a hash", Person: "a hash"},
	{Words: "policy reject", Person: Yes},
	{Words: "policy skills list", Reads: Yes},
	{Words: "policy skills accept", Person: Yes},
	{Words: "policy skills drop", Tightens: Yes},
	{Words: "policy follow", Tightens: "a new source", Person: "another key"},
	{Words: "policy unfollow", Person: Yes},
	{Words: "projects list", Reads: Yes},
	{Words: "projects add", Tightens: "--no", Person: "a folder"},
	{Words: "projects remove", Tightens: "a project", Person: "a no"},
	{Words: "charters list", Reads: Yes},
	{Words: "charters show", Reads: Yes},
	{Words: "charters accept", Person: Yes},
	{Words: "charters drop", Person: Yes},
	{Words: "leases list", Reads: Yes},
	{Words: "leases end", Tightens: Yes},
	{Words: "running list", Reads: Yes},
	{Words: "running stop", Tightens: Yes},
	{Words: "history list", Reads: Yes},
	{Words: "history show", Reads: Yes},
	{Words: "history export", Reads: Yes},
	{Words: "history verify", Reads: Yes},
	{Words: "metrics", Reads: Yes},
	{Words: "pause", Tightens: Yes},
	{Words: "resume", Person: Yes},
	{Words: "stop", Tightens: Yes},
	{Words: "operator passphrase", NoWall: Yes},
	{Words: "operator sign", NoWall: Yes},
	{Words: "link openclaw", NoWall: Yes},
	{Words: "hook install", NoWall: Yes},
	{Words: "hook status", Reads: Yes, Asks: "--test"},
	{Words: "hook uninstall", NoWall: Yes},
	{Words: "hook opencode", Asks: Yes},
	{Words: "hook run", Asks: Yes, Default: true},
	{Words: "mcp serve", Asks: Yes, Default: true},
	{Words: "mcp proxy", Asks: Yes},
	{Words: "doctor", Reads: Yes, NoWall: "--takeover"},
	{Words: "completion", Reads: Yes},
	{Words: "version", Reads: Yes},
}

// Mark is what judgement makes of a verb.
type Mark string

const (
	None    Mark = ""        // no verb: the program prints how it is used
	Reads   Mark = "reads"   // judged as any other program
	Asks    Mark = "asks"    // the same, and run as what it would run
	Denied  Mark = "denied"  // an agent may not
	Unknown Mark = "unknown" // words that are no verb, or that only the run can tell
)

// Named reports whether a program is the command line, by its name alone.
func Named(program string) bool {
	return strings.EqualFold(strings.TrimSuffix(path.Base(program), ".exe"), "countersign")
}

// Find says what an agent may do with these words behind the name of the program,
// and which of them come behind the verb.
func Find(args []string) (verb Verb, mark Mark, rest []string) {
	word, first := next(args)
	if word == "" {
		return verb, None, nil
	}
	second, both := next(first)
	third, all := next(both)
	group := false
	for _, v := range All {
		switch v.Words {
		case word:
			return v, v.mark(first), first
		case word + " " + second:
			return v, v.mark(both), both
		case word + " " + second + " " + third:
			return v, v.mark(all), all
		}
		of, _, two := strings.Cut(v.Words, " ")
		if group = group || two && of == word; v.Default && of == word {
			verb, mark, rest = v, v.mark(first), first
		}
	}
	if mark == None && !(group && second == "") {
		mark = Unknown
	}
	return verb, mark, rest
}

// next returns the first word that is no option, and what follows it. Only the
// options of the whole program stand before a verb.
func next(args []string) (word string, rest []string) {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "--state-dir", args[i] == "--signer":
			i++
		case !strings.HasPrefix(args[i], "-"):
			return args[i], args[i+1:]
		}
	}
	return "", nil
}

// mark is what an agent may do, given what comes behind the verb.
func (v Verb) mark(rest []string) Mark {
	with := func(when string) bool {
		if !strings.HasPrefix(when, "--") {
			return when != ""
		}
		for _, arg := range rest {
			if name, _, _ := strings.Cut(arg, "="); name == when {
				return true
			}
		}
		return false
	}
	switch {
	case v.Reads == "" && v.Asks == "", v.Reads != "" && v.Reads != Yes, with(v.Tightens), with(v.Person), with(v.NoWall):
		return Denied
	case v.Asks == Yes || with(v.Asks):
		return Asks
	}
	return Reads
}

// Table is the list as a table of Markdown.
func Table() string {
	var b strings.Builder
	b.WriteString("| Verb | reads | asks | tightens | person | no wall possible | an agent's command |\n|-|-|-|-|-|-|-|\n")
	for _, v := range All {
		name := v.Words
		if group, last, two := strings.Cut(name, " "); v.Default && two {
			name = group + " [" + last + "]"
		}
		b.WriteString("| `" + name + "` |")
		for _, cell := range []string{v.Reads, v.Asks, v.Tightens, v.Person, v.NoWall} {
			if strings.HasPrefix(cell, "--") {
				cell = "`" + cell + "`"
			}
			b.WriteString(" " + cell + " |")
		}
		b.WriteString(" " + string(v.mark(nil)) + " |\n")
	}
	return b.String()
}
