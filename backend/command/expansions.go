package command

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/envnames"
)

// home returns what $HOME and $PWD stand for: no request and no text may change
// them. PWD is the way by which a shell came, which is known as long as that
// held no link.
func (t *textJob) home(part syntax.WordPart, whole bool, dir string) (string, bool) {
	p, ok := part.(*syntax.ParamExp)
	if !ok || !plainParameter(p) {
		return "", false
	}
	text := ""
	switch p.Param.Value {
	case "HOME":
		text = t.Home
	case "PWD":
		if !t.linked {
			text = dir
		}
	}
	if text == "" || !whole && strings.ContainsAny(text, " \t\n*?[\\") {
		return "", false
	}
	return text, t.ring2
}

// part plans one expansion. quoted tells that it stands in quotes, and whole that
// what it becomes stays one word.
func (t *textJob) part(part syntax.WordPart, quoted, whole bool, dir string) (approval.Part, bool) {
	if !t.ring2 {
		return approval.Part{}, false
	}
	switch part := part.(type) {
	case *syntax.ParamExp:
		if plainParameter(part) && part.Param.Value == "?" {
			t.asksStatus()
			return approval.Part{Kind: approval.PartVar, Text: "?"}, true
		}
		if plainParameter(part) && part.Param.Value == "!" {
			return approval.Part{Kind: approval.PartVar, Text: "!"}, t.who == approval.Ours
		}
		if plainParameter(part) && part.Param.Value == approval.CountParameters {
			return approval.Part{Kind: approval.PartSum, Sum: &approval.Sum{Op: approval.SumName, Name: approval.CountParameters}}, true
		}
		if part.Param == nil || !t.mayRead(part.Param.Value) && approval.Positional(part.Param.Value) == 0 {
			return approval.Part{}, false
		}
		form, ok := t.form(part, quoted, whole, dir)
		return approval.Part{Kind: approval.PartVar, Text: part.Param.Value, Form: form}, ok && t.clear(part.Param.Value, form)
	case *syntax.ArithmExp:
		if part.Bracket || part.Unsigned {
			return approval.Part{}, false
		}
		sum, ok := t.sum(part.X, dir)
		return approval.Part{Kind: approval.PartSum, Sum: &sum}, ok
	case *syntax.CmdSubst:
		if part.TempFile || part.ReplyVar || len(part.Stmts) == 0 {
			return approval.Part{}, false
		}
		t.feeds++
		defer func() { t.feeds-- }()
		defer t.inside()()
		defer t.hold()()
		node, ok := t.stmts(part.Stmts, &dir)
		t.stale = true
		return approval.Part{Kind: approval.PartOutput, Run: node}, ok
	}
	return approval.Part{}, false
}

// asksStatus asks where a text wants the last status between a substitution and
// the end of the command that it is in: to bash it is that of the substitution,
// to dash that of the command before.
func (t *textJob) asksStatus() {
	if t.stale && t.grammar != bash {
		t.ask(approval.ReasonUnreadable, "shells do not agree on what $? is here")
	}
}

// plainParameter reports whether an expansion is $NAME or ${NAME} and nothing
// more.
func plainParameter(p *syntax.ParamExp) bool {
	return p.Param != nil && p.Flags == nil && !p.Excl && !p.Length && !p.Width && !p.IsSet && p.Split == 0 && p.GlobSubst == 0 &&
		p.RcExpand == 0 && p.NestedParam == nil && p.Index == nil && len(p.Modifiers) == 0 && p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Exp == nil
}

// mayRead reports whether a text may use a variable: a name, no secret, and
// none that the shell makes up.
func (t *textJob) mayRead(name string) bool {
	return envnames.Requested(name) != envnames.Malformed && !hides(name) && !ofShell()[name]
}

// hides reports whether the value of a variable may be secret, by its name.
func hides(name string) bool {
	return envnames.Requested(name) == envnames.Asks || envnames.Secret(name)
}

// ofShell are variables that a shell makes up, each shell its own.
var ofShell = words(`BASH BASHOPTS BASHPID BASH_ALIASES BASH_ARGC BASH_ARGV BASH_ARGV0 BASH_CMDS BASH_COMMAND BASH_COMPAT
	BASH_EXECUTION_STRING BASH_LINENO BASH_SOURCE BASH_SUBSHELL BASH_VERSINFO BASH_VERSION BASH_XTRACEFD COMP_CWORD COMP_LINE
	COPROC DIRSTACK EPOCHREALTIME EPOCHSECONDS EUID FUNCNAME GROUPS HISTCMD HOSTNAME HOSTTYPE IFS LINENO MACHTYPE MAPFILE
	OPTARG OPTERR OPTIND OSTYPE PIPESTATUS PPID PS1 PS2 PS3 PS4 RANDOM REPLY SECONDS SHELLOPTS SHLVL SRANDOM UID _`)

// Limits on the values that an open word is tried with.
const (
	maxMaybe = 64   // how many
	maxValue = 4096 // bytes of one
)

// open says what is known of a word that only the run can tell. have is what
// is known of the other words that the same braces made.
func (t *textJob) open(have *approval.Open, parts approval.Word, dir string) *approval.Open {
	o := &approval.Open{}
	literal := true
	values := []string{""}
	for i, p := range parts {
		maybe := []string{p.Text}
		switch p.Kind {
		case approval.PartVar, approval.PartOutput:
			o.Many = o.Many || !p.Quoted
			if maybe = t.values[p.Text]; p.Text == "PWD" && dir != "" {
				maybe = []string{dir}
			}
			if p.Form != nil {
				maybe = t.formed(p.Form, maybe, dir)
			}
			if p.Kind == approval.PartOutput || len(maybe) == 0 {
				maybe = []string{"x"} // any: what stands around it may still tell
			}
		case approval.PartSum:
			maybe = []string{"1"}
		case approval.PartGlob:
			o.Many = true
		case approval.PartText:
			if literal && i == 0 {
				o.Prefix = p.Text
			}
		}
		literal = literal && p.Kind == approval.PartText
		if len(values)*len(maybe) > maxMaybe || len(values[0])+len(maybe[0]) > maxValue {
			t.complex("a word may have too many values, or too long ones")
			values, maybe = values[:1], []string{""}
		}
		var next []string
		for _, v := range values {
			for _, m := range maybe {
				next = append(next, v+m)
			}
		}
		values = next
		t.spend(len(next))
	}
	o.Maybe = values
	if all, ok := t.tells(parts, dir); ok {
		o.Maybe, o.Known, o.Many = all, true, false
	} else if some, ok := t.like(parts); ok {
		o.Maybe, o.Like = some, true
	}
	if have != nil {
		o.Known, o.Like = false, false
		o.Maybe, o.Prefix, o.Many = append(o.Maybe, have.Maybe...), "", true
	}
	return o
}
