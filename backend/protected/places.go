package protected

import (
	"path"
	"strings"
	"sync"
)

// uppers are the folders below home, as they are compared, in which rows of the list
// mean something.
var uppers = sync.OnceValue(func() map[string]bool {
	all := map[string]bool{"": true}
	add := func(segs []string) {
		for n := range segs {
			if special(segs[n]) || segs[n] == "**" {
				return
			}
			if n > 0 {
				all[strings.Join(segs[:n], "/")] = true
			}
		}
	}
	for i := range table().rows {
		switch r := &table().rows[i]; r.anchor {
		case atHome:
			add(r.segs)
		case atApp:
			for _, place := range places {
				add(append(append([]string{}, place...), r.segs...))
			}
		}
	}
	return all
})

// Holds reports whether files that are listed may lie below a folder of the home
// folder, by its path from there.
func Holds(rel string) bool {
	return uppers()[strings.TrimPrefix(path.Clean("/"+Fold(rel)), "/")]
}
