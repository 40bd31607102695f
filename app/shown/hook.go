package shown

import (
	"github.com/countersign-app/countersign/backend/agents/setup"
	"github.com/countersign-app/countersign/backend/display"
)

// Hook is one agent of this machine, and how our hook stands in its settings.
type Hook struct {
	Agent string `json:"agent"`
	Title string `json:"title"`
	// Here tells that the agent seems to be used on this machine.
	Here bool   `json:"here"`
	File string `json:"file,omitempty"`
	// Condition is a word of package setup, such as "installed".
	Condition string `json:"condition"`
	// Old tells that another hook would be written today.
	Old     bool   `json:"old,omitempty"`
	Problem string `json:"problem,omitempty"`
	// Gone completes "If Countersign were gone, it", Nobody "Where nobody can be
	// asked, it".
	Gone   string `json:"gone"`
	Nobody string `json:"nobody"`
	// Can is what it is able to, BlindSpots what passes by it, and Notes what is
	// left to do.
	Can        []string `json:"can"`
	BlindSpots []string `json:"blindSpots"`
	Notes      []string `json:"notes"`
	// Elsewhere are files of projects, and others, in which a hook is not as it
	// was left.
	Elsewhere []HookFile `json:"elsewhere"`
}

// HookFile is a settings file, and how our hook stands in it.
type HookFile struct {
	File string `json:"file"`
	// Condition is a word of package setup, such as "vanished".
	Condition string `json:"condition"`
}

// NewHooks makes what is shown of all agents, those that are used here first.
// lost are those hooks that are not as they were left.
func NewHooks(list, lost []setup.State, in Person) []Hook {
	here, others := []Hook{}, []Hook{}
	for _, s := range list {
		h := Hook{
			Agent: s.Agent, Title: display.Escape(s.Title), Here: s.Found.Here(), File: in.short(s.File), Condition: string(s.Condition), Old: s.Old,
			Problem: display.Escape(s.Problem), Gone: s.WithoutProgram.String(), Nobody: s.WithoutApp.String(),
			Can: escaped(s.Can), BlindSpots: escaped(s.BlindSpots), Notes: escaped(s.Notes),
			Elsewhere: []HookFile{},
		}
		for _, l := range lost {
			if l.Agent == s.Agent && l.File != s.File {
				h.Elsewhere = append(h.Elsewhere, HookFile{in.short(l.File), string(l.Condition)})
			}
		}
		if h.Here {
			here = append(here, h)
		} else {
			others = append(others, h)
		}
	}
	return append(here, others...)
}

// HookChange is what would become of the settings file of an agent. ID names it
// when it is to be made.
type HookChange struct {
	ID    string `json:"id,omitempty"`
	Agent string `json:"agent"`
	Undo  bool   `json:"undo,omitempty"`
	// Forgets tells that the hook is gone, and is not missed any more.
	Forgets bool     `json:"forgets,omitempty"`
	File    string   `json:"file,omitempty"`
	Follows string   `json:"follows,omitempty"`
	Diff    []string `json:"diff"` // lines
	Notes   []string `json:"notes"`
	// Warning is to be known before it is made.
	Warning string `json:"warning,omitempty"`
	// Problem says why there is no change to make.
	Problem string `json:"problem,omitempty"`
}

// HookTrial is what an agent would do with a harmless command, in sentences.
type HookTrial struct {
	Agent   string   `json:"agent"`
	Lines   []string `json:"lines"`
	Problem string   `json:"problem,omitempty"`
}
