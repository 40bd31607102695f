package menubar

import "slices"

// sameRows reports whether two menus have the same rows, so that one can
// become the other while it is open: what a person aims at does not move.
func sameRows(a, b []Item) bool {
	return slices.EqualFunc(a, b, func(x, y Item) bool {
		return x.ID == y.ID && x.Kind == y.Kind && x.Key == y.Key && sameRows(x.Children, y.Children)
	})
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
