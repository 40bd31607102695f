package shown

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/preview"
)

// WouldDo says what a command would do to which files, in sentences.
type WouldDo struct {
	Lines []Line `json:"lines"`
}

// Line is one of them. Path is the name of a file between Text and Rest, or
// empty.
type Line struct {
	Text string `json:"text"`
	Path string `json:"path,omitempty"`
	Rest string `json:"rest,omitempty"`
}

// fewTargets is how many files a line each is for; of more they are counted.
const fewTargets = 3

// NewWouldDo makes sentences of a look at the disk. Paths below the folder of
// the question are told from there.
func NewWouldDo(p approval.Prompt, v preview.Preview, in Person) WouldDo {
	w := WouldDo{Lines: []Line{}}
	folder := p.Plan.Cwd.Path
	tool := newTool(p.Plan.Tool, in) != nil
	for _, group := range grouped(v.Targets) {
		if len(group.targets) > fewTargets {
			w.say("%s", group.sentence())
			continue
		}
		for _, t := range group.targets {
			w.Lines = append(w.Lines, Line{Text: group.does, Path: in.from(folder, t.Path), Rest: about(t)})
		}
	}
	if tool {
		return w // of what else it does nothing is known, and nothing was looked at
	}
	if v.Untold {
		w.say("%s is known only when it runs", either(len(w.Lines) > 0, "What else it changes", "What it changes"))
	}
	if n := len(v.Unknown); n > 0 {
		w.say("What %s %s is not known", names(v.Unknown), either(n > 1, "change", "changes"))
	}
	switch {
	case len(w.Lines) > 0 || v.GaveUp != "":
	case v.Reads:
		w.say("Only reads")
	default: // its job may be to change some all the same
		w.say("Names no file that it would change")
	}
	if len(v.Project) > 0 {
		w.say("Starts what the project names: %s", names(v.Project))
	}
	if len(v.Network) > 0 {
		w.say("Uses the network: %s", names(v.Network))
	}
	if v.GaveUp != "" {
		w.say("%s", gaveUp[v.GaveUp])
	}
	return w
}

var gaveUp = map[preview.Reason]string{
	preview.GaveUpTime:       fmt.Sprintf("Could not look at everything in %d ms", preview.Limit.Milliseconds()),
	preview.GaveUpMany:       "Could not look at everything: there is too much",
	preview.GaveUpUnreadable: "Could not look at everything: some of it cannot be read",
	preview.GaveUpBusy:       "Could not look: the disk has not answered what was asked before",
}

// say adds a line without a path.
func (w *WouldDo) say(format string, args ...any) {
	w.Lines = append(w.Lines, Line{Text: fmt.Sprintf(format, args...)})
}

func either(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

// group are targets of which the same is said.
type group struct {
	does    string
	targets []preview.Target
}

// grouped sorts targets by what is said to be done to them, the most final
// first.
func grouped(targets []preview.Target) []group {
	list := []group{{does: "Deletes"}, {does: "Overwrites"}, {does: "Changes"}, {does: "Moves"}, {does: "Writes into"}, {does: "Makes"}, {does: "May write"}}
	for _, t := range targets {
		does := verb(t)
		for i := range list {
			if list[i].does == does {
				list[i].targets = append(list[i].targets, t)
			}
		}
	}
	var some []group
	for _, g := range list {
		if len(g.targets) > 0 {
			some = append(some, g)
		}
	}
	return some
}

func verb(t preview.Target) string {
	switch {
	case t.Op == approval.TargetDeletes:
		return "Deletes"
	case t.Op == approval.TargetMoves:
		return "Moves"
	case t.Kind == preview.Nothing:
		return "Makes"
	case t.Kind == preview.NotLooked:
		return "May write"
	case t.Op == approval.TargetChanges:
		return "Changes"
	case t.Kind == preview.Folder:
		return "Writes into"
	}
	return "Overwrites"
}

// about says what is there: "(4 KB, not in git)".
func about(t preview.Target) string {
	var facts []string
	switch t.Kind {
	case preview.NotLooked:
		facts = append(facts, "not looked at")
	case preview.Nothing:
		if verb(t) != "Makes" {
			facts = append(facts, "not there")
		}
	case preview.Link:
		facts = append(facts, "a link")
	case preview.Other:
		facts = append(facts, "no plain file")
	case preview.File:
		facts = append(facts, bytes(t.Size))
	case preview.Folder:
		if t.Op == approval.TargetDeletes {
			facts = append(facts, least(t.Partly)+files(t.Files)+", "+bytes(t.Size))
		}
	}
	if t.Repos > 0 {
		facts = append(facts, "with a git repository in it")
	}
	if said := known(t); said != "" {
		facts = append(facts, said)
	}
	if len(facts) == 0 {
		return ""
	}
	return "(" + strings.Join(facts, ", ") + ")"
}

// known says what git knows of what a target is or holds.
func known(t preview.Target) string {
	switch {
	case !t.InRepo || t.Files == 0:
		return ""
	case t.Kind == preview.Folder:
		return knownOf(t)
	case t.Unknown > 0:
		return "not in git"
	case t.Changed > 0:
		return "with changes that are not in git"
	}
	return "in git as it is"
}

// knownOf says it of many files. Of files that were not all counted it says
// only what is not in git.
func knownOf(t preview.Target) string {
	var said []string
	switch {
	case t.Partly:
	case t.Unknown == t.Files:
		return "none of them in git"
	case t.Unknown == 0 && t.Changed == 0:
		return "all of them in git as they are"
	}
	if t.Unknown > 0 {
		said = append(said, number(t.Unknown)+" of them not in git")
	}
	if t.Changed > 0 {
		said = append(said, number(t.Changed)+" with changes that are not in git")
	}
	return strings.Join(said, ", ")
}

// sentence counts what a group is about. What is not there, and what was not
// looked at, is said: it counts for no file.
func (g group) sentence() string {
	var sum preview.Target
	missing, unseen, inRepo := 0, 0, true
	for _, t := range g.targets {
		switch t.Kind {
		case preview.Nothing:
			missing++
			continue
		case preview.NotLooked:
			unseen++
			continue
		}
		n := max(1, t.Files)
		if t.Kind == preview.Folder && t.Op == approval.TargetDeletes {
			n = t.Files
		}
		sum.Files += n
		sum.Size += t.Size
		sum.Unknown += t.Unknown
		sum.Changed += t.Changed
		sum.Repos += t.Repos
		sum.Partly = sum.Partly || t.Partly
		inRepo = inRepo && (t.InRepo || t.Files == 0)
	}
	if g.does == "Makes" {
		return g.does + " " + files(missing)
	}
	said := g.does + " " + least(sum.Partly) + files(sum.Files) + ", " + bytes(sum.Size)
	if known := knownOf(sum); inRepo && sum.Files > 0 && known != "" {
		said += "; " + known
	}
	if sum.Repos > 0 {
		said += "; with a git repository among them"
	}
	if missing > 0 {
		said += fmt.Sprintf("; %d more not there", missing)
	}
	if unseen > 0 {
		said += fmt.Sprintf("; %d more not looked at", unseen)
	}
	return said
}

func files(n int) string {
	if n == 1 {
		return "1 file"
	}
	return number(n) + " files"
}

func least(partly bool) string { return either(partly, "at least ", "") }

// number writes a count with a comma between thousands.
func number(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return number(n/1000) + fmt.Sprintf(",%03d", n%1000)
}

// bytes writes a size as the system does, in thousands.
func bytes(n int64) string {
	if n == 1 {
		return "1 byte"
	}
	if n < 1000 {
		return strconv.FormatInt(n, 10) + " bytes"
	}
	size, unit := float64(n), 0
	for size >= 999.5 && unit < 5 {
		size /= 1000
		unit++
	}
	digits := 0
	if size < 9.95 {
		digits = 1
	}
	return strings.TrimSuffix(strconv.FormatFloat(size, 'f', digits, 64), ".0") + " " + []string{"", "KB", "MB", "GB", "TB", "PB"}[unit]
}

// names joins what programs are called, of many only how many there are.
func names(list []string) string {
	if len(list) > fewTargets {
		return fmt.Sprintf("%d programs", len(list))
	}
	shown := make([]string, len(list))
	for i, name := range list {
		shown[i] = short(display.Escape(name))
	}
	if n := len(shown); n > 1 {
		return strings.Join(shown[:n-1], ", ") + " and " + shown[n-1]
	}
	return shown[0]
}

// from writes a path as it is named in a folder, or whole.
func (in Person) from(folder, name string) string {
	if rest, ok := strings.CutPrefix(name, folder+"/"); ok && folder != "" && rest != "" {
		return display.Escape(rest)
	}
	return in.short(name)
}
