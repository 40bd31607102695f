package shown

import (
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
)

// Width is one way to remember a yes, as a person chooses it.
type Width struct {
	Width approval.Width `json:"width"`
	// Names are what it allows in few words, such as "git rebase", each once.
	Names   []string `json:"names"`
	Entries []Entry  `json:"entries"`
	// Folder is where it can be made to hold only; "" where it cannot.
	Folder string `json:"folder,omitempty"`
	// Wide says what else it allows that one may not think of; "" for nothing.
	Wide approval.Wide `json:"wide,omitempty"`
	// Exact is how many of the entries hold for just these arguments, beside those
	// that Names are of; 0 where all do.
	Exact int `json:"exact,omitempty"`
	// Suggested tells that it is chosen when the widths are shown, and Here that it
	// is narrowed to Folder then.
	Suggested bool `json:"suggested,omitempty"`
	Here      bool `json:"here,omitempty"`
	// Tool tells that it is about calls of a tool.
	Tool bool `json:"tool,omitempty"`
}

func widths(j approval.Judgement, in Person) []Width {
	list := []Width{}
	for _, o := range j.Offers {
		list = append(list, newWidth(o, in))
	}
	return list
}

func newWidth(o approval.Offer, in Person) Width {
	w := Width{Width: o.Width, Names: []string{}, Entries: entries(o.Writes, in), Wide: o.Wide, Suggested: o.Suggested, Here: o.Here}
	if o.Folder != "" {
		w.Folder = in.short(o.Folder)
	}
	for _, e := range o.Writes {
		name := path.Base(e.Pattern)
		if tool, ok := approval.ToolPattern(e.Pattern); ok {
			name, w.Tool = tool, true
		}
		if e.ArgsExact && !w.Tool && o.Width != approval.WidthExact {
			w.Exact++
			continue
		}
		if !e.ArgsExact {
			name = strings.Join(append([]string{name}, e.Args...), " ")
		}
		if name = display.Escape(name); !slices.Contains(w.Names, name) {
			w.Names = append(w.Names, name)
		}
	}
	return w
}

// StartOffer is a start with which a question can be answered, for its agent in one
// project.
type StartOffer struct {
	Start  string `json:"start"` // its name, "" for none
	Folder string `json:"folder"`
	Name   string `json:"name"` // of the folder
	Rules  int    `json:"rules"`
	// Times is how often the person allowed what it lets pass, where that suggests it; else 0.
	Times int `json:"times,omitempty"`
}

// NewStartOffer is one with so many entries in a folder.
func NewStartOffer(start, folder string, rules, times int, in Person) StartOffer {
	return StartOffer{start, in.short(folder), display.Escape(path.Base(folder)), rules, times}
}

// keeps are the ends that can be chosen for what is remembered: a session must
// have a name.
func keeps(p approval.Prompt) []approval.Keep {
	list := []approval.Keep{approval.KeepGood, approval.Keep10m, approval.Keep1h}
	if p.SessionKey != "" {
		list = append(list, approval.KeepSession)
	}
	return append(list, approval.KeepNext5)
}

// Replayed tells what remembering a yes in one width would have meant.
type Replayed struct {
	Width approval.Width `json:"width"`
	// Here tells that it is narrowed to the folder.
	Here bool `json:"here"`
	// Looked is how many of the latest requests were judged again, Allowed how
	// many of them it would have let pass, Yes how many of these a person allowed
	// and Denied how many they denied, and Riskiest the text of the one that could do most harm.
	Looked   int    `json:"looked"`
	Allowed  int    `json:"allowed"`
	Yes      int    `json:"yes"`
	Denied   int    `json:"denied"`
	Riskiest string `json:"riskiest,omitempty"`
	// TurnedDown tells that the person turned the suggestion to remember it down.
	TurnedDown bool `json:"turnedDown,omitempty"`
	// Complete is false when there was no time for all of them.
	Complete bool `json:"complete"`
}

// Excerpt cuts a text for a place with little room.
func Excerpt(text string) string {
	const most = 80
	runes := []rune(text)
	if len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return display.Line(text)
}
