package policy

import (
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
)

// suggested is the width in which most people would remember a yes to a command, so
// that they are not asked again and nothing passes that they would want to see: any
// arguments of what only reads, the first words of what has commands, and exactly
// this of what deletes, sends or is not known.
func (p part) suggested() approval.Width {
	has := func(e approval.Effect) bool { return slices.Contains(p.Effects, e) }
	name := path.Base(p.Argv[0])
	switch {
	case p.guessed:
		return approval.WidthExact
	case command.AlwaysReads(name) && !p.asksFor(approval.AllowNetworkSends, approval.AllowThisCode, approval.AllowProjectCode):
		return approval.WidthProgram
	case command.OnlyReads(behindOptions(p.Segment)), p.asksFor(approval.AllowReadingCode):
		return approval.WidthWords
	case has(approval.EffectDeletes), has(approval.EffectNetwork) && !command.OnlyWorks(behindOptions(p.Segment)):
		return approval.WidthExact
	case p.Profiled && p.inProject && command.OnlyWorks([]string{name}):
		return approval.WidthProgram // a checker or a test runner, whatever it is told
	case p.Profiled && p.Kind == approval.KindChanger && command.CommandWords(p.Argv) == 0:
		return approval.WidthProgram // of mkdir and its like, what reaches out of the folder asks
	case slices.ContainsFunc(firstWords(p.Segment), reachingName), morePerLine()[name], namesLater(p.Segment):
		return approval.WidthExact
	case unknownWords(p.Segment) && !p.namesJob():
		return approval.WidthExact // with other words it may do anything
	case p.Profiled, p.inProject:
		return approval.WidthWords
	}
	return approval.WidthExact
}

// namesJob reports whether the first words are more than the program and its script.
func (p part) namesJob() bool {
	n := len(firstWords(p.Segment))
	return n > 1 || n == 1 && p.Kind != approval.KindInterpreter
}

// reachingName reports whether a name, as that of a program or of a task, has one of the
// words of reaching.
func reachingName(name string) bool {
	var apart strings.Builder
	for i, r := range path.Base(name) {
		if i > 0 && r >= 'A' && r <= 'Z' {
			apart.WriteByte(' ') // forceReset
		}
		apart.WriteRune(r)
	}
	has := func(text string) bool {
		words := strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r < 'a' || r > 'z' })
		return slices.ContainsFunc(words, func(word string) bool { return reaching()[word] })
	}
	return has(name) || has(apart.String())
}

// asksFor reports whether a part asks for one of these effects.
func (p part) asksFor(effects ...approval.Allowed) bool {
	return slices.ContainsFunc(p.Findings, func(f approval.Finding) bool { return slices.Contains(effects, f.Allowed) })
}

// reaching are words that in most programs send, publish, delete or start something
// else.
var reaching = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(`apply auth clear config create delete deploy destroy downgrade drop erase exec flush force hard install kill link live
		login logout loss overwrite post prod production promote prune publish purge push release remove reset rm rollback send serve set
		ssh start sudo sync token truncate undo uninstall unlink unpublish upload wipe yes zero`) {
		set[word] = true
	}
	return set
})

// morePerLine are programs of which each further word can be a job like the first:
// "make test deploy".
var morePerLine = sync.OnceValue(func() map[string]bool {
	return map[string]bool{"make": true, "gmake": true, "just": true, "task": true}
})

// namesLater reports whether the first words start what a later word names, as
// "nx run-many -t deploy" does.
func namesLater(s *approval.Segment) bool {
	list := firstWords(s)
	return len(list) > 0 && slices.Contains([]string{"affected", "exec", "run", "run-many", "task", "x"}, list[len(list)-1])
}
