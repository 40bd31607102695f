package approval

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Width says how much of what a program can be told is to be allowed from now
// on.
type Width string

const (
	WidthUnset   Width = ""
	WidthExact   Width = "exact"   // these arguments, in this folder
	WidthWords   Width = "words"   // these first words, and anything after them
	WidthProgram Width = "program" // any arguments
)

// Keep says for how long something is remembered.
type Keep string

const (
	KeepUnset   Keep = ""
	KeepGood    Keep = "good" // until it is taken back
	Keep10m     Keep = "10m"
	Keep1h      Keep = "1h"
	KeepSession Keep = "session"
	KeepNext5   Keep = "next5" // five more runs
)

var (
	widths = []Width{WidthExact, WidthWords, WidthProgram}
	keeps  = []Keep{KeepGood, Keep10m, Keep1h, KeepSession, KeepNext5}
)

func (w *Width) UnmarshalText(b []byte) error { return closed(w, "width", b, widths) }
func (k *Keep) UnmarshalText(b []byte) error  { return closed(k, "keep", b, keeps) }

// LeaseLimit is the longest life of a lease.
const LeaseLimit = 30 * 24 * time.Hour

// Lease reports whether what is kept so has an end.
func (k Keep) Lease() bool { return k != KeepUnset && k != KeepGood }

// On returns an entry with the end that k gives it.
func (k Keep) On(e Entry, sessionKey string, now time.Time) Entry {
	switch k {
	case Keep10m:
		e.ExpiresAt = now.Add(10 * time.Minute).UnixMilli()
	case Keep1h:
		e.ExpiresAt = now.Add(time.Hour).UnixMilli()
	case KeepSession:
		e.SessionKey, e.ExpiresAt = sessionKey, now.Add(LeaseLimit).UnixMilli()
	case KeepNext5:
		uses := 5
		e.UsesLeft, e.ExpiresAt = &uses, now.Add(LeaseLimit).UnixMilli()
	}
	return e
}

// Narrow reports whether less was chosen than a program for good, beside what
// allow-always writes for callers that know no widths.
func (c Choice) Narrow() bool {
	return c.Keep.Lease() || c.Here || c.Width != WidthUnset && c.Width != WidthProgram
}

// Leased reports whether an entry has an end.
func (e Entry) Leased() bool { return e.ExpiresAt != 0 || e.UsesLeft != nil || e.SessionKey != "" }

// Ends is when an entry ends by the clock, in unix milliseconds, and 0 where it does
// not: a lease at its LeaseLimit at the latest, whatever else ends it.
func (e Entry) Ends() int64 {
	latest := e.AddedAt + LeaseLimit.Milliseconds()
	if e.AddedAt == 0 || !e.Leased() || e.ExpiresAt != 0 && e.ExpiresAt < latest {
		return e.ExpiresAt
	}
	return latest
}

// TooLong says that an entry which is given now would last longer than a lease may;
// nil where it would not.
func (e Entry) TooLong(now time.Time) error {
	if e.ExpiresAt <= now.Add(LeaseLimit).UnixMilli() {
		return nil
	}
	return fmt.Errorf("a rule with an end lasts for 30 days at most, not until %s: choose an earlier end, or none", time.UnixMilli(e.ExpiresAt).Format(time.DateTime))
}

// Wide says what else an entry allows that a person may not think of.
type Wide string

const (
	WideNot     Wide = ""
	WideProject Wide = "project" // whatever the project's files say
	WideChanges Wide = "changes" // commands of it that delete work or publish it
	WideUnknown Wide = "unknown" // nothing is known of what its arguments do
)

// Offer is one way to remember a yes: the entries that it writes.
type Offer struct {
	Width  Width   `json:"width"`
	Writes []Entry `json:"writes"`
	// Folder is where the entries can be made to hold only, "" for nowhere.
	Folder string `json:"folder,omitempty"`
	Wide   Wide   `json:"wide,omitempty"`
	// Suggested tells that most people would choose it: the one that is chosen
	// when the widths are shown. Here tells that it is narrowed to Folder then.
	Suggested bool `json:"suggested,omitempty"`
	Here      bool `json:"here,omitempty"`
}

// Choice is what a person chose of the offers, beside allow-always. The zero
// Choice stands for what allow-always writes for callers that know no widths.
type Choice struct {
	Width Width `json:"width,omitempty"`
	// Here narrows the entries to the folder of the offer.
	Here bool `json:"here,omitempty"`
	Keep Keep `json:"keep,omitempty"`
}

// Chosen returns the entries that a choice writes, without their ends, and
// false for a choice that was not offered.
func (j Judgement) Chosen(c Choice, sessionKey string) ([]Entry, bool) {
	if c == (Choice{}) || c == (Choice{Keep: KeepGood}) {
		return j.Writes, len(j.Writes) > 0
	}
	i := slices.IndexFunc(j.Offers, func(o Offer) bool { return o.Width == c.Width })
	if i < 0 || c.Here && j.Offers[i].Folder == "" || c.Keep == KeepSession && sessionKey == "" || !known(c.Keep) {
		return nil, false
	}
	return j.Offers[i].Entries(c.Here), true
}

func known(k Keep) bool { return k == KeepUnset || slices.Contains(keeps, k) }

// Entries returns what the offer writes, narrowed to its folder if here is set.
func (o Offer) Entries(here bool) []Entry {
	if !here {
		return o.Writes
	}
	list := slices.Clone(o.Writes)
	for i := range list {
		if list[i].Cwd == "" {
			list[i].Cwd = o.Folder
		}
	}
	return list
}

// String names what was chosen beside allow-always, for the record: "exact",
// "words here", "program 1h"; "" for nothing.
func (c Choice) String() string {
	var words []string
	if c.Width != WidthUnset {
		words = append(words, string(c.Width))
	}
	if c.Here {
		words = append(words, "here")
	}
	if c.Keep.Lease() {
		words = append(words, string(c.Keep))
	}
	return strings.Join(words, " ")
}
