package mac

import (
	"maps"
	"testing"
)

func TestGrants(t *testing.T) {
	const id = ScreenRecording
	for name, c := range map[string]struct {
		before         Grants
		now            State
		identity       string
		stale, changed bool
		after          Grants
	}{
		"granted for the first time":    {Grants{}, Granted, "T/app", false, true, Grants{id: "T/app"}},
		"still granted":                 {Grants{id: "T/app"}, Granted, "T/app", false, false, Grants{id: "T/app"}},
		"granted again to a new build":  {Grants{id: "cdhash 1"}, Granted, "cdhash 2", false, true, Grants{id: "cdhash 2"}},
		"never granted":                 {Grants{}, Missing, "T/app", false, false, Grants{}},
		"lost by a new build":           {Grants{id: "cdhash 1"}, Missing, "cdhash 2", true, false, Grants{id: "cdhash 1"}},
		"refused to a new build":        {Grants{id: "cdhash 1"}, Denied, "cdhash 2", true, false, Grants{id: "cdhash 1"}},
		"taken back by the person":      {Grants{id: "T/app"}, Missing, "T/app", false, true, Grants{}},
		"not asked yet":                 {Grants{id: "cdhash 1"}, Undecided, "cdhash 2", false, false, Grants{id: "cdhash 1"}},
		"we cannot tell who we are":     {Grants{id: "T/app"}, Missing, "", false, false, Grants{id: "T/app"}},
		"granted to we know not whom":   {Grants{}, Granted, "", false, false, Grants{}},
		"another permission was there":  {Grants{"camera": "cdhash 1"}, Missing, "cdhash 2", false, false, Grants{"camera": "cdhash 1"}},
		"macOS does not tell any more":  {Grants{id: "cdhash 1"}, Unknown, "cdhash 2", false, false, Grants{id: "cdhash 1"}},
		"the person may decide nothing": {Grants{id: "cdhash 1"}, Restricted, "cdhash 2", false, false, Grants{id: "cdhash 1"}},
	} {
		g := maps.Clone(c.before)
		stale, changed := g.Notice(id, c.now, c.identity)
		if stale != c.stale || changed != c.changed || !maps.Equal(g, c.after) {
			t.Errorf("%s: stale %v, changed %v, then %v", name, stale, changed, g)
		}
	}
}

func TestTranslocated(t *testing.T) {
	for path, want := range map[string]bool{
		"/Applications/Countersign.app/Contents/MacOS/Countersign":                                            false,
		"/private/var/folders/ab/cd/T/AppTranslocation/0F1E2D3C/d/Countersign.app/Contents/MacOS/Countersign": true,
		"/Users/dana/Downloads/Countersign.app/Contents/MacOS/Countersign":                                    false,
		"/Users/dana/About AppTranslocation/Countersign.app/Contents/MacOS/Countersign":                       false,
	} {
		if got := Translocated(path); got != want {
			t.Errorf("%s: %v", path, got)
		}
	}
}
