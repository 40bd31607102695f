package approval

import (
	"slices"
	"time"
)

// Plan is what a request would run. Package command makes it, policy judges
// it, and the runner runs it: one value, so that what was judged is what runs.
type Plan struct {
	// Text is the shell text, or the command formatted for reading when
	// there is no shell.
	Text string `json:"text"`
	// Shell is the name of the shell that was asked to run Text ("sh",
	// "bash"), and empty for a plain command.
	Shell string `json:"shell,omitempty"`
	// Argv is the whole argument vector as it was asked for.
	Argv []string `json:"argv,omitempty"`
	// Cwd is the working directory, bound to the folder that was seen.
	Cwd File `json:"cwd"`
	// Folder is what counts as inside for it.
	Folder Folder `json:"folder,omitzero"`
	// Others are other projects in which its commands start what these say.
	Others []Folder `json:"-"`
	// Segments are the simple commands, in the order of the text.
	Segments []Segment `json:"segments"`
	// Root says in which order the segments run. It is nil when the text is
	// not understood well enough to be run from its plan.
	Root *Node `json:"root,omitempty"`
	// Options are those of the shell that hold from the start: "e", "u",
	// "pipefail".
	Options []string `json:"options,omitempty"`
	// Outer is the program that was asked to run Text (the shell), resolved.
	// A person's yes starts this one.
	Outer *Resolution `json:"outer,omitempty"`
	// Findings are about the text as a whole, each of them a reason to ask.
	Findings []Finding `json:"findings,omitempty"`
	// Invalid is set when the request means nothing at all and is refused.
	Invalid string `json:"invalid,omitempty"`
	// Tool is set for a call of a tool. It has no segments then, unless the tool
	// takes a command.
	Tool *Tool `json:"tool,omitempty"`
	// Targets are the files that redirections write. They and those of segments
	// follow from what is above, as far as it tells; nothing is judged by them.
	Targets []Target `json:"-"`
}

// Target is a file or a folder that a command names to do something to it.
type Target struct {
	// Path is absolute and as it was named: links in it were not followed. It is
	// empty for one that only the run can tell.
	Path string
	Op   TargetOp
}

// TargetOp is what a command does to a file or a folder.
type TargetOp string

const (
	TargetWrites  TargetOp = "writes"  // makes it, or replaces what it holds
	TargetChanges TargetOp = "changes" // changes it, or something in it
	TargetMoves   TargetOp = "moves"   // to another place, where it is a target too
	TargetDeletes TargetOp = "deletes" // with all that is in it
)

// Effect is what an allowed program may do without a question, and is shown.
type Effect string

const (
	// EffectProject starts what the project names: a recipe, a script, a hook.
	EffectProject Effect = "project"
	// EffectDeletes deletes or overwrites files of the working directory.
	EffectDeletes Effect = "deletes"
	// EffectNetwork talks to other machines.
	EffectNetwork Effect = "network"
	// EffectUnseen reads folders with more files than were looked at for secrets.
	EffectUnseen Effect = "unseen"
	// EffectBackground goes on in the background until the whole text is over.
	EffectBackground Effect = "background"
)

// Op is what a node of a plan does.
type Op string

const (
	OpRun        Op = "run"        // start segment Seg
	OpSeq        Op = "seq"        // all kids, one after another
	OpAnd        Op = "and"        // the second if the first succeeded
	OpOr         Op = "or"         // the second if the first failed
	OpPipe       Op = "pipe"       // all kids at once, output to input
	OpNot        Op = "not"        // the opposite status of the one kid
	OpSub        Op = "sub"        // the kid in a subshell
	OpTime       Op = "time"       // the kid, and how long it took
	OpAssign     Op = "assign"     // set variables
	OpIf         Op = "if"         // the second if the first succeeded, else the third, if there is one
	OpWhile      Op = "while"      // the second for as long as the first succeeds
	OpUntil      Op = "until"      // the second for as long as the first fails
	OpFor        Op = "for"        // the kid, with Name set to each of Words
	OpCase       Op = "case"       // the first kid of which one of Cases matches the one of Words
	OpLeave      Op = "leave"      // end so many loops around it as Loops says
	OpAgain      Op = "again"      // go on with the next round of the last of them
	OpNone       Op = "none"       // nothing
	OpAsk        Op = "ask"        // fails where Condition does not hold
	OpSum        Op = "sum"        // fails where the one of Sums is 0
	OpCount      Op = "count"      // after the first of Sums, and while the second is not 0: the kid, then the third
	OpBackground Op = "background" // the kid in a subshell, in the background until the text is over
)

// Node is one step of a plan.
type Node struct {
	Op   Op     `json:"op"`
	Kids []Node `json:"kids,omitempty"`
	// Seg is an index into the plan's segments; it counts only for OpRun.
	Seg int `json:"seg,omitempty"`
	// Name and Words are those of OpFor, Words those of OpCase; Assigns those of OpAssign.
	Name    string   `json:"name,omitempty"`
	Words   []Word   `json:"words,omitempty"`
	Assigns []Assign `json:"assigns,omitempty"`
	// Redirects hold for all kids of a group.
	Redirects []Redirect `json:"redirects,omitempty"`
	// Cases are the patterns of OpCase, for each kid.
	Cases [][]Word `json:"cases,omitempty"`
	// Loops counts those of OpLeave and OpAgain.
	Loops int `json:"loops,omitempty"`
	// Condition is that of OpAsk.
	Condition *Condition `json:"condition,omitempty"`
	// Sums are those of OpSum and OpCount.
	Sums []Sum `json:"sums,omitempty"`
	// Start and End are where the kid of OpBackground stands in the plan's text.
	Start int `json:"start,omitempty"`
	End   int `json:"end,omitempty"`
	// Portable asks OpTime for the short form of time -p.
	Portable bool `json:"portable,omitempty"`
}

// Word is a word as it was written: the run makes final words of it, none, one
// or many.
type Word []Part

// Part is a piece of a word.
type Part struct {
	Kind PartKind `json:"kind"`
	// Text is the text itself, the pattern with what was quoted behind
	// backslashes, or the name of the variable.
	Text string `json:"text,omitempty"`
	// Quoted tells that a value is not split and is no pattern.
	Quoted bool `json:"quoted,omitempty"`
	// Run is what a substitution runs.
	Run *Node `json:"run,omitempty"`
	// Form is what becomes of the value of a variable, nil where it stands as it is.
	Form *Form `json:"form,omitempty"`
	// Sum is what PartSum works out.
	Sum *Sum `json:"sum,omitempty"`
}

// PartKind says what a part stands for.
type PartKind string

const (
	PartText   PartKind = "text"
	PartGlob   PartKind = "glob"   // the names of the files that match
	PartVar    PartKind = "var"    // the value of a variable; "?" is the last status, and AllParameters what it says
	PartOutput PartKind = "output" // what Run prints
	PartSum    PartKind = "sum"    // the number that Sum is
)

// Names of positional parameters, beside those of single ones.
const (
	AllParameters   = "@" // all of them, each a word
	CountParameters = "#" // how many there are
)

// Positional is the place of a single positional parameter, by its name "1" to "9", or 0.
func Positional(name string) int {
	if len(name) != 1 || name[0] < '1' || name[0] > '9' {
		return 0
	}
	return int(name[0] - '0')
}

// ReadNames are the variables of a read, with -r or without.
func ReadNames(argv []string) []string {
	if len(argv) > 1 && argv[1] == "-r" {
		return argv[2:]
	}
	return argv[1:]
}

// Search are folders that a text adds to PATH.
type Search struct {
	// Before and After stand before what PATH holds, and behind it.
	Before []string `json:"before,omitempty"`
	After  []string `json:"after,omitempty"`
	// Venv is the environment of Python that was activated, "" for none.
	Venv string `json:"venv,omitempty"`
}

// Assign gives a variable a value.
type Assign struct {
	// Search is what PATH gets besides what it holds; Value is nothing then.
	Search *Search `json:"search,omitempty"`
	Name   string  `json:"name"`
	Value  Word    `json:"value,omitempty"`
	Export bool    `json:"export,omitempty"`
}

// Variable is one of the environment that a program gets, and that is not known to
// be harmless.
type Variable struct {
	Name, Value string
	// Unknown tells that the value is not known: it is lost, or was not kept.
	Unknown bool
}

// Open is a word of a segment that only the run can tell.
type Open struct {
	// At is its place in Argv, which holds it as it was written.
	At int `json:"at"`
	// Prefix is how it surely begins.
	Prefix string `json:"prefix,omitempty"`
	// Many tells that it may become no word, or more than one.
	Many bool `json:"many,omitempty"`
	// Maybe are values that it may have, as far as the text tells; Known tells that
	// they are all, also of each word where it becomes more than one, Like that it should
	// be one word like them.
	Maybe []string `json:"-"`
	Known bool     `json:"-"`
	Like  bool     `json:"-"`
}

// Segment is one simple command.
type Segment struct {
	// Start and End are byte offsets into the plan's text.
	Start int `json:"start"`
	End   int `json:"end"`
	// Argv are the final words, as far as they are known.
	Argv []string `json:"argv"`
	// Open are the words of Argv that only the run can tell.
	Open []Open `json:"open,omitempty"`
	// Words are the words as written, where one of them is not final: it is
	// open, or stands for the names of files. Else nil.
	Words []Word `json:"words,omitempty"`
	// Made are the places in Argv of words that patterns or braces stand for.
	Made []int `json:"-"`
	// Walks tells that it reads folders as a whole: what is in them when it starts.
	Walks bool `json:"-"`
	// Stores tells that it keeps a whole folder, but what a file of it leaves out.
	Stores bool `json:"-"`
	// Fed tells that what it prints may become words of another command.
	Fed bool `json:"-"`
	// Assigns are the variables set for this command alone.
	Assigns []Assign `json:"assigns,omitempty"`
	// Env are the variables that the text sets and that reach this program, in an
	// assignment before it, an export or a wrapper, without those that are harmless.
	Env []Variable `json:"-"`
	// Dir is the folder it runs in, empty when that is known only at run time.
	Dir string `json:"dir,omitempty"`
	// Builtin names what the runner does itself ("cd", "echo"); no program
	// starts then.
	Builtin string `json:"builtin,omitempty"`
	// Adds is what a builtin adds to PATH for what follows, and Search what the text
	// had added where it stands; nil for nothing.
	Adds   *Search `json:"adds,omitempty"`
	Search *Search `json:"-"`
	// Ends are the processes that a kill names by their numbers, which commands of its
	// session started.
	Ends []ProcessID `json:"-"`
	// Redirects are in the order they were written.
	Redirects []Redirect `json:"redirects,omitempty"`
	// Outputs are those of Findings that are about files which its redirections
	// write, or those of a group around it.
	Outputs []Finding `json:"-"`
	// Via is one more than the index of the segment that starts this one (a
	// wrapper), zero for none.
	Via int `json:"via,omitempty"`
	// Word is the place of its first word in the Argv of the segment that
	// starts it, where that is known for sure.
	Word int `json:"word,omitempty"`
	// Named tells that an unknown program names this one as its last word. It
	// may mean anything, so it counts against the denylist only.
	Named bool `json:"named,omitempty"`
	// Program is what the command word leads to; nil for a builtin or when
	// nothing was found.
	Program *Resolution `json:"program,omitempty"`
	// Kind says what sort of program it is, as far as we know it.
	Kind ProgramKind `json:"kind,omitempty"`
	// Findings are reasons to ask that hold whatever the entries say.
	Findings []Finding `json:"findings,omitempty"`
	// Profiled tells that its arguments were read one by one: what they do
	// beyond the program's own job is in Findings.
	Profiled bool `json:"profiled,omitempty"`
	// Command is where in Argv the command of the program stands ("log" of git), where
	// nothing but flags and folders stands before it; else 0.
	Command int `json:"-"`
	// At is the real folder that its words tell it to work in instead of Dir ("sub" of
	// git -C sub), "" for none.
	At string `json:"-"`
	// Effects are what its job is and a person is told all the same.
	Effects []Effect `json:"effects,omitempty"`
	// Code are the files with program text that its words name, as they were
	// seen, under the names by which it opens them itself: links may lead to
	// them.
	Code []File `json:"-"`
	// Looked tells that what they do hangs on the files that are there, and
	// FromFile that a program in a file was read.
	Looked   bool `json:"-"`
	FromFile bool `json:"-"`
	// Targets are the files and folders that its words name to be changed.
	Targets []Target `json:"-"`
	// Ours is set when its arguments name files of Countersign itself.
	Ours bool `json:"ours,omitempty"`
	// Floor is set when it may never run, whatever policy says.
	Floor string `json:"floor,omitempty"`
	// Asks tells that it is a program of ours which has judged anew what it would
	// run, and that is a segment of its own; Approved is the id under which it runs
	// what was allowed before, "" for none.
	Asks     bool   `json:"-"`
	Approved string `json:"-"`
}

// ProcessID names one process for as long as the machine is up: its number is given to
// another one later.
type ProcessID struct {
	PID int
	// Started is when it started, in the kernel's own units.
	Started uint64
}

// Redirect connects one descriptor of a segment.
type Redirect struct {
	FD int `json:"fd"`
	// To is another descriptor (2>&1), or one of those below.
	To int `json:"to"`
	// File is what FromFile reads or ToFile writes, as it was seen, and Text what
	// FromText feeds to the command. Of a file that is not there yet only Path is
	// known.
	File *File  `json:"file,omitempty"`
	Text string `json:"text,omitempty"`
	// Folder is where the file of ToFile is, as it was seen: with nothing but its
	// path where the text makes it first. From is the working directory that its
	// name begins in, "" for a name that says it all.
	Folder *File  `json:"-"`
	From   string `json:"from,omitempty"`
	// Append tells that ToFile keeps what the file holds.
	Append bool `json:"append,omitempty"`
	// Word is the name of ToFile or FromFile where only the run can tell it: File and
	// Folder are nil then, Maybe are names that it may be, and By is the effect by which
	// it may be written. Of FromFile, Maybe are all names, and Files what they lead to.
	Word  Word     `json:"word,omitempty"`
	Maybe []string `json:"-"`
	Files []File   `json:"-"`
	By    Allowed  `json:"by,omitempty"`
}

// Same reports whether two looks at a redirection found the same one. What is in a
// file that is written does not count.
func (r Redirect) Same(o Redirect) bool {
	if r.FD != o.FD || r.To != o.To || r.Text != o.Text || r.From != o.From || r.Append != o.Append || (r.File == nil) != (o.File == nil) || (r.Folder == nil) != (o.Folder == nil) {
		return false
	}
	if !slices.EqualFunc(r.Files, o.Files, File.Same) || len(r.Files) > 0 && !slices.Equal(r.Maybe, o.Maybe) {
		return false
	}
	switch {
	case r.File == nil:
		return true
	case r.File.Path != o.File.Path:
		return false
	case r.To != ToFile:
		return r.File.Same(*o.File)
	}
	return r.File.SameFolder(*o.File) && (r.Folder == nil || r.Folder.Path == o.Folder.Path && r.Folder.SameFolder(*o.Folder))
}

// What Redirect.To can be beside a descriptor.
const (
	ToNull   = -1 // /dev/null
	FromFile = -2 // Redirect.File
	FromText = -3 // Redirect.Text
	ToFile   = -4 // Redirect.File
)

// ProgramKind sorts programs by what an entry for them can mean.
type ProgramKind string

const (
	KindOther       ProgramKind = ""            // nothing is known of it
	KindReader      ProgramKind = "reader"      // reads its operands, starts nothing
	KindShell       ProgramKind = "shell"       // sh, bash, fish …
	KindInterpreter ProgramKind = "interpreter" // python, node …
	KindMultiplexer ProgramKind = "multiplexer" // busybox, toybox
	KindWrapper     ProgramKind = "wrapper"     // env, nice, xargs …
	KindStarter     ProgramKind = "starter"     // has options or files that start programs: git, find, make …
	KindChanger     ProgramKind = "changer"     // writes, deletes or changes the machine
)

// Resolution is the file that a command word leads to.
type Resolution struct {
	// Word is the command word as written.
	Word string `json:"word"`
	// Path is the absolute path the word led to, before its last link was
	// followed: argv[0] of the process.
	Path string `json:"path"`
	// Bare tells that Word had no slash and was found through PATH.
	Bare bool `json:"bare,omitempty"`
	// Link is Path with the links of its folder followed, when Path itself is
	// a link; empty when it is not.
	Link string `json:"link,omitempty"`
	// Kept tells that a link of the system leads from Path to the file, and only
	// root can change where to, or what is there.
	Kept bool `json:"-"`
	// File is the program itself, at its real path.
	File File `json:"file"`
	// Interpreter is what the #! line of a script names, resolved.
	Interpreter *Resolution `json:"interpreter,omitempty"`
	// InterpreterArg is the one argument that the #! line passes.
	InterpreterArg string `json:"interpreterArg,omitempty"`
}

// Same reports whether two looks led to the same program, by the same
// interpreters. Both may be nil.
func (r *Resolution) Same(o *Resolution) bool {
	if r == nil || o == nil {
		return r == o
	}
	return r.Path == o.Path && r.File.Path == o.File.Path && r.File.Same(o.File) && r.InterpreterArg == o.InterpreterArg && r.Interpreter.Same(o.Interpreter)
}

// File is a file or folder as it was seen: enough to tell later whether it
// is still the same one. Times are in nanoseconds since 1970.
type File struct {
	Path    string `json:"path"`
	Dev     uint64 `json:"-"`
	Ino     uint64 `json:"-"`
	Size    int64  `json:"size,omitempty"`
	Mode    uint32 `json:"-"`
	UID     int    `json:"-"`
	Links   uint64 `json:"-"` // names of the file, 0 where nobody counted
	Changed int64  `json:"-"` // inode change time, which no program can set
	Mod     int64  `json:"mtime,omitempty"`
}

// Same reports whether two looks at a regular file saw the same file with
// the same content. The path does not count.
func (f File) Same(g File) bool {
	f.Path, g.Path = "", ""
	return f == g
}

// OfRoot reports whether a file is root's and nobody else may write to it.
func (f File) OfRoot() bool { return f.UID == 0 && f.Mode&0o022 == 0 }

// IsFolder reports whether it is a folder.
func (f File) IsFolder() bool { return f.Mode&typeMask == typeFolder }

// IsRegular reports whether it is a regular file.
func (f File) IsRegular() bool { return f.Mode&typeMask == typeRegular }

// Types of files in File.Mode, as the kernel writes them.
const (
	typeMask    = 0o170000
	typeFolder  = 0o040000
	typeRegular = 0o100000
)

// Lasting reports whether what a file holds may be remembered under what was
// seen of it: a later change would show. The clocks of file times are too coarse
// to tell two changes apart that follow each other within a second.
func (f File) Lasting(now time.Time) bool {
	return f.Changed != 0 && now.Sub(time.Unix(0, f.Changed)) >= time.Second
}

// SameFolder reports whether two looks at a folder saw the same folder. Of files it
// tells whether they are the same, whatever they hold.
func (f File) SameFolder(g File) bool { return f.Dev == g.Dev && f.Ino == g.Ino }
