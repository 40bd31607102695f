package policy

import (
	"cmp"
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
)

// offers returns the widths in which a yes can be remembered, the narrowest first. One
// is suggested: each part of the request in the width that is suggested for it. Where
// that is none of the three, it takes the place of the first words.
func offers(plan *approval.Plan, asked []part) []approval.Offer {
	if len(asked) == 0 {
		return nil
	}
	var list []approval.Offer
	for _, width := range allWidths {
		o, reached := offerOf(plan, asked, width, func(part) approval.Width { return width })
		if reached && !slices.ContainsFunc(list, sameOffer(o)) {
			list = append(list, o)
		}
	}
	fits, _ := offerOf(plan, asked, approval.WidthWords, part.suggested)
	at := slices.IndexFunc(list, sameOffer(fits))
	if at < 0 {
		list = slices.DeleteFunc(list, func(o approval.Offer) bool { return o.Width == approval.WidthWords })
		at = slices.IndexFunc(list, func(o approval.Offer) bool { return o.Width == approval.WidthProgram })
		if at < 0 {
			at = len(list)
		}
		list = slices.Insert(list, at, fits)
	}
	list[at].Suggested = true
	return list
}

// offerOf is the offer of a width: each part as wide as it may be, or else as it can.
// reached tells that one part is as wide as the offer, and for exact ones each.
func offerOf(plan *approval.Plan, asked []part, width approval.Width, most func(part) approval.Width) (o approval.Offer, reached bool) {
	o.Width = width
	all, writes := true, distinct{}
	for _, p := range asked {
		e, w := p.upTo(most(p))
		reached, all = reached || w == width, all && w == width
		writes.add(e)
		o.Wide = cmp.Or(o.Wide, wideness(p.Segment, w)) // the first warning
		o.Here = o.Here || p.asksFor(approval.AllowProjectWrites) || !command.OnlyReads(behindOptions(p.Segment))
	}
	o.Writes = writes.list
	if width == approval.WidthExact {
		o.Here = false // its entries name their folders
		return o, all
	}
	o.Folder = folderOf(plan, asked)
	o.Here = o.Here && o.Folder != ""
	return o, reached
}

// distinct are entries, each once. A request can have thousands of commands.
type distinct struct {
	list []approval.Entry
	seen map[string]bool
}

func (d *distinct) add(e approval.Entry) {
	text, _ := json.Marshal(e) // plain fields cannot fail
	if d.seen == nil {
		d.seen = map[string]bool{}
	}
	if key := string(text); !d.seen[key] {
		d.seen[key] = true
		d.list = append(d.list, e)
	}
}

// sameOffer reports whether an offer writes the same.
func sameOffer(o approval.Offer) func(approval.Offer) bool {
	return func(have approval.Offer) bool { return sameEntries(have.Writes, o.Writes) }
}

func sameEntries(a, b []approval.Entry) bool {
	x, _ := json.Marshal(a) // plain fields cannot fail
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// wideness says what an entry of this width for the program of a segment
// allows beyond what the question shows.
func wideness(s *approval.Segment, w approval.Width) approval.Wide {
	unknown := func(f approval.Finding) bool { return f.Allowed == approval.AllowUnknown }
	switch {
	case slices.ContainsFunc(s.Findings, unknown):
		return approval.WideUnknown
	case command.AlwaysReads(path.Base(s.Argv[0])):
		return approval.WideNot // its other arguments ask
	case w == approval.WidthProgram && s.Profiled && (s.Kind == approval.KindStarter || s.Kind == approval.KindChanger) && !onlyMakes(path.Base(s.Argv[0])):
		return approval.WideChanges
	case w != approval.WidthExact && !s.Profiled && s.Kind != approval.KindReader && s.Builtin == "":
		return approval.WideUnknown
	case w != approval.WidthExact && s.Kind == approval.KindInterpreter, slices.Contains(s.Effects, approval.EffectProject), slices.ContainsFunc(s.Findings, func(f approval.Finding) bool {
		return f.Allowed == approval.AllowProjectCode || f.Allowed == approval.AllowDatabaseReads
	}):
		return approval.WideProject
	}
	return approval.WideNot
}

// onlyMakes reports whether a program makes folders and files, and changes none that hold
// something.
func onlyMakes(name string) bool { return name == "mkdir" || name == "touch" }

// folderOf is the session's folder or, where there is none, the working directory, or
// another project: the first in which all works that asks, if its name can stand in an
// entry.
func folderOf(plan *approval.Plan, asked []part) string {
	dirs := []string{cmp.Or(plan.Folder.Path, plan.Cwd.Path)}
	for _, other := range plan.Others {
		dirs = append(dirs, other.Path)
	}
	for _, dir := range dirs {
		outside := func(p part) bool {
			at := workingFolder(p.Segment, false)
			return at != dir && !strings.HasPrefix(at, dir+"/")
		}
		if dir != "" && dir != "/" && literalPattern(dir) && !slices.ContainsFunc(asked, outside) {
			return dir
		}
	}
	return ""
}
