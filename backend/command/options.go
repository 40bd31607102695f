package command

import (
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/envnames"
	"github.com/countersign-app/countersign/backend/oneliner"
)

// profiled judges the arguments of a program that has a profile. It returns
// nil where there is none.
func (j *job) profiled(seg *approval.Segment, names ...string) *arguments {
	p := profiles().programs[names[0]]
	for _, name := range names {
		if profiles().programs[name] != p {
			return nil
		}
	}
	if p == nil {
		return nil
	}
	a := &arguments{job: j, dir: seg.Dir}
	if p.project && (seg.Dir == "" || !within(seg.Dir, j.plan.Cwd.Path)) {
		a.find(approval.ReasonOutsideFolder, "%s starts what a folder names that is not the working directory", p.name)
	}
	a.read(p, operands(seg))
	if len(p.needs) > 0 && !a.got {
		a.find(approval.ReasonWritesFile, "%s writes files without %s", p.name, p.needs[0])
	}
	return a
}

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
	commands []inner
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
	if p.always != effectNone {
		a.effect(p, p.always, "it", argument{})
	}
	for len(args) > 0 {
		word := args[0]
		arg := word.text
		args = args[1:]
		switch {
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
			return
		case len(arg) > 2 && strings.HasPrefix(arg, "--"), p.single && len(arg) > 1 && arg[0] == '-':
			args = a.long(p, word, args)
		case len(arg) > 1 && arg[0] == '-':
			args = a.short(p, word, args)
		case p.subs != nil:
			sub := p.subs[arg]
			if sub == nil || word.open != nil {
				a.unknown(p, "the command %q", arg)
				return
			}
			p, a.places = sub, 0
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
	case p.subs != nil:
		a.unknown(p, "it without a command")
	case p.bare != effectNone && a.places == 0 && len(a.commands) == 0:
		a.effect(p, p.bare, "it", argument{})
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
	if !ok && !p.single {
		name, o, ok = p.complete(name)
	}
	switch {
	case !ok && p.mixed && !strings.HasPrefix(word.text, "--"):
		return a.short(p, word, rest)
	case !ok || word.open != nil && !given:
		a.unknown(p, "the option %s", name)
	case o.takes == takesNone && given && !p.single:
		a.unknown(p, "a value of the option %s", name)
	case o.takes.next() && !given && !o.takes.from(rest):
		a.unknown(p, "the option %s without its value", name)
	case o.effect == effectRun && given:
		a.unknown(p, "a value of the option %s", name)
	case o.effect == effectRun:
		return a.run(p, rest)
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
		case o.takes == takesNone:
			a.effect(p, o.effect, name, argument{})
			continue
		case o.effect == effectRun && attached:
			a.unknown(p, "a value of the option %s", name)
			return rest
		case o.effect == effectRun:
			return a.run(p, rest)
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
	a.places++
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
func (a *arguments) run(p *profile, rest []argument) []argument {
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
	a.commands = append(a.commands, inner{words, "", true})
	return rest[min(end+1, len(rest)):]
}

// effect turns what an option or an operand does into a reason to ask.
func (a *arguments) effect(p *profile, e effect, option string, word argument) {
	a.got = a.got || slices.Contains(p.needs, option)
	a.alone = a.alone || slices.Contains(p.alone, option)
	a.given = a.given || slices.Contains(p.given, option)
	value := word.text
	switch {
	case word.open != nil:
		a.values = append(a.values, word.open.Maybe...)
		if e == effectNone || e == effectPath {
			return
		}
		if _, fixed := fixedEffects[e]; !fixed {
			a.find(approval.ReasonRuntimeValue, "what %s is told is known only when it runs", p.name)
			return
		}
	case value != "":
		a.values = append(a.values, value)
	}
	who := p.name
	if option != "it" {
		who += " " + option
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
			option == "--data-urlencode" && strings.Contains(value, "@") ||
			(option == "-b" || option == "--cookie") && !strings.Contains(value, "=") {
			a.find(approval.ReasonUploads, "%s may send a file, or write one", who)
		}
	case effectInside, effectFolder, effectScript:
		if !a.inside(value) {
			a.find(approval.ReasonOutsideFolder, "%s names %q, which is not known to be in the working directory", who, value)
		}
		if e == effectFolder {
			a.dir = join(a.dir, value)
		}
		if e == effectScript && !a.isFile(value) {
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
	case effectDown:
		if !a.inside(value) || path.Clean(join(a.dir, value)) == a.plan.Cwd.Path {
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
	effectDeletes: {approval.ReasonDeletes, "deletes files"},
	effectUploads: {approval.ReasonUploads, "sends a file away"},
	effectConfig:  {approval.ReasonChangesConfig, "changes settings that stay"},
	effectSystem:  {approval.ReasonChangesSystem, "changes the machine"},
}

// nameLetters are those of names that no program reads anything else into.
const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./%,+^{}#-"

// inside reports whether a name surely leads into the working directory of
// the request, by its text and by the links that are there now.
func (a *arguments) inside(name string) bool {
	if a.dir == "" || name == "" || strings.HasPrefix(name, "~") || upward(name) {
		return false
	}
	root := a.plan.Cwd.Path
	at := path.Clean(join(a.dir, name))
	for real := at; ; real = path.Dir(real) {
		file, err := a.look(real)
		if err == nil {
			return within(at, root) && within(file.Path, root)
		}
		if real == "/" || real == "." {
			return false
		}
	}
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
