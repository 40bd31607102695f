package approval

import (
	"fmt"
	"slices"
	"strings"
)

// Allowed is an effect that asks, and that an entry covers which names it in Allows.
// The words are closed: one of them never comes to mean more, as entries that people
// wrote would cover more then. What else is to be covered gets a word of its own.
type Allowed string

const (
	// AllowProjectWrites is a write to one file of the session's folder, or of a
	// folder in it, that the request names and that neither starts a program nor
	// holds a secret.
	AllowProjectWrites Allowed = "writes-project"
	// AllowTempWrites is the same in the temp folder of the system, of a file that
	// is not there yet or that a command of this session made; and the removal of
	// such a one.
	AllowTempWrites Allowed = "writes-temp"
	// AllowProjectCode is the start of a program or a script that lies in the
	// session's folder and that the request names.
	AllowProjectCode Allowed = "runs-project-code"
	// AllowDatabaseReads are statements that only ask a database in the session's folder
	// that the request names, with what its views start or read.
	AllowDatabaseReads Allowed = "reads-project-database"
	// AllowNetworkReads is a request to a host of Entry.Hosts that sends nothing.
	AllowNetworkReads Allowed = "reads-network"
	// AllowNetworkSends is a request to a host of Entry.Hosts that may send something
	// or change what the host has.
	AllowNetworkSends Allowed = "sends-network"
	// AllowThisCode is program text in the arguments or the input: only with exact
	// arguments, and with the same text as input (Entry.Input).
	AllowThisCode Allowed = "runs-this-code"
	// AllowReadingCode is program text in the arguments or the input that surely does
	// nothing but read its input and files of the project that it names, and print.
	AllowReadingCode Allowed = "runs-reading-code"
	// AllowUnknown is what nobody knows a program to do: only with exact arguments, and
	// where the request feeds it nothing.
	AllowUnknown Allowed = "unknown-effects"
	// AllowRemovals is the removal of what the request finds below a folder of the session's
	// folder that it names: only with exact arguments.
	AllowRemovals Allowed = "deletes-project"
)

// AllAllowed are all words of Entry.Allows.
var AllAllowed = []Allowed{AllowProjectWrites, AllowTempWrites, AllowProjectCode, AllowDatabaseReads, AllowNetworkReads, AllowNetworkSends, AllowThisCode, AllowReadingCode, AllowUnknown, AllowRemovals}

func (a *Allowed) UnmarshalText(b []byte) error { return closed(a, "allows", b, AllAllowed) }

// MaxHosts bounds Entry.Hosts.
const MaxHosts = 64

// MixedAllows says what does not fit together of the words of an entry and of what
// they need beside them; "" where all does.
func (e Entry) MixedAllows() string {
	has := func(a Allowed) bool { return slices.Contains(e.Allows, a) }
	switch {
	case has(AllowThisCode) && !e.ArgsExact:
		return `allows runs-this-code: that needs "args" and "argsExact"`
	case has(AllowUnknown) && !e.ArgsExact:
		return `allows unknown-effects: that needs "args" and "argsExact"`
	case has(AllowRemovals) && !e.ArgsExact:
		return `allows deletes-project: that needs "args" and "argsExact"`
	case e.Input != "" && !has(AllowThisCode):
		return `has "input" without runs-this-code in "allows"`
	case e.network() && len(e.Hosts) == 0:
		return `allows requests: reads-network and sends-network need "hosts"`
	case len(e.Hosts) > 0 && !e.network():
		return `has "hosts" without reads-network or sends-network in "allows"`
	}
	return ""
}

// network reports whether an entry says of itself to which hosts its requests go. One
// that does not is for the program whatever it asks, as each was before there were
// these words.
func (e Entry) network() bool {
	return slices.Contains(e.Allows, AllowNetworkReads) || slices.Contains(e.Allows, AllowNetworkSends)
}

// Covers reports whether an entry lets pass what asks for these reasons; about is the
// first that it does not.
func (e Entry) Covers(findings []Finding) (about Finding, ok bool) {
	for _, f := range findings {
		covered := f.Allowed != "" && slices.Contains(e.Allows, f.Allowed)
		switch f.Allowed {
		case AllowNetworkReads, AllowNetworkSends:
			covered = covered && slices.Contains(e.Hosts, f.Value) || !e.network() && len(e.Hosts) == 0
		case AllowThisCode:
			covered = covered && e.exact() && e.Input == f.Value
		case AllowUnknown, AllowRemovals:
			covered = covered && e.exact()
		}
		if !covered {
			return f, false
		}
	}
	return Finding{}, true
}

// exact reports whether an entry is for just these arguments, with none of them any
// argument.
func (e Entry) exact() bool { return e.ArgsExact && !slices.Contains(e.Args, "*") }

// Lasting are the findings that ask whatever the entries say.
func Lasting(findings []Finding) (list []Finding) {
	for _, f := range findings {
		if f.Allowed == "" {
			list = append(list, f)
		}
	}
	return list
}

// Covering is the entry with all that it needs to cover these findings, and false
// where no entry can.
func (e Entry) Covering(findings []Finding) (Entry, bool) {
	for _, f := range findings {
		network := f.Allowed == AllowNetworkReads || f.Allowed == AllowNetworkSends
		if f.Allowed == "" || network && f.Value == "" {
			return e, false
		}
		if !slices.Contains(e.Allows, f.Allowed) {
			e.Allows = append(slices.Clone(e.Allows), f.Allowed)
		}
		switch f.Allowed {
		case AllowNetworkReads, AllowNetworkSends:
			if !slices.Contains(e.Hosts, f.Value) {
				e.Hosts = append(slices.Clone(e.Hosts), f.Value)
			}
		case AllowThisCode:
			e.Input = f.Value
		}
	}
	slices.Sort(e.Allows)
	_, all := e.Covers(findings)
	return e, all
}

// CheckHost says what is wrong with a name in Entry.Hosts; nil for nothing.
func CheckHost(host string) error {
	if host == "" || len(host) > 255 || strings.Trim(host, "abcdefghijklmnopqrstuvwxyz0123456789.-:[]") != "" {
		return fmt.Errorf("%q is no host: write its name in small letters, with :PORT behind it if it is another than that of the scheme", host)
	}
	return nil
}
