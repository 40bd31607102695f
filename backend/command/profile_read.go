package command

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// profileReader reads one file.
type profileReader struct {
	*library
	file    string
	line    int
	program *profile
	now     []*profile // what a line is about: a program, or some of its subcommands
}

func (r *profileReader) read(line string) error {
	if line == "" || strings.HasPrefix(line, "#") {
		return nil
	}
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	fields := strings.Fields(rest)
	if word != "program" && r.program == nil {
		return fmt.Errorf("%q stands before the first program", word)
	}
	switch word {
	case "program":
		return r.start(fields)
	case "sub":
		return r.startSub(fields)
	case "pass", "ask":
		return r.example(word, rest)
	case "operands":
		return r.operands(fields)
	case "only", "never", "shows":
		return r.values(word, fields)
	case "always", "bare", "last", "least":
		return r.one(word, rest)
	case "network":
		return r.network(fields)
	case "derives":
		return r.derives(fields)
	case "chooses":
		return r.chooses(fields)
	case "reading", "works":
		return r.listed(word, fields)
	case "like":
		return r.like(fields)
	}
	switch {
	case traits()[word]:
		for _, p := range r.now {
			p.is[word] = true
		}
		return nil
	case optionLists()[word]:
		for _, p := range r.now {
			p.lists[word] = fields
		}
		if word == "alone" {
			return r.options("flag", fields)
		}
		return nil
	}
	return r.options(word, fields)
}

// traits are the directives that are one word, optionLists those that name
// options.
var (
	traits      = words("number single plus adds joined project nostop mixed assigns itself atfile apart exact old walks rest dash installed duck")
	optionLists = words("needs guards late alone given dry reads gathers links recursive names")
)

// network reads which subcommands talk to other machines; without a name, it is
// what the line is about.
func (r *profileReader) network(names []string) error {
	if len(names) == 0 {
		for _, p := range r.now {
			p.is["network"] = true
		}
	}
	for _, name := range names {
		at := r.program
		for word := range strings.SplitSeq(name, "/") {
			if at = at.subs[word]; at == nil {
				return fmt.Errorf("%s has no subcommand %s", r.program.name, name)
			}
		}
		at.is["network"] = true
	}
	return nil
}

// listed reads what of a program stands in a start: all of it, or commands of it.
func (r *profileReader) listed(start string, commands []string) error {
	list := &r.program.reading
	if start == "works" {
		list = &r.program.works
	}
	if len(r.now) != 1 || r.now[0] != r.program || *list != nil {
		return fmt.Errorf("%s stands once, before the subcommands of a program", start)
	}
	if *list = commands; len(commands) == 0 {
		*list = []string{""}
	}
	return nil
}

// chooses reads which file of a project can choose the program that answers for this one.
func (r *profileReader) chooses(fields []string) error {
	if len(fields) != 2 || len(r.now) != 1 || r.now[0] != r.program {
		return fmt.Errorf("chooses needs the name of a file and a word, before the subcommands")
	}
	r.program.chosen = append(r.program.chosen, chosen{fields[0], fields[1]})
	return nil
}

// like takes down which program a command of this one is.
func (r *profileReader) like(names []string) error {
	if len(names) != 1 || len(r.now) == 0 || r.now[0] == r.program {
		return fmt.Errorf("like needs a subcommand and one program")
	}
	for _, p := range r.now {
		r.library.likes[p] = names[0]
	}
	return nil
}

// derives reads where a program writes names of its own making, and which.
func (r *profileReader) derives(fields []string) error {
	if len(fields) < 2 || fields[0] != "cwd" && fields[0] != "it" && fields[0][0] != '-' {
		return fmt.Errorf("derives needs a place and patterns of names")
	}
	for _, p := range r.now {
		p.derives = append(p.derives, derives{fields[0], fields[1:]})
	}
	return nil
}

// one reads a directive with one word.
func (r *profileReader) one(word, rest string) error {
	if word == "least" {
		n, err := strconv.Atoi(rest)
		for _, p := range r.now {
			p.least = n
		}
		return err
	}
	for _, p := range r.now {
		switch e := effect(rest); word {
		case "always":
			p.always = e
		case "bare":
			p.bare = e
		case "last":
			p.last = e
		}
	}
	return known(effect(rest))
}

func newProfile(name string) *profile {
	return &profile{
		name: name, options: map[string]option{}, is: map[string]bool{}, lists: map[string][]string{},
		only: map[string][]string{}, never: map[string][]string{}, shows: map[string][]string{},
	}
}

func (r *profileReader) start(names []string) error {
	if len(names) == 0 {
		return fmt.Errorf("a program needs a name")
	}
	r.program = newProfile(names[0])
	r.now = []*profile{r.program}
	for _, name := range names {
		if r.programs[name] != nil {
			return fmt.Errorf("%s is there already", name)
		}
		r.programs[name] = r.program
	}
	return nil
}

func (r *profileReader) startSub(names []string) error {
	r.now = nil
	for _, name := range names {
		at := r.program
		for word := range strings.SplitSeq(name, "/") {
			if word == "--" {
				if at.after == nil {
					at.after = newProfile(at.name + " --")
				}
				at = at.after
				continue
			}
			if at.subs == nil {
				at.subs = map[string]*profile{}
			}
			if at.subs[word] == nil {
				at.subs[word] = newProfile(at.name + " " + word)
				at.subs[word].is["exact"] = r.program.is["exact"]
			}
			at = at.subs[word]
		}
		r.now = append(r.now, at)
	}
	return nil
}

// options reads "flag", "value", "takes", "maybe", or an effect with one of
// them behind it: "writes" takes a value, "writes-flag" none.
func (r *profileReader) options(word string, names []string) error {
	what, how, _ := strings.Cut(word, "-")
	o := option{effect: effect(what), takes: takesValue}
	if word == "flag" || word == "value" || word == "takes" || word == "maybe" || word == "pair" {
		o.effect, how = effectNone, word
	}
	switch how {
	case "", "value":
	case "flag":
		o.takes = takesNone
	case "maybe":
		o.takes = takesMaybe
	case "takes":
		o.takes = takesSure
	case "pair":
		o.takes = takesPair
	default:
		return fmt.Errorf("an option cannot be %q", word)
	}
	if err := known(o.effect); err != nil {
		return err
	}
	for _, name := range names {
		if !strings.HasPrefix(name, "-") || strings.Contains(name, "=") {
			return fmt.Errorf("%q is no option", name)
		}
		for _, p := range r.now {
			if _, twice := p.options[name]; twice {
				return fmt.Errorf("%s has %s twice", p.name, name)
			}
			if o.effect == effectRun {
				o.takes = takesMaybe
			}
			p.options[name] = o
		}
	}
	return nil
}

// values reads an option, or "it" for the operands, and what its values may be
// ("only", which also says that there is such an option), may not be, or show.
func (r *profileReader) values(word string, fields []string) error {
	if len(fields) < 2 {
		return fmt.Errorf("%s needs an option and patterns of its values", word)
	}
	for _, pattern := range fields[1:] {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("%q is no pattern", pattern)
		}
	}
	more := false // a second line for the same option
	for _, p := range r.now {
		list := p.only
		switch word {
		case "never":
			list = p.never
		case "shows":
			list = p.shows
		}
		more = list[fields[0]] != nil
		list[fields[0]] = append(list[fields[0]], fields[1:]...)
	}
	if word != "only" || fields[0] == "it" || more {
		return nil
	}
	return r.options("only", fields[:1])
}

func (r *profileReader) operands(words []string) error {
	for _, p := range r.now {
		p.any = !slices.Equal(words, []string{"none"})
		p.operands = nil
		for _, w := range words {
			e := effect(w)
			if w == "any" || w == "none" {
				e = effectNone
			}
			if err := known(e); err != nil {
				return err
			}
			p.operands = append(p.operands, e)
		}
	}
	return nil
}

// example reads a command line of plain words, with '...' around one that
// holds blanks, and for "ask" the reason behind =>.
func (r *profileReader) example(word, rest string) error {
	e := example{file: r.file, line: r.line}
	if word == "ask" {
		command, reason, ok := strings.Cut(rest, " => ")
		if !ok {
			return fmt.Errorf("an example that asks needs => and the reason")
		}
		rest, e.reason = command, approval.Reason(reason)
	}
	for rest = strings.TrimSpace(rest); rest != ""; rest = strings.TrimSpace(rest) {
		var next string
		if quoted, ok := strings.CutPrefix(rest, "'"); ok {
			if next, rest, ok = strings.Cut(quoted, "'"); !ok {
				return fmt.Errorf("a quote is not closed")
			}
		} else {
			next, rest, _ = strings.Cut(rest, " ")
		}
		e.argv = append(e.argv, next)
	}
	if len(e.argv) == 0 || r.programs[e.argv[0]] != r.program {
		return fmt.Errorf("an example must be a command of %s", r.program.name)
	}
	r.library.examples = append(r.library.examples, e)
	return nil
}

func known(e effect) error {
	if _, ok := effects()[e]; !ok {
		return fmt.Errorf("there is no effect %q", e)
	}
	return nil
}
