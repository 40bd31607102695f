package policy

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/display"
)

// offers returns the widths in which a yes can be remembered, the narrowest
// first, where j.Writes may be written and nothing of it only accepts changed
// files. Each offer lets this very request pass.
func offers(in Input, j approval.Judgement) []approval.Offer {
	var asked []*approval.Segment
	for i, s := range j.Segments {
		switch {
		case s.Reason == approval.ReasonBinaryChanged || s.Skill != "":
			return nil
		case s.Verdict == approval.VerdictAsk:
			asked = append(asked, &in.Plan.Segments[i])
		}
	}
	var list []approval.Offer
	for _, offer := range []func(Input, []*approval.Segment) (approval.Offer, bool){exactly, byWords, byProgram} {
		o, ok := offer(in, asked)
		if ok && (len(list) == 0 || !sameEntries(list[len(list)-1].Writes, o.Writes)) {
			list = append(list, o)
		}
	}
	return list
}

// exactly offers these arguments in this folder, which holds for those below it
// too and so is not all there is. What holds a secret is not written into a file.
func exactly(in Input, asked []*approval.Segment) (approval.Offer, bool) {
	o := approval.Offer{Width: approval.WidthExact}
	for _, s := range asked {
		args := s.Argv[1:]
		if s.Dir == "" || s.Dir == "/" || !literalPattern(s.Dir) || slices.Contains(args, "*") || display.Redact(command.Quote(s.Argv)) != command.Quote(s.Argv) {
			return o, false
		}
		e, ok := entryWith(in, s)
		if !ok {
			return o, false
		}
		e.Args, e.ArgsExact, e.Cwd = args, true, s.Dir
		add(&o, e, wideness(s, o.Width))
	}
	return o, true
}

// byWords offers the first words, where they name a command of the program.
func byWords(in Input, asked []*approval.Segment) (approval.Offer, bool) {
	o := approval.Offer{Width: approval.WidthWords, Folder: folderOf(in.Plan, asked)}
	for _, s := range asked {
		words := firstWords(s)
		e, ok := entryWith(in, s)
		if len(words) == 0 || !ok {
			return o, false
		}
		e.Args = words
		add(&o, e, wideness(s, o.Width))
	}
	return o, true
}

// byProgram offers any arguments. An interpreter runs any code then.
func byProgram(in Input, asked []*approval.Segment) (approval.Offer, bool) {
	o := approval.Offer{Width: approval.WidthProgram, Folder: folderOf(in.Plan, asked)}
	for _, s := range asked {
		e, ok := entryWith(in, s)
		if !ok || s.Kind == approval.KindInterpreter || s.Kind == approval.KindShell || s.Kind == approval.KindMultiplexer {
			return o, false
		}
		add(&o, e, wideness(s, o.Width))
	}
	return o, true
}

// add puts an entry into an offer, each once, and keeps the first warning.
func add(o *approval.Offer, e approval.Entry, wide approval.Wide) {
	if o.Wide == approval.WideNot {
		o.Wide = wide
	}
	if !slices.ContainsFunc(o.Writes, func(have approval.Entry) bool {
		return sameEntries([]approval.Entry{have}, []approval.Entry{e})
	}) {
		o.Writes = append(o.Writes, e)
	}
}

func sameEntries(a, b []approval.Entry) bool {
	x, _ := json.Marshal(a) // plain fields cannot fail
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

// wideness says what an entry of this width for the program of a segment
// allows beyond what the question shows.
func wideness(s *approval.Segment, w approval.Width) approval.Wide {
	switch {
	case w == approval.WidthProgram && s.Profiled && (s.Kind == approval.KindStarter || s.Kind == approval.KindChanger):
		return approval.WideChanges
	case w != approval.WidthExact && !s.Profiled && s.Kind != approval.KindReader:
		return approval.WideUnknown
	case slices.Contains(s.Effects, approval.EffectProject):
		return approval.WideProject
	}
	return approval.WideNot
}

// folderOf is the folder of the request, if all that asks runs there or below
// and its name can stand in an entry.
func folderOf(plan *approval.Plan, asked []*approval.Segment) string {
	dir := plan.Cwd.Path
	if dir == "" || dir == "/" || !literalPattern(dir) {
		return ""
	}
	for _, s := range asked {
		if s.Dir != dir && !strings.HasPrefix(s.Dir, dir+"/") {
			return ""
		}
	}
	return dir
}

func literalPattern(name string) bool { return !strings.ContainsAny(name, "*?[]{}\\") }

// targets are programs whose work a name in the project's files says, and the
// command behind which that name stands.
var targets = map[string]string{"bun": "run", "gmake": "", "just": "", "make": "", "npm": "run", "pnpm": "run", "task": "", "yarn": "run"}

// firstWords are the leading arguments that name a command of the program, as
// "rebase" does of git; none for programs whose first argument is something
// else: a file, a text to look for, a script.
func firstWords(s *approval.Segment) []string {
	name, args := path.Base(s.Program.File.Path), s.Argv[1:]
	if len(s.Open) > 0 {
		args = args[:max(0, s.Open[0].At-1)] // what comes then is not known
	}
	n := command.CommandWords(s.Argv[:len(args)+1])
	behind, named := targets[name]
	switch {
	case named && behind == strings.Join(args[:n], " ") && n < len(args) && isCommandWord(args[n]):
		n++
	case s.Kind == approval.KindOther && !s.Profiled && len(args) > 0 && isCommandWord(args[0]):
		n = 1
	}
	return args[:n]
}

// isCommandWord reports whether an argument can be the command of a program.
func isCommandWord(arg string) bool {
	return arg != "" && len(arg) <= 24 && strings.Trim(arg, "abcdefghijklmnopqrstuvwxyz0123456789-:_") == "" && arg[0] >= 'a' && arg[0] <= 'z'
}
