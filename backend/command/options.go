package command

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/envnames"
	"github.com/countersign-app/countersign/backend/oneliner"
)

// profiled judges the arguments of a program that has a profile. It returns
// nil where there is none.
func (j *job) profiled(seg *approval.Segment, names ...string) *arguments {
	if len(names) == 2 && proxies[names[1]] {
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
	a := &arguments{job: j, dir: seg.Dir, start: seg.Dir}
	a.begin(p)
	a.read(p, operands(seg))
	if a.below && slices.ContainsFunc(patterns(seg), func(pattern string) bool { return path.Clean(pattern) == "*" }) {
		a.find(approval.ReasonDeletes, "%s overwrites or deletes all that is in the folder", p.name)
	}
	return a
}

// proxies start the tool whose name they were called by, in the version that
// the project names.
var proxies = words("rustup volta-shim")

// argument is one word of a program: the word itself, or what is known of it.
type argument struct {
	text string
	open *approval.Open
}

// operands returns the words behind the name of a program.
func operands(seg *approval.Segment) []argument {
	list := make([]argument, len(seg.Argv)-1)
	for i, text := range seg.Argv[1:] {
		list[i].text = text
	}
	for i := range seg.Open {
		if at := seg.Open[i].At; at > 0 {
			list[at-1] = argument{seg.Open[i].Prefix, &seg.Open[i]}
		}
	}
	return list
}

// maybeOption reports whether only the run can tell that a word is no option,
// or how many words it becomes.
func (w argument) maybeOption() bool { return w.open != nil && (w.open.Many || w.text == "") }

// arguments reads the words of one program by its profile.
type arguments struct {
	*job
	dir      string // where its words are names of files
	findings []approval.Finding
	values   []string // its operands, and the values of its options
	places   int      // operands so far
	plus     int      // words so far that begin with +
	got      bool     // one of the options that the profile needs
	mark     string   // stands for words of the input
	alone    bool     // one of those with which it only tells about itself
	given    bool     // one of those that stand in for the first operand
	dry      bool     // one of those with which operands have no effect
	below    bool     // it names what is overwritten or deleted
	commands []inner
	start    string             // where it runs
	reads    bool               // one of the options with which it writes no operand
	written  []approval.Finding // what counts without such an option
	gathers  bool               // one of those with which it writes nothing under its folders
	leading  []approval.Finding // what counts without such an option
	ends     []argument         // operands of which the last one is another thing
	gone     []string           // what it deletes
}

// inner is a command that the words of a program hold.
type inner struct {
	words []argument
	dir   string
	// fed tells that the program adds words that nobody judges.
	fed bool
}

func (a *arguments) find(reason approval.Reason, format string, args ...any) {
	a.findings = append(a.findings, finding(reason, format, args...))
}

func (a *arguments) read(p *profile, args []argument) {
	defer func() { a.finish(p) }()
	if p.old {
		args = p.bundle(args)
	}
	if p.always != effectNone {
		a.effect(p, p.always, "it", argument{})
	}
	for len(args) > 0 {
		word := args[0]
		arg := word.text
		args = args[1:]
		switch {
		case p.apart && !p.mixed && len(arg) > 2 && arg[0] == '-' && arg[1] != '-' && p.subs[arg] == nil:
			a.unknown(p, "the letters %s", arg)
		case word.open == nil && strings.HasPrefix(arg, "-") && p.subs[arg] != nil:
			p, a.places = p.subs[arg], 0
			a.begin(p)
		case word.maybeOption():
			a.find(approval.ReasonRuntimeValue, "what %s is told is known only when it runs", p.name)
		case arg == "--" && p.nostop:
			a.unknown(p, "the word --")
		case arg == "--" && p.after != nil:
			p, a.places = p.after, 0
		case arg == "--" && p.subs == nil:
			for i, operand := range args {
				if a.operand(p, operand, args[i+1:]) {
					return
				}
			}
			args = nil
		case len(arg) > 2 && strings.HasPrefix(arg, "--"), p.single && len(arg) > 1 && arg[0] == '-':
			args = a.long(p, word, args)
		case len(arg) > 1 && arg[0] == '-':
			args = a.short(p, word, args)
		case p.subs != nil && (p.subs[arg] != nil || !p.any):
			sub := p.subs[arg]
			if any := p.subs["*"]; sub == nil && any != nil && isPackage(arg) {
				sub = any
			}
			if sub == nil || word.open != nil {
				a.unknown(p, "the command %q", arg)
				return
			}
			p, a.places = sub, 0
			a.begin(p)
			if p.always != effectNone {
				a.effect(p, p.always, "it", argument{})
			}
		default:
			if a.operand(p, word, args) {
				return
			}
		}
	}
	switch {
	case a.alone:
	case p.subs != nil && p.operands == nil:
		a.unknown(p, "it without a command")
	case p.bare != effectNone && a.places == 0 && len(a.commands) == 0 && !a.dry:
		a.effect(p, p.bare, "it", argument{})
	}
}

// begin looks at where a program or a subcommand starts what the project names.
func (a *arguments) begin(p *profile) {
	if p.project && (a.dir == "" || !within(a.dir, a.plan.Cwd.Path) || ofGit(a.dir)) {
		a.find(approval.ReasonOutsideFolder, "%s starts what a folder names that is not the working directory", p.name)
	}
}

func (a *arguments) unknown(p *profile, format string, args ...any) {
	a.find(approval.ReasonStartsProgram, "what "+format+" does with "+p.name+" is not known", args...)
}

// long reads an option with a long name, of which GNU programs take any
// beginning that only one has.
func (a *arguments) long(p *profile, word argument, rest []argument) []argument {
	name, text, given := strings.Cut(word.text, "=")
	value := argument{text, word.open}
	if p.single { // go takes one dash or two
		name = "-" + strings.TrimLeft(name, "-")
	}
	o, ok := p.options[name]
	switch {
	case !ok && !p.single && !p.apart && !p.exact:
		name, o, ok = p.complete(name)
	case !ok:
		if full, have, begins := p.prefixed(word.text); begins {
			name, o, ok = full, have, true
			value.text, given = word.text, true
		}
	}
	switch {
	case !ok && p.mixed && !strings.HasPrefix(word.text, "--"):
		return a.short(p, word, rest)
	case !ok || word.open != nil && !given:
		a.unknown(p, "the option %s", name)
	case o.takes == takesNone && given && !p.single:
		a.unknown(p, "a value of the option %s", name)
	case o.takes == takesPair && (given || len(rest) < 2 || rest[0].open != nil || rest[1].open != nil && rest[1].open.Many):
		a.unknown(p, "the option %s without two values", name)
	case o.takes == takesPair:
		a.effect(p, o.effect, name, rest[1])
		return rest[2:]
	case o.takes.next() && !given && !o.takes.from(rest):
		a.unknown(p, "the option %s without its value", name)
	case o.effect == effectRun && given:
		a.unknown(p, "a value of the option %s", name)
	case o.effect == effectRun:
		return a.run(p, name, rest)
	case o.takes.next() && !given:
		value, rest = rest[0], rest[1:]
		fallthrough
	default:
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
	return t == takesSure || rest[0].open == nil && len(word) < 2 || word != "" && word[0] != '-'
}

// complete finds the one long option that begins so. Where several do, they
// must do the same for it not to matter.
func (p *profile) complete(prefix string) (name string, o option, ok bool) {
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
	if p.number && word.open == nil && strings.Trim(arg[1:], "0123456789") == "" {
		return rest
	}
	for i := 1; i < len(arg); i++ {
		name := "-" + arg[i:i+1]
		o, ok := p.options[name]
		if !ok {
			a.unknown(p, "the option %s", name)
			return rest
		}
		value := argument{arg[i+1:], word.open}
		attached := value.text != "" || value.open != nil
		switch {
		case o.takes == takesPair:
			a.unknown(p, "the option %s", name)
			return rest
		case o.takes == takesNone && p.apart && len(arg) > 2:
			a.unknown(p, "the letters %s", arg)
			return rest
		case o.takes == takesNone:
			a.effect(p, o.effect, name, argument{})
			continue
		case o.effect == effectRun && attached:
			a.unknown(p, "a value of the option %s", name)
			return rest
		case o.effect == effectRun:
			return a.run(p, name, rest)
		case o.takes.next() && !attached && !o.takes.from(rest):
			a.unknown(p, "the option %s without its value", name)
			return rest
		case o.takes.next() && !attached:
			value, rest = rest[0], rest[1:]
		}
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
	switch {
	case word.open != nil && word.open.Many:
		a.find(approval.ReasonRuntimeValue, "what %s is told is known only when it runs", p.name)
		return false
	case p.plus && a.plus == 0 && strings.HasPrefix(word.text, "+"):
		a.plus++
		return false
	case !p.any:
		a.unknown(p, "the word %q", word.text)
		return false
	}
	place := a.places
	if a.given {
		place++
	}
	e := p.operands[min(place, len(p.operands)-1)]
	if name, _, ok := strings.Cut(word.text, "="); p.assigns && ok && isName(name) {
		a.assigned(p, name, word)
		return false
	}
	if p.last != effectNone {
		a.ends = append(a.ends, word)
	}
	if a.places++; a.dry && len(p.dry) > 0 {
		e = effectNone
	}
	if e == effectFed && a.mark != "" && strings.Contains(word.text, a.mark) {
		a.find(approval.ReasonWrapperUnclear, "%s starts what its input names", p.name)
	}
	if e == effectCommand || e == effectFed {
		a.commands = append(a.commands, inner{append([]argument{word}, rest...), a.dir, e == effectFed})
		return true
	}
	if e == effectScript { // what follows is for the script
		a.effect(p, e, "it", word)
		for _, w := range rest {
			a.effect(p, effectNone, "it", w)
		}
		return true
	}
	a.effect(p, e, "it", word)
	return false
}

// assigned reads NAME=VALUE before a command (environment.md).
func (a *arguments) assigned(p *profile, name string, word argument) {
	switch class := envnames.Requested(name); {
	case class != envnames.Other && class != envnames.Plain:
		a.find(approval.ReasonEnvAsks, "%s sets %s", p.name, name)
	case word.open != nil && word.open.Many:
		a.find(approval.ReasonRuntimeValue, "what %s sets is known only when it runs", p.name)
	}
}

func isName(name string) bool {
	return envnames.Requested(name) != envnames.Malformed
}

// run reads the command behind -exec and its like, up to ; or +, and returns
// what follows.
func (a *arguments) run(p *profile, option string, rest []argument) []argument {
	end := slices.IndexFunc(rest, func(w argument) bool { return w.text == ";" || w.text == "+" })
	if end < 0 && !p.single {
		end = len(rest)
	}
	if end <= 0 {
		a.unknown(p, "a command without an end")
		return nil
	}
	words := slices.DeleteFunc(slices.Clone(rest[:end]), func(w argument) bool { return strings.HasPrefix(w.text, "{") && strings.HasSuffix(w.text, "}") })
	if strings.Contains(rest[0].text, "{") {
		a.unknown(p, "a command that is the name of a file")
		return nil
	}
	dir := "" // where the files are
	if option == "-exec" || option == "-ok" {
		dir = a.dir // find starts these in its own folder
	}
	a.commands = append(a.commands, inner{words, dir, true})
	return rest[min(end+1, len(rest)):]
}

// effect turns what an option or an operand does into a reason to ask.
func (a *arguments) effect(p *profile, e effect, option string, word argument) {
	a.got = a.got || slices.Contains(p.needs, option)
	a.alone = a.alone || slices.Contains(p.alone, option)
	a.given = a.given || slices.Contains(p.given, option)
	a.reads = a.reads || slices.Contains(p.reads, option)
	a.gathers = a.gathers || slices.Contains(p.gathers, option)
	a.dry = a.dry || slices.Contains(p.dry, option)
	value := word.text
	switch {
	case word.open != nil:
		a.values = append(a.values, word.open.Maybe...)
		if e == effectNone || e == effectPath || e == effectPlain && value != "" && strings.Trim(value[:1], "./") == "" {
			return
		}
		if _, fixed := fixedEffects[e]; !fixed {
			a.find(approval.ReasonRuntimeValue, "what %s is told is known only when it runs", p.name)
			return
		}
	case value != "":
		a.values = append(a.values, value)
	}
	if p.atfile && strings.HasPrefix(value, "@") {
		a.unknown(p, "the file of words %q", value)
	}
	who := p.name
	if option != "it" {
		who += " " + option
	}
	if matches(p.never[option], strings.ToLower(value)) {
		a.find(approval.ReasonStartsProgram, "what %q does with %s is not known", value, who)
	}
	if fixed, ok := fixedEffects[e]; ok {
		a.find(fixed.reason, "%s %s", who, fixed.what)
		return
	}
	switch e {
	case effectName:
		if strings.Trim(value, nameLetters) != "" || strings.Trim(value[:min(1, len(value))], "/.-") == "" || strings.Contains(value, "..") {
			a.find(approval.ReasonStartsProgram, "%s is given %q, which may be more than a name", who, value)
		}
	case effectLocal:
		if strings.Contains(value, ":") {
			a.find(approval.ReasonStartsProgram, "%s is given %q, which may name another machine", who, value)
		}
	case effectPath:
		if strings.HasPrefix(value, ":") && !strings.HasPrefix(value, ":!") && !strings.HasPrefix(value, ":^") {
			a.find(approval.ReasonOutsideFolder, "%s is given the pattern %q, which can mean any file", who, value)
		}
		if i := strings.LastIndexByte(value, ':'); i >= 0 {
			a.values = append(a.values, value[i+1:])
		}
	case effectURL:
		scheme, _, ok := strings.Cut(strings.ToLower(value), "://")
		if ok && scheme != "http" && scheme != "https" || !ok && strings.Contains(value, ":/") || strings.HasPrefix(strings.ToLower(value), "file:") {
			a.find(approval.ReasonStartsProgram, "%s is given %q, which is no address of the web", who, value)
		}
	case effectBody:
		if strings.HasPrefix(value, "@") || strings.Contains(value, "=@") || strings.Contains(value, "=<") || strings.Contains(value, "%output") ||
			(option == "--data-urlencode" || option == "--url-query") && strings.Contains(value, "@") ||
			(option == "-b" || option == "--cookie") && !strings.Contains(value, "=") {
			a.find(approval.ReasonUploads, "%s may send a file, or write one", who)
		}
	case effectWord:
		if strings.Trim(value, wordLetters) != "" {
			a.find(approval.ReasonStartsProgram, "%s is given %q, which may be more than a word", who, value)
		}
	case effectUsual:
		if !a.inside(value) || strings.Contains(value, ":") || !usual(p.name, path.Base(value)) {
			a.find(approval.ReasonStartsProgram, "%s is given settings of an unusual place, %q", who, value)
		}
	case effectHere, effectGoFile, effectSwitch, effectTask, effectGoal, effectPackage, effectOut, effectGoFlags:
		if !a.plain(e, value) {
			reason := approval.ReasonStartsProgram
			if e == effectOut {
				reason = approval.ReasonOutsideFolder
			}
			a.find(reason, "%s is given %q, which may be more than it should", who, value)
		}
	case effectInside, effectFolder, effectScript, effectFile:
		if e == effectFile && value == "/dev/null" {
			return
		}
		if value == "" && p.options[option].takes == takesMaybe {
			return // without its value
		}
		if !a.inside(value) {
			a.find(approval.ReasonOutsideFolder, "%s names %q, which is not known to be in the working directory", who, value)
		} else if a.inGit(value) {
			a.find(approval.ReasonOutsideFolder, "%s names %q, which belongs to git", who, value)
		}
		if e == effectFolder {
			a.dir = join(a.dir, value)
		}
		if e == effectFile && (strings.Contains(value, ":") || strings.Trim(value[:min(1, len(value))], "@+") == "") {
			a.find(approval.ReasonStartsProgram, "%s is given %q, which may be no file", who, value)
		}
		if e == effectScript && (strings.Trim(value[:min(1, len(value))], "-+@") == "" || strings.Contains(value, ":") || !a.isFile(value) || p.only["it"] != nil && !matches(p.only["it"], path.Base(value))) {
			a.find(approval.ReasonInlineCode, "%s runs %q, which is no file here", who, value)
		}
	case effectAwk, effectSed, effectJQ:
		if why := programs[e](value); why != "" {
			a.find(approval.ReasonInlineCode, "the program of %s %s", who, why)
		}
	case effectAwkFile, effectSedFile:
		if why := a.programFile(e, value); why != "" {
			a.find(approval.ReasonInlineCode, "the program of %s in %q %s", who, value, why)
		}
	case effectOnly:
		if !matches(p.only[option], value) {
			a.find(approval.ReasonStartsProgram, "what %q does with %s is not known", value, who)
		}
	case effectRepo:
		if !repository.MatchString(value) || strings.Contains(value, "..") || strings.Contains(value, "::") || strings.Contains(value, "@-") {
			a.find(approval.ReasonStartsProgram, "%s is given %q, which is no address that git only fetches from", who, value)
		}
	case effectRef:
		if strings.HasPrefix(value, "+") || strings.HasPrefix(value, ":") || strings.HasPrefix(value, "-") {
			a.find(approval.ReasonDeletes, "%s deletes or overwrites with %q what others may have", who, value)
		}
	case effectContext:
		file, err := a.look(join(a.dir, value))
		if err != nil || file.Mode&modeType != modeFolder || strings.Contains(value, ":") || !a.inside(value) || a.inGit(value) {
			a.find(approval.ReasonOutsideFolder, "%s is given %q, which is no folder of the working directory", who, value)
		}
	case effectBelow:
		a.below = true
		if strings.HasPrefix(value, ":") || strings.ContainsAny(value, `*?[\`) || !a.inside(value) || path.Clean(join(a.dir, value)) == a.plan.Cwd.Path {
			a.find(approval.ReasonDeletes, "%s overwrites or deletes %q, which is not known to be one thing below the working directory", who, value)
		}
	case effectInto, effectEach, effectCopy:
		a.into(who, value)
		if e == effectEach && path.Clean(join(a.start, value)) == a.plan.Cwd.Path {
			a.written = append(a.written, finding(approval.ReasonOutsideFolder, "%s changes all of the working directory", who))
		}
	case effectUnder:
		if !a.inside(value) || a.inGit(value) || path.Clean(join(a.dir, value)) == a.plan.Cwd.Path {
			a.find(approval.ReasonOutsideFolder, "%s names %q, which is not known to be below the working directory", who, value)
		}
		if a.dir = join(a.dir, value); !a.closed(a.dir) {
			a.leading = append(a.leading, finding(approval.ReasonOutsideFolder, "%s may follow links that lead out of %q", who, value))
		}
	case effectSink:
		if value != "-" && value != "/dev/null" {
			a.find(approval.ReasonWritesFile, "%s writes a file", who)
		}
	case effectPlain:
		if strings.Contains(value, "://") || value != "" && strings.ContainsAny(value[:1], "+@") {
			a.find(approval.ReasonStartsProgram, "%s is given %q, which may be no file", who, value)
		}
	case effectSelect:
		if !selects(value) {
			a.find(approval.ReasonInlineCode, "%s runs a statement that may do more than read", who)
		}
	case effectDown:
		a.gone = append(a.gone, path.Clean(join(a.dir, value)))
		if !a.inside(value) || a.inGit(value) || path.Clean(join(a.dir, value)) == a.plan.Cwd.Path {
			a.find(approval.ReasonDeletes, "%s deletes %q, which is not known to be below the working directory", who, value)
		}
	case effectMoves:
		if a.dir == "" && !path.IsAbs(value) {
			return
		}
		file, err := a.look(join(a.dir, value))
		if a.dir = ""; err == nil {
			a.dir = file.Path
		}
	case effectMark:
		a.mark = value
	case effectVar:
		if class := envnames.Requested(value); class == envnames.Fixed || class == envnames.Malformed {
			a.find(approval.ReasonEnvAsks, "%s takes %s away", who, value)
		}
	}
}

// fixedEffects ask whatever the value is.
var fixedEffects = map[effect]struct {
	reason approval.Reason
	what   string
}{
	effectStarts:  {approval.ReasonStartsProgram, "starts a program"},
	effectCode:    {approval.ReasonInlineCode, "runs code"},
	effectWrites:  {approval.ReasonWritesFile, "writes a file"},
	effectDeletes: {approval.ReasonDeletes, "deletes or overwrites what is there"},
	effectUploads: {approval.ReasonUploads, "sends a file away"},
	effectConfig:  {approval.ReasonChangesConfig, "changes settings that stay"},
	effectSecrets: {approval.ReasonProtectedState, "shows what is secret"},
	effectSystem:  {approval.ReasonChangesSystem, "changes the machine"},
}

// nameLetters are those of names that no program reads anything else into.
const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./%,+^{}#-"

// wordLetters are those of words that are no path, no address and no list.
const wordLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_=+-"

// plain reports whether a value is of a form in which the program that gets it
// reads no program, no address and no place outside.
func (a *arguments) plain(e effect, value string) bool {
	here := (value == "." || strings.HasPrefix(value, ".[") || strings.HasPrefix(value, "./")) && !strings.ContainsAny(value, ":@ ") && a.inside(value)
	switch e {
	case effectHere:
		return here
	case effectGoFile:
		return here || strings.HasSuffix(value, ".go") && plainName(value, "") && a.inside(value)
	case effectSwitch:
		name, to, set := strings.Cut(strings.TrimPrefix(value, "-D"), "=")
		name = cmakeType.ReplaceAllString(name, "")
		return plainName(name, "") && (!set || switchValue.MatchString(to))
	case effectTask:
		return plainName(strings.TrimPrefix(value, ":"), ":@")
	case effectGoal:
		return plainName(value, ":@") && strings.Count(value, ":") <= 1
	case effectPackage:
		return isPackage(value) && !a.isThere(value)
	case effectOut:
		return value == "/dev/null" || a.inside(value) && !a.inGit(value)
	case effectGoFlags:
		return goFlags(value)
	}
	return false
}

// plainName reports whether a word is made of the letters of names and of
// more, of which it begins with none.
func plainName(s, more string) bool {
	return s != "" && strings.Trim(s, nameLetters+more) == "" && strings.Trim(s[:1], "/.-"+more) != "" && !strings.Contains(s, "..")
}

// isPackage reports whether a word is NAME, NAME@VERSION or @SCOPE/NAME.
func isPackage(value string) bool {
	scope, rest, scoped := strings.Cut(value, "/")
	if !scoped || !strings.HasPrefix(scope, "@") {
		scope, rest = "@x", value
	}
	return plainName(scope[1:], "") && plainName(rest, "@~*<>=") && !strings.Contains(rest, "/")
}

// cmakeType is the type that cmake may be told of a variable.
var cmakeType = regexp.MustCompile(`:(BOOL|STRING)$`)

// switchValue is a value that turns something on or off, or counts.
var switchValue = regexp.MustCompile(`^([0-9]+|(?i:on|off|true|false|yes|no|enabled|disabled|auto|debug|release|relwithdebinfo|minsizerel|debugoptimized|production|development|test))$`)

// goFlags reports whether flags for go's compiler or linker only say what the
// result holds. The linker takes the word behind -X whatever it is.
func goFlags(text string) bool {
	if strings.ContainsAny(text, `'"\`) {
		return false
	}
	if pattern, rest, ok := strings.Cut(text, "="); ok && !strings.HasPrefix(strings.TrimSpace(text), "-") && !strings.ContainsAny(pattern, " \t\n") {
		text = rest
	}
	fields := strings.Fields(text)
	for i := 0; i < len(fields); i++ {
		switch name, set, given := strings.Cut(fields[i], "="); {
		case slices.Contains([]string{"-s", "-w", "-N", "-l", "-m", "-m=2"}, fields[i]):
		case name == "-X" && given && strings.Contains(set, "="):
		case fields[i] == "-X" && i+1 < len(fields) && strings.Contains(fields[i+1], "=") && fields[i+1][0] != '-':
			i++
		default:
			return false
		}
	}
	return true
}

// isThere reports whether a name leads to a file or folder, or may.
func (a *arguments) isThere(name string) bool {
	if a.dir == "" {
		return true
	}
	_, err := a.look(join(a.dir, name))
	return err == nil
}

// usual reports whether a file is named as the settings of a program are.
func usual(program, file string) bool {
	switch file {
	case "package.json", "pyproject.toml", "setup.cfg", "tox.ini":
		return true
	}
	own := program[:len(program)-len(strings.TrimLeft(program, "abcdefghijklmnopqrstuvwxyz"))]
	return strings.HasPrefix(strings.TrimPrefix(file, "."), own)
}

// inside reports whether a name surely leads into the working directory of
// the request, by its text and by the links that are there now.
func (a *arguments) inside(name string) bool {
	if a.dir == "" || name == "" || strings.HasPrefix(name, "~") || strings.HasPrefix(name, "=") || upward(name) {
		return false
	}
	root := a.plan.Cwd.Path
	at := path.Clean(join(a.dir, name))
	for real := at; ; real = path.Dir(real) {
		file, err := a.look(real)
		if err == nil {
			return within(at, root) && within(file.Path, root)
		}
		if real == "/" || real == "." || a.dangling(real) {
			return false
		}
	}
}

// inGit reports whether a name leads into a folder in which git keeps its
// hooks and settings, by its text or by the links that are there now. What is
// written there starts with the next command of git.
func (a *arguments) inGit(name string) bool {
	at := path.Clean(join(a.dir, name))
	for real := at; ; real = path.Dir(real) {
		file, err := a.look(real)
		if err == nil || real == "/" || real == "." {
			return ofGit(at) || ofGit(file.Path)
		}
	}
}

// ofGit reports whether a path is, or lies in, a folder of git's own.
func ofGit(at string) bool { return strings.Contains(strings.ToLower(at)+"/", "/.git/") }

// repository is a name, or an address that git fetches from without starting
// what the address names. The first letter is none that begins an option.
var repository = regexp.MustCompile(`^([A-Za-z0-9][\w./-]*|(https?|ssh|git)://[A-Za-z0-9][\w.@:-]*(/[\w.@:/~+%-]*)?|([A-Za-z0-9][\w.-]*@)?[A-Za-z0-9][\w.-]*:/?[\w~][\w./~+-]*)$`)

// matches reports whether a value is like one of the patterns.
func matches(patterns []string, value string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		ok, err := path.Match(pattern, value)
		return ok && err == nil
	})
}

// dangling reports whether a name that leads nowhere is in its folder all the
// same: a link, and what writes there makes the file it leads to.
func (a *arguments) dangling(at string) bool {
	folder, err := a.look(path.Dir(at))
	if err != nil || !isDir(folder) {
		return false // the folder is looked at next
	}
	names, err := a.World.List(folder.Path)
	return err != nil || slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(name, path.Base(at)) })
}

// programs are the readers of programs that stand in an argument.
var programs = map[effect]func(string) string{effectAwk: oneliner.Awk, effectSed: oneliner.Sed, effectJQ: oneliner.JQ}

// maxProgram bounds how much of a file of awk or sed is read.
const maxProgram = 64 << 10

// programFile reads a program of awk or sed from a file of the working
// directory.
func (a *arguments) programFile(e effect, name string) string {
	if !a.inside(name) || !a.isFile(name) {
		return "is not in the working directory"
	}
	text, err := a.World.Head(join(a.dir, name), maxProgram+1)
	if err != nil || len(text) > maxProgram {
		return "cannot be read"
	}
	if e == effectAwkFile {
		return oneliner.Awk(string(text))
	}
	return oneliner.Sed(string(text))
}

// isFile reports whether a name leads to a regular file.
func (a *arguments) isFile(name string) bool {
	file, err := a.look(join(a.dir, name))
	return err == nil && file.Mode&modeType == modeRegular
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

// into checks a file that is written, unless an option says that it is read.
func (a *arguments) into(who, value string) {
	if strings.Contains(value, ":") || strings.HasPrefix(value, "@") {
		a.find(approval.ReasonStartsProgram, "%s is given %q, which may name another machine, or more files", who, value)
	}
	switch value {
	case "/dev/null", "/dev/stdout", "/dev/stderr":
		return
	}
	dir := a.dir
	a.dir = a.start
	if !a.inside(value) || a.inGit(value) {
		a.written = append(a.written, finding(approval.ReasonOutsideFolder, "%s writes %q, which is not known to be in the working directory", who, value))
	}
	a.dir = dir
}

// finish weighs what only all words together tell.
func (a *arguments) finish(p *profile) {
	if a.places < p.least && !a.alone {
		a.find(approval.ReasonInlineCode, "%s reads its program from its input", p.name)
	}
	if len(p.needs) > 0 && !a.got && !a.alone {
		a.find(approval.ReasonWritesFile, "%s may write files without an option such as %s", p.name, p.needs[0])
	}
	a.finishLast(p)
	if !a.reads {
		a.findings = append(a.findings, a.written...)
	}
	if !a.gathers {
		a.findings = append(a.findings, a.leading...)
	}
	if a.emptied() {
		a.find(approval.ReasonDeletes, "%s deletes all that is in the working directory", p.name)
	}
}

// finishLast reads the last operand as the place that the others are written
// to: in a folder, each under its own name, or all that it holds.
func (a *arguments) finishLast(p *profile) {
	n := len(a.ends) - 1
	if n < 0 {
		return
	}
	to := a.ends[n]
	a.effect(p, p.last, "it", to)
	folder, err := a.look(join(a.start, to.text))
	if to.open != nil || err != nil || !isDir(folder) {
		return
	}
	_, err = a.look(join(a.start, path.Join(to.text, ".git")))
	root := err == nil || folder.Path == a.plan.Cwd.Path
	for _, from := range a.ends[:n] {
		name := path.Base(from.text)
		held := strings.HasSuffix(from.text, "/") || name == "." || name == ".."
		if at := join(a.start, to.text); p.last == effectCopy && !(held && a.closed(at) || !held && a.closed(path.Join(at, name))) {
			a.find(approval.ReasonOutsideFolder, "%s may follow links that lead out of %q", p.name, to.text)
		}
		switch {
		case from.open != nil:
		case held && root:
			a.find(approval.ReasonWritesFile, "%s writes all that %q holds into the folder of a project", p.name, from.text)
		case !held:
			a.effect(p, p.last, "it", argument{text: path.Join(to.text, name)})
		}
	}
}

// closed reports whether no link leads out of a folder, as far as it is there:
// who copies a folder over another one writes through the links in that.
func (a *arguments) closed(folder string) bool {
	file, err := a.look(folder)
	if err != nil || !isDir(file) {
		return true // what is no folder was checked as a name
	}
	seen, folders := 0, []string{file.Path}
	for len(folders) > 0 {
		names, err := a.World.List(folders[0])
		if seen += len(names); err != nil || seen > maxCopied {
			return false
		}
		for _, name := range names {
			at := path.Join(folders[0], name)
			file, err := a.look(at)
			switch {
			case err != nil || !within(file.Path, a.plan.Cwd.Path) || ofGit(file.Path):
				return false
			case isDir(file) && file.Path == at:
				folders = append(folders, at)
			case isDir(file):
				return false // a link to a folder, which may be above
			}
		}
		folders = folders[1:]
	}
	return true
}

// maxCopied bounds how many names are looked at in a folder that is there.
const maxCopied = 2000

// emptied reports whether everything in the working directory is deleted that
// a lone * stands for: that counts as the folder itself.
func (a *arguments) emptied() bool {
	root := a.plan.Cwd.Path
	if !slices.ContainsFunc(a.gone, func(name string) bool { return path.Dir(name) == root }) {
		return false
	}
	names, err := a.World.List(root)
	left, folder := 0, false
	for _, name := range names {
		at := path.Join(root, name)
		file, err := a.look(at)
		switch {
		case strings.HasPrefix(name, "."), err != nil: // a pattern does not stand for these
		case !slices.Contains(a.gone, at):
			return false
		default:
			folder = folder || isDir(file)
			left++
		}
	}
	return err != nil || left > 1 || folder
}

// reading is how a statement of SQL begins that only reads, and what a client
// of a database tells about it.
var reading = regexp.MustCompile(`(?i)^(explain (query plan |analyze )?)?(select|with)\s|^(show|describe|desc)\s+[\w\s.%\x27]+$` +
	`|^pragma (table_x?info|index_x?info|index_list|foreign_key_list)\s*\(\s*['"]?\w+['"]?\s*\)$|^pragma (user_version|database_list|integrity_check|quick_check|foreign_keys|journal_mode|page_count|page_size|encoding)$` +
	`|^\.(tables|schema|indexes|databases|fullschema)(\s+\w+)?$|^\\(d[tivnfusx]?|l)\+?(\s+[\w.*]+)?$`)

// sqlWord are the words, quoted texts and signs of SQL, as far as all
// databases read them in one way.
var sqlWord = regexp.MustCompile(`^(\s+|'[^'\\]*'|"[\w .%-]*"|[A-Za-z_]\w*|[0-9][0-9.]*|[.,*=<>!)%+:|?/-])`)

// sqlCalls may stand before a parenthesis; sqlChanges are not in statements
// that only read.
var (
	sqlCalls = words(`abs and any array_agg as avg between by case cast ceil char_length coalesce concat count date datetime
		dense_rank distinct else exists extract filter first_value floor format from group_concat having ifnull iif in instr
		interval isnull json_array_length json_each json_extract json_group_array json_object julianday lag last_value lead
		left length like limit lower ltrim max min not now nullif on or over partition power pg_size_pretty
		pg_total_relation_size pg_relation_size pg_database_size printf quote random rank right round row_number rtrim select
		sqlite_version sqrt strftime string_agg substr substring sum then time to_char total trim typeof unixepoch union
		upper using values version when where year month day`)
	sqlChanges = words(`alter analyse attach begin call commit copy create deallocate declare delete detach do drop dumpfile
		exec execute grant handler import infile insert install into kill listen load lock merge notify outfile prepare
		pager procedure refresh reindex release rename replace reset returning revoke rollback savepoint set shell source system tee truncate
		update upsert vacuum`)
)

// selects reports whether a statement of SQL surely changes nothing and calls
// nothing but what computes. What it does not understand may do more.
func selects(text string) bool {
	text = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(text), ";"))
	if !reading.MatchString(text) || len(text) > maxProgram {
		return false
	}
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, `\`) {
		return true
	}
	if strings.Contains(text, "--") || strings.Contains(text, "/*") || strings.Contains(text, "#") {
		return false
	}
	callable, dot := true, false // what stands before an open parenthesis
	for begins := true; text != ""; begins = false {
		if text[0] == '(' {
			if !callable {
				return false
			}
			text = text[1:]
			continue
		}
		word := sqlWord.FindString(text)
		if word == "" {
			return false
		}
		text = text[len(word):]
		switch name := strings.ToLower(word); {
		case strings.TrimSpace(word) == "":
		case sqlChanges[name]:
			return false
		case begins && name == "pragma":
			return true
		default:
			callable = sqlCalls[name] && !dot || strings.ContainsAny(word[:1], ",=<>!%+:|*/-")
			dot = word == "."
		}
	}
	return true
}

// upward reports whether a name leads down and up again: where that is depends
// on links.
func upward(name string) bool {
	down := false
	for part := range strings.SplitSeq(name, "/") {
		switch part {
		case "", ".":
		case "..":
			if down {
				return true
			}
		default:
			down = true
		}
	}
	return false
}
