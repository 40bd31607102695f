package command

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/envnames"
)

// assigning says what a variable is given a value for.
type assigning int

const (
	forText    assigning = iota // NAME=value alone
	forExport                   // export NAME=value
	forCommand                  // NAME=value before a command
)

// assign plans NAME=value, or export with it. Those before a command are judged
// when it is known what that is.
func (t *textJob) assign(list []*syntax.Assign, as assigning, dir string) (*approval.Node, bool) {
	export := as == forExport
	node, ok := approval.Node{Op: approval.OpAssign}, true
	for _, a := range list {
		if !t.spend(1) {
			return nil, false
		}
		if a.Name == nil || a.Append || a.Index != nil || a.Array != nil || a.Naked && !export {
			return t.unclear(approval.ReasonEvaluates, "it sets variables in a way that is not understood")
		}
		if export && a.Value != nil {
			if words, fine := t.braces(a.Value); !fine || len(words) != 1 || words[0] != a.Value {
				return t.unclear(approval.ReasonEvaluates, "braces make more than one word of what %s is set to", a.Name.Value)
			}
		}
		if more, is := t.addsToPath(a, as); is {
			if as != forCommand {
				t.adds(*more)
			}
			node.Assigns = append(node.Assigns, approval.Assign{Name: a.Name.Value, Export: export, Search: more})
			continue
		}
		parts, fine := t.one(a.Value, dir)
		switch {
		case !fine:
			t.ask(approval.ReasonRuntimeValue, "what %s is set to is known only when it runs", a.Name.Value)
			ok = false
		case a.Naked && meaning(a.Name.Value):
			t.tell(sets(a.Name.Value))
			ok = false
		case a.Naked: // its value counts where it gets one
		case export:
			ok = t.reach(a.Name.Value, textOf(parts), literal(parts)) && ok
		case as == forText:
			ok = t.given(a.Name.Value, textOf(parts), literal(parts)) && ok
		}
		if fine && variable(parts) == "!" {
			t.numbers[a.Name.Value] = true
		}
		if fine && !a.Naked {
			t.gives(a.Name.Value, parts, dir)
		}
		if a.Naked {
			parts = nil
		} else if parts == nil {
			parts = approval.Word{}
		}
		node.Assigns = append(node.Assigns, approval.Assign{Name: a.Name.Value, Value: parts, Export: export})
	}
	return &node, ok
}

// textOf returns the text of a literal word.
func textOf(word approval.Word) string {
	if len(word) == 0 {
		return ""
	}
	return word[0].Text
}

// call plans one simple command.
func (t *textJob) call(call *syntax.CallExpr, redirs []*syntax.Redirect, dir *string) (*approval.Node, bool) {
	t.seen[call] = true
	defer func() { t.stale = false }()
	if len(call.Args) == 0 {
		if len(redirs) > 0 || !t.ring2 {
			return t.unclear(approval.ReasonApprovalRequired, "it sets variables or redirects without a command")
		}
		return t.assign(call.Assigns, forText, *dir)
	}
	if list, ok := exports(call); ok && t.ring2 && len(redirs) == 0 && len(call.Assigns) == 0 {
		for _, a := range list {
			if a.Value != nil {
				t.holds(a.Name.Value, a.Value)
			}
		}
		return t.assign(list, forExport, *dir)
	}
	index := len(t.plan.Segments)
	t.plan.Segments = append(t.plan.Segments, approval.Segment{}) // its place is before what its words run
	seg, ok := t.segment(call, *dir)
	var given []approval.Assign
	if len(call.Assigns) > 0 {
		node, fine := t.assign(call.Assigns, forCommand, *dir)
		if node != nil {
			given = node.Assigns
		}
		if ok = ok && fine; ok {
			seg.Assigns = given
		}
		defer t.with(t.added)()
		for _, a := range given {
			if a.Search != nil {
				t.adds(*a.Search)
				seg.Search = t.added
			}
		}
		if slices.ContainsFunc(seg.Assigns, func(a approval.Assign) bool { return !literal(a.Value) }) {
			seg.Findings = append(seg.Findings, finding(approval.ReasonRuntimeValue, "what it sets for the command is known only when it runs"))
		}
	}
	t.redirects(&seg, redirs)
	ok = ok && len(seg.Findings) == 0 && seg.Floor == ""
	t.shellWord(&seg)
	ok = t.before(&seg, given) && ok
	if !takesAny(&seg) {
		seg.Findings, ok = append(seg.Findings, finding(approval.ReasonApprovalRequired, "which file it reads through a redirection is known only when it runs")), false
	}
	if ok { // else it asks whatever its words become
		t.tried(&seg)
	}
	t.code(&seg, redirs)
	ok = ok && (seg.Program != nil || seg.Builtin != "")
	switch {
	case seg.Builtin == "cd":
		*dir = t.cd(&seg)
	case seg.Builtin == "set" && setsParameters(&seg):
		t.setParameters(&seg)
	}
	seg.Fed = t.feeds > 0
	t.makes(&seg)
	t.plan.Segments[index] = seg
	t.outputsOf(seg.Redirects, seg.Outputs, index, index+1)
	return &approval.Node{Op: approval.OpRun, Seg: index}, ok
}

// exports takes an export apart that stands in a text for sh, where it is no
// word of the grammar.
func exports(call *syntax.CallExpr) (list []*syntax.Assign, ok bool) {
	if call.Args[0].Lit() != "export" || len(call.Args) == 1 {
		return nil, false
	}
	for _, word := range call.Args[1:] {
		first, ok := word.Parts[0].(*syntax.Lit)
		if !ok {
			return nil, false
		}
		name, value, given := strings.Cut(first.Value, "=")
		a := &syntax.Assign{Name: &syntax.Lit{Value: name}, Naked: !given}
		switch {
		case envnames.Requested(name) == envnames.Malformed, !given && len(word.Parts) > 1, strings.HasPrefix(value, "~"):
			return nil, false
		case given && value == "":
			a.Value = &syntax.Word{Parts: word.Parts[1:]}
		case given:
			rest := *first
			rest.Value = value
			a.Value = &syntax.Word{Parts: append([]syntax.WordPart{&rest}, word.Parts[1:]...)}
		}
		list = append(list, a)
	}
	return list, true
}

// segment reads the words of a simple command. Words that only the run can
// tell are kept as they were written.
func (t *textJob) segment(call *syntax.CallExpr, dir string) (approval.Segment, bool) {
	seg := approval.Segment{Start: int(call.Pos().Offset()), End: int(call.End().Offset()), Dir: dir, Env: t.env, Search: t.added}
	ok, final := true, true
	for i, word := range call.Args {
		if !t.spend(1) {
			return seg, false
		}
		v, fine := t.word(word, dir)
		name := i == 0 && fine && (!v.literal || v.expands)
		if !fine || name {
			what := "an argument"
			if i == 0 {
				what = "the program's name"
			}
			seg.Findings = append(seg.Findings, finding(approval.ReasonRuntimeValue, "%s is known only when it runs", what))
			maybe := t.guess(word)
			if name {
				maybe = append(maybe, v.final...)
				if v.open != nil {
					maybe = append(maybe, v.open.Maybe...)
				}
			}
			v = value{open: &approval.Open{Many: true, Maybe: maybe}, written: t.text[word.Pos().Offset():word.End().Offset()]}
			ok = false
		}
		if final = final && v.literal; v.open != nil {
			v.open.At = len(seg.Argv)
			seg.Open, seg.Argv = append(seg.Open, *v.open), append(seg.Argv, v.written)
		} else {
			if !v.literal || v.expands {
				for k := range v.final {
					seg.Made = append(seg.Made, len(seg.Argv)+k)
				}
			}
			seg.Argv = append(seg.Argv, v.final...)
		}
		seg.Words = append(seg.Words, v.words...)
	}
	if final || !ok {
		seg.Words = nil
	}
	seg.Env = t.env // with what forms in its words set
	if len(seg.Argv) > 1 && seg.Argv[0] == "command" && t.ring2 && !strings.HasPrefix(seg.Argv[1], "-") && (len(seg.Open) == 0 || seg.Open[0].At > 1) && !slices.Contains(seg.Made, 1) {
		seg.Argv = seg.Argv[1:] // it only passes functions by, and there are none
		for i := range seg.Open {
			seg.Open[i].At--
		}
		for i := range seg.Made {
			seg.Made[i]--
		}
		if seg.Words != nil {
			seg.Words = seg.Words[1:]
		}
	}
	return seg, ok
}

// guess returns what a word that is not understood may be: as it was written,
// and with the quotes taken out.
func (t *textJob) guess(word *syntax.Word) []string {
	written := t.text[word.Pos().Offset():word.End().Offset()]
	return []string{written, unquoter.Replace(written)}
}

var unquoter = strings.NewReplacer(`"`, "", "'", "", `\`, "")

// shellWord says what the first word of a command means to a shell: a builtin
// or a program.
func (t *textJob) shellWord(seg *approval.Segment) {
	if len(seg.Argv) == 0 {
		return
	}
	if len(seg.Open) > 0 && seg.Open[0].At == 0 {
		t.mayOperate(seg)
		return
	}
	name := seg.Argv[0]
	switch {
	case hasControl(name) || !ascii(name):
		seg.Findings = append(seg.Findings, finding(approval.ReasonUnreadable, "the program's name is not plain text"))
	case name == "command" && t.ring2 && len(seg.Argv) > 2 && (seg.Argv[1] == "-v" || seg.Argv[1] == "-V"):
		seg.Builtin = name
		if seg.Search != nil {
			seg.Findings = append(seg.Findings, finding(approval.ReasonRuntimeValue, "what it finds in a PATH that the text changed is known only when it runs"))
		}
	case (t.grammar != bash || t.who == approval.Theirs && t.noShell) && len(seg.Assigns) > 0 && keepsAssigned()[name]:
		seg.Findings = append(seg.Findings, finding(approval.ReasonUnreadable, "shells do not agree on how long a variable before %s lasts", name))
	case name == "set" && t.ring2 && setsOptions(seg):
		seg.Builtin = name
		if t.grammar == posix && slices.Contains(seg.Argv, pipefail) {
			seg.Findings = append(seg.Findings, finding(approval.ReasonUnreadable, "not every sh knows %s", pipefail))
		}
	case name == "set" && t.ring2 && setsParameters(seg), name == "shift" && t.ring2 && shiftsParameters(seg):
		seg.Builtin = name
	case name == "read" && t.ring2 && t.reads(seg):
		seg.Builtin = name
	case name == "wait" && t.ofBackground(seg), name == "kill" && t.ofSession(seg):
		seg.Builtin = name
	case t.activates(seg):
		return
	case otherBuiltins()[name], t.loose && ofZsh()[name]:
		seg.Findings = append(seg.Findings, finding(approval.ReasonEvaluates, "%s is done inside the shell", name))
		t.hint(seg)
	case ownBuiltins()[name]:
		seg.Builtin = name
		t.sameEverywhere(seg)
		if name == "exit" && len(seg.Argv) == 1 {
			t.asksStatus()
		}
		if name == "exit" && t.who == approval.Theirs && !plainOperands(name, seg.Argv[1:]) {
			seg.Findings = append(seg.Findings, finding(approval.ReasonUnreadable, "shells do not agree on what this exit does"))
		}
	case startedBuiltins()[name]:
		t.startedBuiltin(seg)
	default:
		t.program(seg)
		return
	}
	if !namesFiles()[name] {
		return
	}
	if which := t.protectedArgument(seg, nil, readerWords{}); which != "" {
		seg.Findings = append(seg.Findings, finding(approval.ReasonProtectedState, "%s names %s", name, which))
	}
}

// keepsAssigned are builtins of which some shells keep what is assigned before them.
var keepsAssigned = words(": exit set shift")

// namesFiles are builtins whose words may be names of files.
var namesFiles = words("echo printf source . mapfile readarray")

// setsOptions reports whether a set only switches on what the runner knows.
func setsOptions(seg *approval.Segment) bool {
	options, ok := shellOptions(seg.Argv[1:], "eu")
	return ok && len(options) > 0 && len(seg.Open) == 0
}

// sameEverywhere marks builtins that shells do not agree on, where we would
// do it as bash does and the text is meant for another shell.
func (t *textJob) sameEverywhere(seg *approval.Segment) {
	if seg.Builtin != "echo" || (t.grammar == bash && t.who == approval.Ours) {
		return
	}
	words := seg.Argv[1:]
	for _, o := range seg.Open {
		words = append(slices.Clone(words), o.Maybe...)
	}
	for i, word := range words {
		if strings.Contains(word, `\`) || (strings.HasPrefix(word, "-") && (word != "-n" || i > 0)) {
			seg.Findings = append(seg.Findings, finding(approval.ReasonUnreadable, "shells do not agree on what this echo prints"))
			return
		}
	}
}

// cd returns the folder after a cd, or "" when only the run can tell.
func (t *textJob) cd(seg *approval.Segment) string {
	args := seg.Argv[1:]
	if len(args) > 0 && args[0] == "--" {
		args = args[1:]
	}
	if len(args) == 0 && len(seg.Argv) == 1 {
		args = []string{t.Home}
	}
	if len(args) != 1 || strings.HasPrefix(args[0], "-") || args[0] == "" || t.loose && args[0][0] == '+' || len(seg.Findings) > 0 || seg.Dir == "" || len(seg.Open) > 0 {
		seg.Findings = append(seg.Findings, finding(approval.ReasonRuntimeValue, "where this cd leads is known only when it runs"))
		return ""
	}
	at := join(seg.Dir, args[0])
	if t.made[path.Clean(at)] && !upward(args[0]) {
		return path.Clean(at)
	}
	dir, err := t.look(at)
	if err != nil || !dir.IsFolder() {
		return "" // the cd will fail, or something makes the folder before
	}
	straight := path.Clean(at) == dir.Path
	if up := slices.Contains(strings.Split(args[0], "/"), ".."); up && (!straight || t.linked) {
		seg.Findings = append(seg.Findings, finding(approval.ReasonRuntimeValue, "shells go up from a link in two ways, so where this cd leads is not clear"))
		return ""
	}
	t.linked = t.linked || !straight
	return dir.Path
}

// makes notes the folders that a mkdir makes, where it is sure where they will
// be: below a folder that is there, with no link on the way. The runner starts
// nothing in another folder than the one that was judged.
func (t *textJob) makes(seg *approval.Segment) {
	if !t.ring2 || seg.Program == nil || path.Base(seg.Program.File.Path) != "mkdir" || len(seg.Findings) > 0 || seg.Dir == "" {
		return
	}
	for _, arg := range seg.Argv[1:] {
		if strings.HasPrefix(arg, "-") || upward(arg) {
			continue
		}
		var missing []string
		for at := path.Clean(join(seg.Dir, arg)); at != "/" && len(at) < maxPath && !t.spent(); at = path.Dir(at) {
			file, err := t.look(at)
			if err == nil {
				if file.Path == at && file.IsFolder() {
					for _, dir := range missing {
						t.made[dir] = true
					}
				}
				break
			}
			missing = append(missing, at)
		}
	}
}
