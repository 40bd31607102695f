package store

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/glob"
)

// guards finds entries that knew a file and know it no more, where another entry
// covers it that does not: as long as one knew it, the file was asked about once
// it was another one. What covers it is taken out of kept.
func (c *comparison) guards(kept map[string][]approval.Entry) {
	covers := map[string]coverage{}
	drop := map[string]map[string]bool{} // of an agent, by permissionKey
	for _, id := range slices.Sorted(maps.Keys(c.old.Agents)) {
		for _, e := range c.gone(id) {
			for _, other := range slices.Sorted(maps.Keys(c.new.Agents)) {
				if id != Every && other != Every && other != id {
					continue
				}
				if _, made := covers[other]; !made {
					covers[other], drop[other] = coverageOf(c.new.Agents[other].Allowlist), map[string]bool{}
				}
				covers[other].of(e, func(by approval.Entry) {
					lost := fmt.Sprintf("the entry %q no longer says which file is meant, and %q covers it", e.Pattern, by.Pattern)
					c.say(Line{Agent: id, Kind: LineOther, Text: lost}, "agents.%s.allowlist: %s", plain(id), lost)
					drop[other][permissionKey(by)] = true
				})
			}
		}
	}
	for id, keys := range drop {
		kept[id] = slices.DeleteFunc(kept[id], func(e approval.Entry) bool { return keys[permissionKey(e)] })
	}
}

// gone are entries of an agent that knew a file and are not there any more as
// they were.
func (c *comparison) gone(id string) (list []approval.Entry) {
	left := map[string]int{}
	if agent := c.new.Agents[id]; agent != nil {
		for _, e := range agent.Allowlist {
			left[permissionKey(e.Entry)]++
		}
	}
	for _, e := range c.old.Agents[id].Allowlist {
		key := permissionKey(e.Entry)
		if left[key]--; left[key] < 0 && knows(e.Entry) {
			list = append(list, e.Entry)
		}
	}
	return list
}

// knows reports whether an entry holds which file is meant.
func knows(e approval.Entry) bool {
	_, tool := approval.ToolPattern(e.Pattern)
	return !tool && !e.Disabled && (len(e.Identity) > 0 || len(e.Interpreters) > 0 || len(e.Links) > 0 || e.RequireIdentity != "")
}

// coverage finds the entries of a list that mean a file.
type coverage struct {
	list  []approval.Entry
	index *glob.Index
	any   []int
}

func coverageOf(list []Entry) (c coverage) {
	var patterns []glob.Pattern
	for _, e := range list {
		// Where home is does not matter here: it may be any folder.
		text := e.Pattern
		if rest, home := strings.CutPrefix(text, "~/"); home {
			text = "**/" + rest
		}
		p, err := glob.Parse(text, "/")
		if _, tool := approval.ToolPattern(e.Pattern); tool || e.Disabled || err != nil {
			continue
		}
		if p.Any() {
			c.any = append(c.any, len(c.list))
		}
		c.list, patterns = append(c.list, e.Entry), append(patterns, p)
	}
	c.index = glob.NewIndex(patterns)
	return c
}

// of calls f for each entry that means a file of another one, and does not know
// it as that does.
func (c coverage) of(e approval.Entry, f func(approval.Entry)) {
	files := []string{e.Pattern}
	for _, id := range slices.Concat(e.Identity, e.Interpreters) {
		files = append(files, id.Path)
	}
	for _, l := range e.Links {
		files = append(files, l.Path, l.Target)
	}
	at, tried := slices.Clone(c.any), true
	add := func(i int) bool { at = append(at, i); return true }
	for _, file := range files {
		if rest, home := strings.CutPrefix(file, "~/"); home {
			file = "/" + rest
		}
		tried = c.index.Match(file, add) && tried
		tried = c.index.MatchName(path.Base(file), add) && tried
	}
	if !tried || e.RequireIdentity != "" && strings.ContainsAny(e.Pattern, `*?[{\`) { // any of them may mean it
		for i := range c.list {
			at = append(at, i)
		}
	}
	slices.Sort(at)
	for _, i := range slices.Compact(at) {
		by := c.list[i]
		same := slices.Equal(by.Identity, e.Identity) && slices.Equal(by.Interpreters, e.Interpreters) && slices.Equal(by.Links, e.Links) && by.RequireIdentity == e.RequireIdentity
		if !same {
			f(by)
		}
	}
}
