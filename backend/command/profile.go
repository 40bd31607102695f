package command

import (
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"strings"
	"sync"

	"github.com/countersign-app/countersign/backend/approval"
)

// profileFiles hold what is known of the arguments of programs, one file a
// family. profiles/README.txt says how they are written.
//
//go:embed profiles/*.txt safebins.txt readers.txt tasks.txt
var profileFiles embed.FS

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
	always   effect
	bare     effect // without an operand
	last     effect // what the last operand is besides
	least    int    // with fewer operands it reads a program from its input
	subs     map[string]*profile
	after    *profile // reads what follows --
	// is holds the directives that are one word, lists those that name options,
	// only and never what the values of an option may be and may not, shows which of
	// them show a setting of git that may hold a secret.
	is          map[string]bool
	lists       map[string][]string
	only, never map[string][]string
	shows       map[string][]string
	derives     []derives
	chosen      []chosen
	// reading are the commands of it that only read, as the profile writes them: ""
	// for all that it can do, or words with / between them.
	reading []string
	// works are those that build, test and check a project, written alike.
	works []string
}

// derives says of which names a program writes files that nobody named: where is
// "cwd" for the folder in which it runs, "it" for that of each operand, or an
// option for the folder that its value names.
type derives struct {
	where string
	names []string
}

// chosen is a file of a project that can name a program to run in the place of one, if a
// word stands in it.
type chosen struct{ file, word string }

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
	// likes are subcommands that are programs of other profiles, by their names.
	likes map[*profile]string
}

// become makes subcommands what the programs are that they start, and tells that the
// project may have another one by that name.
func (l *library) become() error {
	for p, name := range l.likes {
		program := l.programs[name]
		if program == nil {
			return fmt.Errorf("there is no program %q for %s", name, p.name)
		}
		joined := p.is["joined"]
		*p = *program
		p.reading, p.works, p.is = nil, nil, maps.Clone(program.is)
		p.is["project"], p.is["joined"] = true, joined || program.is["joined"]
	}
	l.likes = nil
	return nil
}

// profiles are read at the first use. A test reads them all, so that a
// mistake in one never reaches a user.
var profiles = sync.OnceValue(func() *library { return mustRead("profiles/*.txt") })

func mustRead(pattern string) *library {
	l, err := readProfiles(profileFiles, pattern)
	if err != nil {
		panic(err)
	}
	l.examples = nil // they are for tests
	return l
}

func readProfiles(files fs.FS, pattern string) (*library, error) {
	l := &library{programs: map[string]*profile{}, likes: map[*profile]string{}}
	names, err := fs.Glob(files, pattern)
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
	return l, l.become()
}

// CommandWords returns how many of the words behind the first one name a
// command of the program: one in "git rebase main", two in "git stash show -p".
// It is zero where options stand before them.
func CommandWords(argv []string) (n int) {
	if len(argv) == 0 {
		return 0
	}
	p := profiles().programs[path.Base(argv[0])]
	for _, arg := range argv[1:] {
		if p == nil || p.subs == nil || p.subs[arg] == nil {
			break
		}
		p = p.subs[arg]
		n++
	}
	return n
}
