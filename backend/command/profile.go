package command

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/countersign-app/countersign/backend/approval"
)

// profileFiles hold what is known of the arguments of programs, one file a
// family. profiles/README.txt says how they are written.
//
//go:embed profiles/*.txt
var profileFiles embed.FS

// effect is what an option or an operand does beyond the program's own job.
type effect string

const (
	effectNone    effect = ""
	effectStarts  effect = "starts"  // starts a program that the request names
	effectCode    effect = "code"    // evaluates code that the request names
	effectWrites  effect = "writes"  // writes a file, where that is not the program's job
	effectUploads effect = "uploads" // sends a file away
	effectConfig  effect = "config"  // changes settings that stay
	effectSystem  effect = "system"  // changes the machine
	effectInside  effect = "inside"  // names a file or folder that must lie in the working directory
	effectFolder  effect = "folder"  // the same, and the words after it are names below it
	effectName    effect = "name"    // is a plain word, no address and no way out
	effectLocal   effect = "local"   // is a file, and no address
	effectPath    effect = "path"    // is a pattern of paths or a version of one, as git reads them
	effectJQ      effect = "jq"      // is a program of jq
	effectBody    effect = "body"    // is sent as it stands, or names a file to send
	effectURL     effect = "url"     // is an address of the web
	effectDeletes effect = "deletes" // deletes files, where that is not its job
	effectDown    effect = "down"    // names what is deleted: strictly below the working directory
	effectScript  effect = "script"  // is a file of the working directory that it runs; the rest is for that
	effectMoves   effect = "moves"   // names a folder, in which the command runs
	effectMark    effect = "mark"    // is a mark that words of the input are put for
	effectOnly    effect = "only"    // is one of the words that the profile lists
	effectBelow   effect = "below"   // names what is deleted or overwritten, as git reads paths: no pattern
	effectRepo    effect = "repo"    // is a repository: a plain name, or an address that is fetched over the network
	effectRef     effect = "ref"     // is what is pushed where, and neither forced nor deleted
	effectContext effect = "context" // is a folder of the working directory that is there, and no address
	effectSecrets effect = "secrets" // shows what is secret
	effectVar     effect = "var"     // is a variable that is taken away
	effectCommand effect = "command" // begins a command, which is all the rest
	effectFed     effect = "fed"     // the same, and words are added to it that nobody judges
	effectRun     effect = "run"     // begins a command that ends with ; or +, with names of files in it
	effectInto    effect = "into"    // names what it writes, in the working directory; with an option of "reads", what it reads
	effectEach    effect = "each"    // as into, and not the working directory itself
	effectCopy    effect = "copy"    // as into, and no link leads out of a folder that is there
	effectUnder   effect = "under"   // names a folder strictly below the working directory; words after it are names below it
	effectSink    effect = "sink"    // is a file that it writes; - and /dev/null are none
	effectPlain   effect = "plain"   // is a file that it reads: no address, no @file and no +command
	effectSelect  effect = "select"  // is a statement of SQL that only reads
	effectAwk     effect = "awk"     // is a program of awk
	effectSed     effect = "sed"     // is a program of sed
	effectAwkFile effect = "awkfile" // is a file with one
	effectSedFile effect = "sedfile"
	effectWord    effect = "word"    // is a word of letters, digits and _ = + -
	effectFile    effect = "file"    // is as inside, and no address, no @file and no +name
	effectUsual   effect = "usual"   // is a file of the working directory, named as its settings usually are
	effectHere    effect = "here"    // is the working directory or begins with ./, and no address
	effectGoFile  effect = "gofile"  // the same, or a file of Go
	effectSwitch  effect = "switch"  // is as name, or NAME=VALUE with a number, or a word as ON, true or Release
	effectTask    effect = "task"    // is as name, and may hold colons and @
	effectGoal    effect = "goal"    // the same with one colon at most, as mvn names what its own plugins do
	effectPackage effect = "package" // is a package of a registry: no address, no folder, and no file that is here
	effectOut     effect = "out"     // is as inside, or /dev/null
	effectGoFlags effect = "goflags" // are those flags of go's compiler and linker that name no program and no file
)

// taking says whether an option takes a value.
type taking int

const (
	takesNone  taking = iota
	takesValue        // attached, or the next word, unless that begins with a dash
	takesSure         // attached, or the next word, whatever it is
	takesMaybe        // attached only
	takesPair         // a name and a value, the next two words
)

// next reports whether the value may be the next word.
func (t taking) next() bool { return t == takesValue || t == takesSure }

// option is one option of a program.
type option struct {
	takes  taking
	effect effect
}

// profile is what is known of the arguments of a program, or of one of its
// subcommands. What is not in it has an effect that nobody knows, and asks.
type profile struct {
	name     string
	options  map[string]option
	operands []effect // by place; the last one counts for all that follow
	any      bool     // operands may be given
	number   bool     // -NUM is an option
	single   bool     // one dash begins a long name, as in find and go
	plus     bool     // +WORD is no operand
	project  bool     // it starts what the project names
	nostop   bool     // -- does not end the options
	old      bool     // the first word is a bundle of letters, also without a dash before it
	least    int      // with fewer operands it reads a program from its input
	last     effect   // what the last operand is besides
	reads    []string // with one of these it writes none of its operands
	gathers  []string // with one of these it writes nothing under its folders
	exact    bool     // its long options are not abbreviated
	mixed    bool     // with single: other words that begin with one dash are letters
	assigns  bool     // NAME=VALUE may stand before the command
	atfile   bool     // a word that begins with @ is a file with more words
	apart    bool     // letters stand alone, their values too, and long names are whole
	always   effect
	bare     effect   // without an operand
	needs    []string // without one of these options it writes
	alone    []string // with one of these it only tells about itself
	given    []string // with one of these before it, the first operand counts as the second
	dry      []string // with one of these before them, its operands have no effect
	subs     map[string]*profile
	after    *profile // reads what follows --

	only  map[string][]string // what the values of an option may be
	never map[string][]string // what no value of an option may be
}

// example is a command that must pass, or ask for a reason.
type example struct {
	file   string
	line   int
	argv   []string
	reason approval.Reason
}

// library is what all files say.
type library struct {
	programs map[string]*profile
	examples []example
}

// profiles are read at the first use. A test reads them all, so that a
// mistake in one never reaches a user.
var profiles = sync.OnceValue(func() *library {
	l, err := readProfiles(profileFiles)
	if err != nil {
		panic(err)
	}
	return l
})

func readProfiles(files fs.FS) (*library, error) {
	l := &library{programs: map[string]*profile{}}
	names, err := fs.Glob(files, "profiles/*.txt")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		if strings.HasSuffix(name, "/README.txt") {
			continue
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return nil, err
		}
		r := profileReader{library: l, file: name}
		for line := range strings.Lines(string(text)) {
			r.line++
			if err := r.read(strings.TrimSpace(line)); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, r.line, err)
			}
		}
	}
	return l, nil
}

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
	case "number", "single", "plus", "project", "nostop", "mixed", "assigns", "atfile", "apart", "exact":
		for _, p := range r.now {
			p.number, p.single = p.number || word == "number", p.single || word == "single"
			p.plus, p.project = p.plus || word == "plus", p.project || word == "project"
			p.atfile, p.apart = p.atfile || word == "atfile", p.apart || word == "apart"
			p.nostop, p.mixed, p.assigns = p.nostop || word == "nostop", p.mixed || word == "mixed", p.assigns || word == "assigns"
			p.exact = p.exact || word == "exact"
		}
		return nil
	case "operands":
		return r.operands(fields)
	case "needs":
		for _, p := range r.now {
			p.needs = fields
		}
		return nil
	case "dry":
		for _, p := range r.now {
			p.dry = fields
		}
		return nil
	case "only":
		return r.only(fields)
	case "old", "least", "last", "reads", "gathers":
		return r.ends(word, fields)
	case "never":
		return r.never(fields)
	case "given":
		for _, p := range r.now {
			p.given = fields
		}
		return nil
	case "alone":
		for _, p := range r.now {
			p.alone = fields
		}
		return r.options("flag", fields)
	case "always", "bare":
		for _, p := range r.now {
			if word == "always" {
				p.always = effect(rest)
			} else {
				p.bare = effect(rest)
			}
		}
		return known(effect(rest))
	}
	return r.options(word, fields)
}

func newProfile(name string) *profile { return &profile{name: name, options: map[string]option{}} }

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
				at.subs[word].exact = r.program.exact
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

// never reads an option that is listed elsewhere, or "it" for the operands,
// and what its values may not be, in any case of letters.
func (r *profileReader) never(words []string) error {
	if len(words) < 2 {
		return fmt.Errorf("never needs an option and what its values may not be")
	}
	for _, p := range r.now {
		if p.never == nil {
			p.never = map[string][]string{}
		}
		p.never[words[0]] = append(p.never[words[0]], words[1:]...)
	}
	return patterned(words[1:])
}

func patterned(words []string) error {
	for _, pattern := range words {
		if _, err := path.Match(pattern, ""); err != nil {
			return fmt.Errorf("%q is no pattern", pattern)
		}
	}
	return nil
}

// only reads an option, or "it" for the operands, and what its values may be.
func (r *profileReader) only(words []string) error {
	if len(words) < 2 {
		return fmt.Errorf("only needs an option and what its values may be")
	}
	if err := patterned(words[1:]); err != nil {
		return err
	}
	more := false // a second line for the same option
	for _, p := range r.now {
		if p.only == nil {
			p.only = map[string][]string{}
		}
		more = p.only[words[0]] != nil
		p.only[words[0]] = append(p.only[words[0]], words[1:]...)
	}
	if words[0] == "it" || more {
		return nil
	}
	return r.options("only", words[:1])
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

// ends reads what is weighed when all words of a command are known.
func (r *profileReader) ends(word string, fields []string) error {
	if len(fields) != 1 && (word == "least" || word == "last") {
		return fmt.Errorf("%s needs one word", word)
	}
	for _, p := range r.now {
		switch word {
		case "old":
			p.old = true
		case "reads":
			p.reads = fields
		case "gathers":
			p.gathers = fields
		case "last":
			p.last = effect(fields[0])
		case "least":
			n, err := strconv.Atoi(fields[0])
			if err != nil {
				return err
			}
			p.least = n
		}
	}
	if word == "last" {
		return known(effect(fields[0]))
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
	switch e {
	case effectNone, effectStarts, effectCode, effectWrites, effectUploads, effectConfig, effectSystem, effectInside, effectFolder, effectName,
		effectLocal, effectPath, effectJQ, effectBody, effectURL, effectDeletes, effectDown, effectScript, effectMoves, effectMark, effectVar, effectContext, effectSecrets, effectOnly, effectBelow, effectRepo, effectRef, effectCommand, effectFed,
		effectRun, effectAwk, effectSed, effectAwkFile, effectSedFile, effectInto, effectEach, effectCopy, effectUnder, effectSink, effectPlain, effectSelect, effectWord, effectFile, effectUsual,
		effectHere, effectGoFile, effectSwitch, effectTask, effectGoal, effectPackage, effectOut, effectGoFlags:
		return nil
	}
	return fmt.Errorf("there is no effect %q", e)
}
