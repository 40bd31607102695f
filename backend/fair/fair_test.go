package fair

import (
	"fmt"
	"testing"
)

// TestPlaces lets one after another take all that it gets.
func TestPlaces(t *testing.T) {
	p := New(100)
	for i, c := range []struct {
		who  string
		own  int
		gets int
	}{
		{"a", 0, 50}, {"b", 0, 25}, {"a", 0, 0}, {"c", 0, 13}, {"d", 0, 6}, {"a", 52, 2}, {"", 0, 4}, {"e", 9, 0}, {"", 0, 0},
	} {
		got := 0
		for p.Take(c.who, c.own) {
			got++
		}
		if got != c.gets {
			t.Errorf("%d: %q gets %d, want %d", i, c.who, got, c.gets)
		}
	}
	if p.Taken() != 100 {
		t.Errorf("%d are taken", p.Taken())
	}
	for range 52 {
		p.Leave("a")
	}
	if !p.Take("e", 0) || p.Taken() != 49 {
		t.Errorf("%d are taken", p.Taken())
	}
}

// TestSomebodyNew comes after eight who take all that they get of a thousand.
func TestSomebodyNew(t *testing.T) {
	p := New(1000)
	for i := range 8 {
		for p.Take(fmt.Sprint(i), 0) {
		}
	}
	if !p.Take("new", 0) {
		t.Error("it is kept out")
	}
}
