package menubar

import "slices"

// sheet is the menu that is shown, and the one that waits until it is closed:
// while it is open no row moves, because somebody may be aiming at it.
type sheet struct {
	shows Menu
	next  *Menu
	drawn bool // shows is
	open  bool
	tags  tags
}

// take takes the next menu. It tells the places in flat of rows that say
// something else now, or that all are to be drawn anew; neither, where the menu
// waits.
func (s *sheet) take(m Menu) (places []int, anew bool) {
	switch {
	case s.drawn && sameRows(s.shows.Items, m.Items):
		places = changed(s.shows.Items, m.Items)
		s.shows, s.next = m, nil
	case s.open:
		s.next = &m
	default:
		s.draw(m)
		anew = true
	}
	return places, anew
}

// closed tells that nobody sees the menu any more, and whether another one is
// to be drawn now.
func (s *sheet) closed() (anew bool) {
	s.open = false
	if s.next == nil {
		return false
	}
	s.draw(*s.next)
	return true
}

func (s *sheet) draw(m Menu) {
	s.shows, s.next, s.drawn = m, nil, true
	s.tags.renew()
}

// sameRows reports whether two menus have the same rows, so that one can
// become the other while it is open: what a person aims at does not move.
func sameRows(a, b []Item) bool {
	return slices.EqualFunc(a, b, func(x, y Item) bool {
		return x.ID == y.ID && x.Kind == y.Kind && x.Key == y.Key && sameRows(x.Children, y.Children)
	})
}

// tags name the rows of a menu by numbers that never name another row. A row that
// is pressed may tell so after the menu was made anew.
type tags struct {
	last        int
	now, before map[int]string
}

// renew begins another menu. What the last one named is still known.
func (t *tags) renew() { t.before, t.now = t.now, map[int]string{} }

// take returns the tag of a row with this ID.
func (t *tags) take(id string) int {
	t.last++
	t.now[t.last] = id
	return t.last
}

// id returns the ID of the row that a tag names, "" for none.
func (t *tags) id(tag int) string {
	if id, ok := t.now[tag]; ok {
		return id
	}
	return t.before[tag]
}

// flat are the rows of a menu with those in it, in the order in which they are
// shown.
func flat(items []Item) (list []Item) {
	for _, it := range items {
		list = append(append(list, it), flat(it.Children)...)
	}
	return list
}

// changed are the places in flat(now) whose row says something else than
// before. The rows themselves are the same.
func changed(before, now []Item) (places []int) {
	old := flat(before)
	for i, it := range flat(now) {
		if was := old[i]; was.Title != it.Title || was.Checked != it.Checked || was.Enabled != it.Enabled {
			places = append(places, i)
		}
	}
	return places
}
