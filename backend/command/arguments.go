package command

import (
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/envnames"
)

// profiled judges the arguments of a program that has a profile, under the name
// that it was called by and that of its file. It returns nil where there is none.
func (j *job) profiled(seg *approval.Segment) *arguments {
	names := []string{path.Base(seg.Argv[0])}
	if res := seg.Program; res != nil {
		names = []string{path.Base(res.Path), path.Base(res.File.Path)}
	}
	if len(names) == 2 && proxies()[names[1]] {
		names = names[:1]
	}
	p := profiles().programs[names[0]]
	for _, name := range names {
		if profiles().programs[name] != p {
			return nil
		}
	}
	if p == nil {
		return nil
	}
	a := newArguments(j, seg.Dir)
	a.begin(p)
	words := operands(seg)
	a.said = make([]said, 0, len(words))
	a.read(p, words)
	a.edits(p, words)
	a.clears(p)
	if name := toolModule(p, seg.Argv); name != "" && (a.shadowed(name) || name == "pip" && slices.ContainsFunc(pipTries(), a.shadowed)) {
		a.find(approval.ReasonInlineCode, "%s may run a file of the folder that has the name of the module %s", p.name, name)
	}
	if len(a.gone) > 0 {
		a.shows(approval.EffectDeletes)
	}
	slices.Sort(a.effects)
	if len(a.gone) > 0 && slices.ContainsFunc(patterns(seg), everything().MatchString) {
		a.find(approval.ReasonDeletes, "%s overwrites or deletes all that is in the folder", p.name)
	}
	return a
}

// everything are patterns that may stand for all that is in the folder.
var everything = expression(`^(\./+)*(\[[^]/]*\]|[*?.])*\*(\[[^]/]*\]|[*?.])*/*$`)

// proxies start the tool whose name they were called by, in the version that
// the project names.
var proxies = words("rustup volta-shim")

// argument is one word of a program: the word itself, or what is known of it.
type argument struct {
	text string
	open *approval.Open
	made bool // by a pattern or braces
	at   int  // its place in the words of the program
}

// operands returns the words behind the name of a program.
func operands(seg *approval.Segment) []argument {
	list := make([]argument, len(seg.Argv)-1)
	for i, text := range seg.Argv[1:] {
		list[i].text, list[i].at = text, i+1
	}
	for i := range seg.Open {
		if at := seg.Open[i].At; at > 0 {
			list[at-1] = argument{text: seg.Open[i].Prefix, open: &seg.Open[i], at: at}
		}
	}
	for _, at := range seg.Made {
		if at > 0 && at <= len(list) {
			list[at-1].made = true
		}
	}
	return list
}

// maybeOption reports whether only the run can tell that a word is no option,
// or how many words it becomes.
func (w argument) maybeOption() bool {
	return w.open != nil && (w.open.Many || strings.Trim(w.text, "-") == "")
}

// arguments reads the words of one program by its profile.
type arguments struct {
	*job
	dir      string // where its words are names of files
	findings []approval.Finding
	values   []string        // its operands, and the values of its options
	count    int             // operands so far
	plus     int             // words so far that begin with +
	has      map[string]bool // the lists of the profile of which an option was given, and "folder"
	mark     string          // stands for words of the input
	commands []inner
	start    string              // where it runs
	sub      string              // the subcommand, with the names before it
	written  []approval.Finding  // about files that are written, unless an option of "reads" is there
	leading  []approval.Finding  // about links out of a folder, unless one of "gathers" is there
	ends     []argument          // operands of which the last one is another thing
	walks    bool                // it goes through its folder
	stopped  bool                // a -- was read, and no option follows
	looked   bool                // what it may do hangs on the files that are there
	guarded  bool                // it is sqlite3, with a program in its input
	program  bool                // it reads a program from a file
	input    []int               // findings that say that it reads its program from its input
	effects  []approval.Effect   // what is shown although it passes
	gone     []string            // what it deletes or overwrites
	edited   []string            // suffixes under which it keeps what it edits in place
	cleared  int                 // one more than the place of the finding that it deletes what it finds
	code     []approval.File     // with program text
	targets  []approval.Target   // what is shown of what it changes
	named    []argument          // its operands
	said     []said              // its options and operands, in the order of its words
	command  int                 // where its command stands, behind flags and folders alone
	valued   bool                // an option with a value that is no folder was given
	places   map[string][]string // values of options, where it writes names of its own making
	request  request             // what it asks servers
	// sets are the variables that it gives the command that it starts.
	sets []approval.Variable
}

// said is one option as it was written, with its value, or an operand: that has
// no name. A long name may be an abbreviation.
type said struct {
	option string
	value  argument
}

// may reports whether it may be one of these options. The beginning of a long name
// counts.
func (s said) may(options []string) bool {
	return slices.ContainsFunc(options, func(full string) bool {
		return s.option == full || len(s.option) > 2 && strings.HasPrefix(full, "--") && strings.HasPrefix(full, s.option)
	})
}

// gave reports whether one of these options may have been given.
func (a *arguments) gave(options ...string) bool {
	return slices.ContainsFunc(a.said, func(s said) bool { return s.may(options) })
}

// given returns the values of these options that were surely given: written in
// full, and known before the run.
func (a *arguments) given(options ...string) (values []string) {
	for _, s := range a.said {
		if slices.Contains(options, s.option) && s.value.open == nil {
			values = append(values, s.value.text)
		}
	}
	return values
}

// once returns the value of one of these options, "" for none. It reports false
// where more than one may have been given, or it is not sure which or with what.
func (a *arguments) once(options ...string) (value string, ok bool) {
	n := 0
	for _, s := range a.said {
		if s.may(options) {
			n++
		}
	}
	if values := a.given(options...); n == 1 && len(values) == 1 {
		return values[0], true
	}
	return "", n == 0
}

// inner is a command that the words of a program hold.
type inner struct {
	words []argument
	dir   string
	// fed tells that the program adds words that nobody judges, and input that it
	// takes these from its input.
	fed, input bool
}

func newArguments(j *job, dir string) *arguments {
	return &arguments{job: j, dir: dir, start: dir, has: map[string]bool{}, places: map[string][]string{}}
}

func (a *arguments) find(reason approval.Reason, format string, args ...any) {
	a.findings = append(a.findings, finding(reason, format, args...))
}

func (a *arguments) read(p *profile, args []argument) {
	defer func() {
		a.walks, a.sub = p.is["walks"] && a.count < 2, p.name
		a.finish(p)
	}()
	if p.is["old"] {
		args = p.bundle(args)
	}
	if p.always != effectNone {
		a.effect(p, p.always, "it", argument{})
	}
	for len(args) > 0 {
		if a.spent() {
			return // the request asks
		}
		if p.is["rest"] {
			a.handed(p, args)
			return
		}
		word := args[0]
		arg := word.text
		args = args[1:]
		switch {
		case p.is["apart"] && !p.is["mixed"] && len(arg) > 2 && arg[0] == '-' && arg[1] != '-' && p.subs[arg] == nil:
			a.unknown(p, "the letters %s", arg)
		case word.open == nil && strings.HasPrefix(arg, "-") && p.subs[arg] != nil:
			p, a.count, a.valued = p.subs[arg], 0, true // what follows is its value
			a.begin(p)
		case word.maybeOption():
			a.untold(p, word)
			a.find(approval.ReasonRuntimeValue, "what %s is told is known only when it runs", p.name)
		case arg == "-" && p.is["dash"] && a.count == 0:
		case arg == "--" && p.is["nostop"]:
			a.unknown(p, "the word --")
		case arg == "--" && p.after != nil:
			p, a.count = p.after, 0
		case arg == "--" && !p.commands():
			a.stopped, a.said = true, append(a.said, said{option: arg})
			for i, operand := range args {
				if a.spent() || a.operand(p, operand, args[i+1:]) {
					return
				}
			}
			args = nil
		case len(arg) > 2 && strings.HasPrefix(arg, "--"), p.is["single"] && len(arg) > 1 && arg[0] == '-':
			args = a.long(p, word, args)
		case len(arg) > 1 && arg[0] == '-':
			args = a.short(p, word, args)
		case p.subs != nil && p.is["plus"] && a.plus == 0 && word.open == nil && strings.HasPrefix(arg, "+") && plainName(arg[1:], "") && !strings.Contains(arg, "/"):
			a.plus++
		case p.subs != nil && (p.subs[arg] != nil || !p.any || p.subs[anyTask] != nil && a.isTask(word)):
			sub := p.subs[arg]
			if sub == nil && a.isTask(word) {
				sub = p.subs[anyTask]
			}
			if any := p.subs["*"]; sub == nil && any != nil && isPackage(arg) {
				sub = any
			}
			if sub == nil || word.open != nil {
				a.unknown(p, "the command %q", arg)
				return
			}
			if a.command == 0 && a.plainly() {
				a.command = word.at
			}
			p, a.count = sub, 0
			delete(a.has, "alone")
			a.begin(p)
			if p.is["itself"] {
				a.commands = append(a.commands, inner{words: append([]argument{word}, args...), dir: a.dir})
				return
			}
			if p.always != effectNone {
				a.effect(p, p.always, "it", argument{})
			}
		case a.count == 0 && a.inPackages(p, word) != nil:
			p = a.inPackages(p, word)
			a.begin(p)
		default:
			if a.operand(p, word, args) {
				return
			}
		}
	}
	switch {
	case a.has["alone"]:
	case p.subs != nil && p.operands == nil:
		a.unknown(p, "it without a command")
	case p.bare != effectNone && a.count == 0 && len(a.commands) == 0 && !a.has["dry"] && !a.has["source"]:
		a.effect(p, p.bare, "it", argument{})
		a.readsInput(p.bare == "code")
	}
}

// readsInput notes that the last finding is about a program in the input.
func (a *arguments) readsInput(yes bool) {
	if yes && len(a.findings) > 0 {
		a.input = append(a.input, len(a.findings)-1)
	}
}

// anyTask is the name in a profile that stands for each task of a project whose name
// has a colon in it.
const anyTask = ":"

// isTask reports whether a word is such a name, and none of a file or of an address.
func (a *arguments) isTask(word argument) bool {
	first, _, colon := strings.Cut(word.text, ":")
	return colon && word.open == nil && plainName(word.text, ":") && strings.Trim(word.text, wordLetters+".:") == "" &&
		!addressing()[strings.ToLower(first)] && !a.isHere(word.text)
}

var addressing = words("blob bun data file git github http https jsr link node npm patch portal workspace")

// commands reports whether a program has subcommands that are no options.
func (p *profile) commands() bool {
	for name := range p.subs {
		if !strings.HasPrefix(name, "-") {
			return true
		}
	}
	return false
}

// goes is the real folder that the words tell the program to work in, "" for none.
func (a *arguments) goes() string {
	if !a.has["folder"] || a.dir == "" {
		return ""
	}
	g := a.ground(path.Clean(a.dir))
	if !g.found || g.gap != "" {
		return "" // the program finds no folder there
	}
	return g.file.Path
}

// plainly reports whether nothing was said so far but flags, and folders in which the
// command runs.
func (a *arguments) plainly() bool {
	return !a.valued && a.count == 0
}

// begin looks at where a program or a subcommand starts what the project names.
func (a *arguments) begin(p *profile) {
	a.has["joined"] = a.has["joined"] || p.is["joined"]
	if p.is["project"] {
		a.shows(approval.EffectProject)
	}
	if p.is["network"] {
		a.shows(approval.EffectNetwork)
	}
	if p.is["project"] && (!a.someProject(a.dir) || a.inGit(".")) {
		a.find(approval.ReasonOutsideFolder, "%s starts what a folder names that is not known to be a project", p.name)
	}
}

// someProject reports whether a folder lies in the session's folder, or in another
// project of the person: an agent may as well say that it works there. Nothing else
// counts as inside for that.
func (j *job) someProject(dir string) bool {
	if j.plan.Folder.Holds(dir) || slices.ContainsFunc(j.plan.Others, func(f approval.Folder) bool { return f.Holds(dir) }) {
		return true
	}
	if dir == "" || j.plan.Folder.Path == "" || j.projectOf == nil || !j.spend(lookingUp) {
		return false
	}
	other := j.projectOf(dir)
	if !other.Holds(dir) {
		return false
	}
	j.plan.Others = append(j.plan.Others, other)
	return true
}

// lookingUp is what it costs to find the project of a folder, in looks at the disk.
const lookingUp = 64

// shows notes an effect that is told although it passes.
func (a *arguments) shows(e approval.Effect) {
	if !slices.Contains(a.effects, e) {
		a.effects = append(a.effects, e)
	}
}

func (a *arguments) unknown(p *profile, format string, args ...any) {
	a.find(approval.ReasonStartsProgram, "what "+format+" does with "+p.name+" is not known", args...)
	a.findings[len(a.findings)-1].Allowed = approval.AllowUnknown // unless exactly is against it
}

// long reads an option with a long name, of which GNU programs take any
// beginning that only one has.
func (a *arguments) long(p *profile, word argument, rest []argument) []argument {
	name, text, given := strings.Cut(word.text, "=")
	value := argument{text: text, open: word.open}
	if p.is["single"] { // go takes one dash or two
		name = "-" + strings.TrimLeft(name, "-")
	}
	written := name
	o, ok := p.options[name]
	switch {
	case !ok && !p.is["single"] && !p.is["apart"] && !p.is["exact"]:
		name, o, ok = a.complete(p, name)
	case !ok:
		if full, have, begins := p.prefixed(word.text); begins {
			name, written, o, ok = full, full, have, true
			value.text, given = word.text, true
		}
	}
	switch {
	case !ok && p.is["mixed"] && !strings.HasPrefix(word.text, "--"):
		return a.short(p, word, rest)
	case !ok || word.open != nil && !given:
		a.unknown(p, "the option %s", name)
	case o.takes == takesNone && given && !p.is["single"]:
		a.unknown(p, "a value of the option %s", name)
	case o.takes == takesPair && (given || len(rest) < 2 || rest[0].open != nil || rest[1].open != nil && rest[1].open.Many):
		a.unknown(p, "the option %s without two values", name)
	case o.takes == takesPair:
		a.said = append(a.said, said{written, rest[1]})
		a.effect(p, o.effect, name, rest[1])
		return rest[2:]
	case o.takes.next() && !given && !o.takes.from(rest):
		a.unknown(p, "the option %s without its value", name)
	case o.effect == effectRun && given:
		a.unknown(p, "a value of the option %s", name)
	case o.effect == effectRun:
		a.said = append(a.said, said{option: written})
		return a.run(p, name, rest)
	case o.takes.next() && !given:
		value, rest = rest[0], rest[1:]
		fallthrough
	default:
		a.said = append(a.said, said{written, value})
		a.effect(p, o.effect, name, value)
	}
	return rest
}

// from reports whether the next word is surely the value. A program whose
// value is optional would read another option in it.
func (t taking) from(rest []argument) bool {
	if len(rest) == 0 || rest[0].open != nil && rest[0].open.Many {
		return false
	}
	word := rest[0].text
	if rest[0].open != nil && word == "" {
		return true // what it became is judged again before the start
	}
	return t == takesSure || len(word) < 2 || word[0] != '-'
}

// complete finds the one long option that begins so. Where several do, they
// must do the same for it not to matter. It returns the prefix where none does.
func (a *arguments) complete(p *profile, prefix string) (name string, o option, ok bool) {
	name = prefix
	a.tick(len(p.options) / 16)
	for full, have := range p.options {
		if !strings.HasPrefix(full, "--") || !strings.HasPrefix(full, prefix) {
			continue
		}
		if ok && have != o {
			return prefix, option{}, false
		}
		if !ok || full < name { // equal words, equal answer
			name = full
		}
		o, ok = have, true
	}
	return name, o, ok
}

// prefixed finds the option whose name the profile writes with a * at its end.
// Of several the longest counts.
func (p *profile) prefixed(word string) (name string, o option, ok bool) {
	for full, have := range p.options {
		if prefix, begins := strings.CutSuffix(full, "*"); begins && strings.HasPrefix(word, prefix) && len(full) > len(name) {
			name, o, ok = full, have, true
		}
	}
	return name, o, ok
}

// short reads a bundle of one-letter options.
func (a *arguments) short(p *profile, word argument, rest []argument) []argument {
	arg := word.text
	if p.is["number"] && word.open == nil && strings.Trim(arg[1:], "0123456789") == "" {
		return rest
	}
	for i := 1; i < len(arg); i++ {
		name := "-" + arg[i:i+1]
		o, ok := p.options[name]
		if i > maxBundle {
			a.unknown(p, "more letters than %d", maxBundle)
			return rest
		}
		if !ok {
			a.unknown(p, "the option %s", name)
			return rest
		}
		value := argument{text: arg[i+1:], open: word.open}
		attached := value.text != "" || value.open != nil
		switch {
		case o.takes == takesPair:
			a.unknown(p, "the option %s", name)
			return rest
		case o.takes == takesNone && p.is["apart"] && len(arg) > 2:
			a.unknown(p, "the letters %s", arg)
			return rest
		case o.takes == takesNone:
			a.said = append(a.said, said{option: name})
			a.effect(p, o.effect, name, argument{})
			continue
		case o.effect == effectRun && attached:
			a.unknown(p, "a value of the option %s", name)
			return rest
		case o.effect == effectRun:
			a.said = append(a.said, said{option: name})
			return a.run(p, name, rest)
		case o.takes.next() && !attached && !o.takes.from(rest):
			a.unknown(p, "the option %s without its value", name)
			return rest
		case o.takes.next() && !attached:
			value, rest = rest[0], rest[1:]
		}
		a.said = append(a.said, said{name, value})
		a.effect(p, o.effect, name, value)
		return rest
	}
	if word.open != nil {
		a.find(approval.ReasonRuntimeValue, "what %s is told is known only when it runs", p.name)
	}
	return rest
}

// operand reads a word that is no option. It reports true when the rest is a
// command.
func (a *arguments) operand(p *profile, word argument, rest []argument) bool {
	a.tick(1)
	switch {
	case word.open != nil && word.open.Many:
		a.untold(p, word)
		a.find(approval.ReasonRuntimeValue, "what %s is told is known only when it runs", p.name)
		return false
	case p.is["plus"] && a.plus == 0 && strings.HasPrefix(word.text, "+"):
		a.plus++
		return false
	case !p.any:
		a.unknown(p, "the word %q", word.text)
		return false
	}
	place := a.count
	if a.has["given"] {
		place++
	}
	e := p.operands[min(place, len(p.operands)-1)]
	if name, _, ok := strings.Cut(word.text, "="); p.is["assigns"] && ok { // also of a name that is none
		a.assigned(p, name, word)
		return false
	}
	a.named, a.said = append(a.named, word), append(a.said, said{value: word})
	if p.last != effectNone {
		a.ends = append(a.ends, word)
	}
	if len(p.lists["links"]) > 0 {
		e = effectNone // the last one tells where it is
	}
	if a.count++; a.has["dry"] && len(p.lists["dry"]) > 0 {
		e = effectNone
	}
	if e == effectFed && a.mark != "" && strings.Contains(word.text, a.mark) {
		a.find(approval.ReasonWrapperUnclear, "%s starts what its input names", p.name)
	}
	if e == effectModule {
		if file := a.moduleFile(word); file != "" {
			word.text, e = file, effectScript
		}
	}
	if e == effectTool {
		a.tool(p, word, rest)
		return true
	}
	if e == effectVenv && a.ofVenv(&word) {
		a.unknown(p, "%q, of which more than one .venv has one,", word.text)
		return true
	}
	if e == effectCommand || e == effectFed || e == effectVenv {
		a.commands = append(a.commands, inner{append([]argument{word}, rest...), a.dir, e == effectFed, e == effectFed})
		return true
	}
	if e == effectScript && a.has["source"] { // for the text that it was given
		a.handed(p, append([]argument{word}, rest...))
		return true
	}
	files := isGo(word.text) && len(rest) > 0 && (rest[0].open != nil || isGo(rest[0].text))
	if e == effectScript || e == effectGoFile && !files { // what follows is for the script
		a.effect(p, e, "it", word)
		a.handed(p, rest)
		return true
	}
	a.effect(p, e, "it", word)
	return false
}

// handed reads words that are for a program of the project.
func (a *arguments) handed(p *profile, words []argument) {
	for _, word := range words {
		if !a.spent() {
			a.effect(p, effectNone, "it", word)
		}
	}
}

// assigned reads NAME=VALUE before a command.
func (a *arguments) assigned(p *profile, name string, word argument) {
	_, value, _ := strings.Cut(word.text, "=")
	list, why := reaches(name, value, word.open == nil)
	if why.Reason != "" {
		a.findings = append(a.findings, why)
		return
	}
	if a.sets = append(a.sets, list...); len(a.sets) > maxVariables {
		a.complex("it sets more than %d variables", maxVariables)
		a.sets = a.sets[:maxVariables]
	}
	if word.open != nil && word.open.Many {
		a.find(approval.ReasonRuntimeValue, "what %s sets is known only when it runs", p.name)
	}
}

func isName(name string) bool {
	return envnames.Requested(name) != envnames.Malformed
}

// run reads the command behind -exec and its like, up to ; or {} +, and
// returns what follows. A + elsewhere is a word of the command.
func (a *arguments) run(p *profile, option string, rest []argument) []argument {
	end := 0
	for end < len(rest) && rest[end].text != ";" && !(p.is["single"] && end > 0 && rest[end-1].text == "{}" && rest[end].text == "+") {
		end++
	}
	if end == 0 || end == len(rest) && p.is["single"] {
		a.unknown(p, "a command without an end")
		return nil
	}
	if slices.ContainsFunc(rest[:end], func(w argument) bool { return w.open != nil && w.open.Many }) {
		a.find(approval.ReasonRuntimeValue, "where the command of %s %s ends is known only when it runs", p.name, option)
	}
	words := slices.DeleteFunc(slices.Clone(rest[:end]), func(w argument) bool { return w.text == "{}" || w.text == "{//}" })
	if strings.Contains(rest[0].text, "{") {
		a.unknown(p, "a command that is the name of a file")
		return nil
	}
	dir := a.dir // find starts these in its own folder, or where the files are
	if option != "-exec" && option != "-ok" && (a.plan.Folder.Path == "" || !a.project(a.plan.Cwd.Path) || slices.ContainsFunc(a.values, func(at string) bool { return !a.inside(at) })) {
		dir = ""
	}
	a.commands = append(a.commands, inner{words, dir, true, false})
	return rest[min(end+1, len(rest)):]
}

// bundle reads the first word as tar's old options: letters, of which at most
// one takes the next word.
func (p *profile) bundle(args []argument) []argument {
	if len(args) == 0 || strings.HasPrefix(args[0].text, "-") {
		return args
	}
	flags, last := "-", ""
	for _, letter := range strings.Split(args[0].text, "") {
		if p.options["-"+letter].takes == takesNone {
			flags += letter
		} else {
			last += letter
		}
	}
	if len(last) > 1 || args[0].open != nil {
		last = "=" // no option: the values of two letters follow in a row
	}
	return append([]argument{{text: flags + last}}, args[1:]...)
}
