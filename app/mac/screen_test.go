package mac

import (
	"fmt"
	"testing"
)

// Somebody is away until all that took them away is over.
func TestScreen(t *testing.T) {
	for name, c := range map[string]struct {
		begin screenState
		heard []int
		told  string
	}{
		"locked and unlocked":              {0, []int{heardLocked, heardUnlocked}, "[false true false]"},
		"it begins locked":                 {screenLocked, []int{heardUnlocked}, "[true false]"},
		"it begins at another user's":      {screenElsewhere, []int{heardBack}, "[true false]"},
		"asleep, and locked meanwhile":     {0, []int{heardAsleep, heardLocked, heardAwake, heardUnlocked}, "[false true false]"},
		"another user, who locks it":       {0, []int{heardElsewhere, heardLocked, heardUnlocked, heardBack}, "[false true false]"},
		"told twice":                       {0, []int{heardLocked, heardLocked, heardUnlocked, heardUnlocked}, "[false true false]"},
		"unlocked out of order":            {0, []int{heardUnlocked, heardAwake, heardBack}, "[false]"},
		"something that nobody knows":      {0, []int{99, -1}, "[false]"},
		"asleep and awake without a lock":  {0, []int{heardAsleep, heardAwake}, "[false true false]"},
		"locked, asleep, awake and locked": {0, []int{heardLocked, heardAsleep, heardAwake}, "[false true]"},
	} {
		var told []bool
		w := screenWatch{tell: func(away bool) { told = append(told, away) }}
		w.begin(c.begin)
		for _, what := range c.heard {
			w.hear(what)
		}
		if got := fmt.Sprint(told); got != c.told {
			t.Errorf("%s: told %s, want %s", name, got, c.told)
		}
	}
}
