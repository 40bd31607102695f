package command

import (
	"path"
	"strings"
)

// safeBins are the argument profiles of filters that may run without an
// entry, because they only turn their input into their output. Decided from
// the words alone; the disk is never asked. Flags that name a file, follow
// one or write are not listed, and what is not listed does not pass.
var safeBins = map[string]struct {
	flags    string   // single letters without a value
	values   string   // single letters with a value
	long     []string // long flags without a value
	longVal  []string // long flags with a value
	operands int      // how many operands that are no files
	number   bool     // -NUM is a flag
}{
	"cut":  {"nszs", "bcfd", []string{"complement", "only-delimited", "zero-terminated"}, []string{"bytes", "characters", "fields", "delimiter", "output-delimiter"}, 0, false},
	"uniq": {"cduDiz", "fsw", []string{"count", "repeated", "unique", "ignore-case", "zero-terminated"}, []string{"skip-fields", "skip-chars", "check-chars"}, 0, false},
	"head": {"qvz", "nc", []string{"quiet", "silent", "verbose", "zero-terminated"}, []string{"lines", "bytes"}, 0, true},
	"tail": {"qvz", "nc", []string{"quiet", "silent", "verbose", "zero-terminated"}, []string{"lines", "bytes"}, 0, true},
	"tr":   {"Ccdst", "", []string{"complement", "delete", "squeeze-repeats", "truncate-set1"}, nil, 2, false},
	"wc":   {"clLmw", "", []string{"bytes", "chars", "lines", "max-line-length", "words"}, nil, 0, false},
}

// otherLong are long options that these programs have but that do not pass:
// a prefix that could mean one of them is not ours to complete.
var otherLong = []string{"help", "version", "files0-from", "follow", "retry", "pid", "sleep-interval", "max-unchanged-stats", "all-repeated", "group", "total"}

// SafeBin reports whether these words are a filter of the built-in list that
// can only read its standard input.
func SafeBin(argv []string) bool {
	if len(argv) == 0 {
		return false
	}
	p, ok := safeBins[path.Base(argv[0])]
	if !ok {
		return false
	}
	operands, open := 0, true
	for i := 1; i < len(argv); i++ {
		arg := argv[i]
		switch {
		case open && arg == "--":
			open = false
		case open && strings.HasPrefix(arg, "--"):
			name, _, given := strings.Cut(arg[2:], "=")
			full, takes := completeLong(name, p.long, p.longVal)
			if full == "" || given && !takes {
				return false
			}
			if takes && !given {
				if i++; i == len(argv) {
					return false
				}
			}
		case open && len(arg) > 1 && arg[0] == '-' && p.number && digits(arg[1:]):
		case open && len(arg) > 1 && arg[0] == '-':
			next, ok := bundle(arg[1:], p.flags, p.values)
			if !ok {
				return false
			}
			if next {
				if i++; i == len(argv) {
					return false
				}
			}
		case arg == "-" && p.operands == 0:
		default:
			operands++
		}
	}
	return operands <= p.operands
}

// completeLong completes a long option from its beginning, as GNU programs
// do. An ambiguous beginning is refused.
func completeLong(name string, flags, values []string) (full string, takes bool) {
	found := 0
	try := func(list []string, value bool) {
		for _, candidate := range list {
			if candidate == name {
				full, takes, found = candidate, value, -1000
			} else if strings.HasPrefix(candidate, name) {
				if found >= 0 {
					full, takes = candidate, value
				}
				found++
			}
		}
	}
	try(flags, false)
	try(values, true)
	try(otherLong, false)
	for _, other := range otherLong {
		if full == other {
			return "", false
		}
	}
	if name == "" || found != 1 && found > 0 || full == "" {
		return "", false
	}
	return full, takes
}

// bundle reads the letters of one short option word. next tells that the
// value of the last letter is the next word.
func bundle(letters, flags, values string) (next, ok bool) {
	for i := range len(letters) {
		switch {
		case strings.IndexByte(values, letters[i]) >= 0:
			return i == len(letters)-1, true
		case strings.IndexByte(flags, letters[i]) < 0:
			return false, false
		}
	}
	return false, true
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
