package command

import (
	"path"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
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
	a.read(p, seg.Argv[1:])
	if len(p.needs) > 0 && !a.got {
		a.find(approval.ReasonWritesFile, "%s writes files without %s", p.name, p.needs[0])
	}
	return a
}

// arguments reads the words of one program by its profile.
type arguments struct {
	*job
	dir      string // where its words are names of files
	findings []approval.Finding
	values   []string // its operands, and the values of its options
	places   int      // operands so far
	plus     int      // words so far that begin with +
	got      bool     // one of the options that the profile needs
}

func (a *arguments) find(reason approval.Reason, format string, args ...any) {
	a.findings = append(a.findings, finding(reason, format, args...))
}

func (a *arguments) read(p *profile, args []string) {
	if p.always != effectNone {
		a.effect(p, p.always, "it", "")
	}
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		switch {
		case arg == "--" && p.nostop:
			a.unknown(p, "the word --")
		case arg == "--" && p.after != nil:
			p, a.places = p.after, 0
		case arg == "--":
			for _, operand := range args {
				a.operand(p, operand)
			}
			return
		case len(arg) > 2 && strings.HasPrefix(arg, "--"), p.single && len(arg) > 1 && arg[0] == '-':
			args = a.long(p, arg, args)
		case len(arg) > 1 && arg[0] == '-':
			args = a.short(p, arg, args)
		case p.subs != nil:
			sub := p.subs[arg]
			if sub == nil {
				a.unknown(p, "the command %q", arg)
				return
			}
			p, a.places = sub, 0
			if p.always != effectNone {
				a.effect(p, p.always, "it", "")
			}
		default:
			a.operand(p, arg)
		}
	}
	if p.subs != nil {
		a.unknown(p, "it without a command")
	}
}

func (a *arguments) unknown(p *profile, format string, args ...any) {
	a.find(approval.ReasonStartsProgram, "what "+format+" does with "+p.name+" is not known", args...)
}

// long reads an option with a long name, of which GNU programs take any
// beginning that only one has.
func (a *arguments) long(p *profile, arg string, rest []string) []string {
	name, value, given := strings.Cut(arg, "=")
	if p.single { // go takes one dash or two
		name = "-" + strings.TrimLeft(name, "-")
	}
	o, ok := p.options[name]
	if !ok && !p.single {
		name, o, ok = p.complete(name)
	}
	if !ok {
		a.unknown(p, "the option %s", name)
		return rest
	}
	switch {
	case o.takes == takesNone && given && !p.single:
		a.unknown(p, "a value of the option %s", name)
	case o.takes.next() && !given && !o.takes.from(rest):
		a.unknown(p, "the option %s without its value", name)
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
func (t taking) from(rest []string) bool {
	return len(rest) > 0 && (t == takesSure || len(rest[0]) < 2 || rest[0][0] != '-')
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
func (a *arguments) short(p *profile, arg string, rest []string) []string {
	if p.number && strings.Trim(arg[1:], "0123456789") == "" {
		return rest
	}
	for i := 1; i < len(arg); i++ {
		name := "-" + arg[i:i+1]
		o, ok := p.options[name]
		if !ok {
			a.unknown(p, "the option %s", name)
			return rest
		}
		value := arg[i+1:]
		switch {
		case o.takes == takesNone:
			a.effect(p, o.effect, name, "")
			continue
		case o.takes.next() && value == "" && !o.takes.from(rest):
			a.unknown(p, "the option %s without its value", name)
			return rest
		case o.takes.next() && value == "":
			value, rest = rest[0], rest[1:]
		}
		a.effect(p, o.effect, name, value)
		return rest
	}
	return rest
}

func (a *arguments) operand(p *profile, word string) {
	switch {
	case p.plus && a.plus == 0 && strings.HasPrefix(word, "+"):
		a.plus++
		return
	case !p.any:
		a.unknown(p, "the word %q", word)
		return
	}
	place := min(a.places, len(p.operands)-1)
	a.places++
	a.effect(p, p.operands[place], "it", word)
}

// effect turns what an option or an operand does into a reason to ask.
func (a *arguments) effect(p *profile, e effect, option, value string) {
	a.got = a.got || slices.Contains(p.needs, option)
	if value != "" {
		a.values = append(a.values, value)
	}
	who := p.name
	if option != "it" {
		who += " " + option
	}
	switch e {
	case effectStarts:
		a.find(approval.ReasonStartsProgram, "%s starts a program", who)
	case effectCode:
		a.find(approval.ReasonInlineCode, "%s runs code", who)
	case effectWrites:
		a.find(approval.ReasonWritesFile, "%s writes a file", who)
	case effectUploads:
		a.find(approval.ReasonUploads, "%s sends a file away", who)
	case effectConfig:
		a.find(approval.ReasonChangesConfig, "%s changes settings that stay", who)
	case effectSystem:
		a.find(approval.ReasonChangesSystem, "%s changes the machine", who)
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
	case effectJQ:
		if strings.Contains(value, "env") || strings.Contains(value, "ENV") || strings.Contains(value, "import") || strings.Contains(value, "include") {
			a.find(approval.ReasonStartsProgram, "the program of %s reads the environment or other files", who)
		}
	case effectInside, effectFolder:
		if !a.inside(value) {
			a.find(approval.ReasonOutsideFolder, "%s names %q, which is not known to be in the working directory", who, value)
		}
		if e == effectFolder {
			a.dir = join(a.dir, value)
		}
	}
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
