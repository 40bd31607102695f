package host

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
)

// EntryWords says what an entry of an allowlist covers, in one line.
func EntryWords(e approval.Entry) string {
	return commas(programWords(e.Pattern, e.Args), Narrowing(e))
}

// programWords are a program and the arguments that it begins with.
func programWords(pattern string, args []string) string {
	return strings.TrimSpace(inWords(pattern) + " " + command.Quote(args))
}

// inWords is a text among others, in quotes where it could be taken for several.
func inWords(s string) string {
	if s == "" || strings.ContainsAny(s, ` ,'"()`) {
		return command.Quote([]string{s})
	}
	return s
}

// commas joins what is said with commas, and leaves out what is empty.
func commas(parts ...string) string {
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ", ")
}

// Narrowing says what narrows an entry beside its first arguments.
func Narrowing(e approval.Entry) string { return commas(arguments(e), lasts(e)) }

// covers says which program an entry means, with which arguments, and where.
func covers(e approval.Entry) string { return commas(programWords(e.Pattern, e.Args), arguments(e)) }

// limits says the rest of what counts of an entry.
func limits(e approval.Entry) string { return commas(lasts(e), knows(e)) }

func arguments(e approval.Entry) string {
	var parts []string
	if e.ArgsExact {
		parts = append(parts, "no further arguments")
	}
	if tasks := command.TasksOf(e.ArgPattern); tasks != "" {
		parts = append(parts, tasks)
	} else if e.ArgPattern != "" {
		parts = append(parts, "arguments match "+inWords(e.ArgPattern))
	}
	for _, name := range slices.Sorted(maps.Keys(e.When)) {
		parts = append(parts, inWords(name)+" is "+inWords(e.When[name]))
	}
	if words := e.Carries(inWords); len(words) > 0 {
		parts = append(parts, "with "+strings.Join(words, " and "))
	}
	if len(e.Allows) > 0 {
		parts = append(parts, "allows "+strings.Join(allowed(e.Allows), " and "))
	}
	if len(e.Hosts) > 0 {
		parts = append(parts, "of "+strings.Join(e.Hosts, " and "))
	}
	if e.Input != "" {
		parts = append(parts, "with the input of SHA-256 "+e.Input)
	}
	if e.Cwd != "" {
		parts = append(parts, "in "+inWords(e.Cwd))
	}
	return commas(parts...)
}

// allowedWords are the effects that an entry can cover, as people call them.
var allowedWords = map[approval.Allowed]string{
	approval.AllowProjectWrites: "writing named files of the project",
	approval.AllowTempWrites:    "writing new temporary files",
	approval.AllowProjectCode:   "starting programs of the project",
	approval.AllowDatabaseReads: "asking named databases of the project",
	approval.AllowNetworkReads:  "requests that send nothing",
	approval.AllowNetworkSends:  "requests that may send something",
	approval.AllowThisCode:      "exactly this code",
	approval.AllowReadingCode:   "code that only reads and prints",
	approval.AllowUnknown:       "effects that nobody knows",
	approval.AllowRemovals:      "deleting what it finds below named folders",
}

func allowed(list []approval.Allowed) []string {
	words := make([]string, len(list))
	for i, a := range list {
		words[i] = allowedWords[a]
	}
	return words
}

// lasts says how long an entry holds, and when.
func lasts(e approval.Entry) string {
	var parts []string
	if e.SessionKey != "" {
		parts = append(parts, "session "+inWords(e.SessionKey))
	}
	if ends := e.Ends(); ends != 0 {
		parts = append(parts, "until "+time.UnixMilli(ends).Format(time.DateTime))
	}
	if e.UsesLeft != nil {
		parts = append(parts, fmt.Sprintf("%d uses left", *e.UsesLeft))
	}
	if e.RequireIdentity != "" {
		parts = append(parts, "with the recorded "+inWords(e.RequireIdentity))
	}
	if e.Disabled {
		parts = append(parts, "disabled")
	}
	return commas(parts...)
}

// knows says which files an entry means, all that it holds of them, and who made it
// when, where that counts.
func knows(e approval.Entry) string {
	var parts []string
	for _, id := range e.Identity {
		parts = append(parts, "the file "+fileWords(id))
	}
	for _, id := range e.Interpreters {
		parts = append(parts, "interpreted by "+fileWords(id))
	}
	for _, l := range e.Links {
		parts = append(parts, inWords(l.Path)+" leads to "+inWords(l.Target))
	}
	if e.Source != "" {
		parts = append(parts, "written by "+inWords(e.Source))
	}
	if e.SessionKey != "" && e.AddedAt != 0 {
		parts = append(parts, "given at "+exactly(e.AddedAt))
	}
	return commas(parts...)
}

func fileWords(id approval.Identity) string {
	var parts []string
	if id.SHA256 != "" {
		parts = append(parts, "sha256 "+inWords(id.SHA256))
	}
	if id.Size != 0 {
		parts = append(parts, fmt.Sprintf("%d bytes", id.Size))
	}
	if id.MTime != 0 {
		parts = append(parts, "changed at "+exactly(id.MTime))
	}
	if id.Signer != "" {
		parts = append(parts, "signed by "+inWords(id.Signer))
	}
	if id.Version != "" {
		parts = append(parts, "version "+inWords(id.Version))
	}
	if id.Interpreter != "" {
		parts = append(parts, "interpreted by "+inWords(id.Interpreter))
	}
	if len(parts) == 0 {
		return inWords(id.Path)
	}
	return inWords(id.Path) + " (" + commas(parts...) + ")"
}

// exactly is a time of unix milliseconds, with these.
func exactly(at int64) string { return time.UnixMilli(at).Format("2006-01-02 15:04:05.000") }
