//go:build linux || darwin

package runner

import (
	"bytes"
	"context"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/envnames"
	"github.com/countersign-app/countersign/backend/pathname"
	"github.com/countersign-app/countersign/backend/rescue"
)

// expand makes final words of written ones, as bash does. It reports false
// when the shell ends instead, with the ending it then has.
func (sh *shell) expand(list []approval.Word, stderr int) (words []string, e ending, ok bool) {
	for _, word := range list {
		if sh.over() {
			return nil, ending{}, false
		}
		had, f := len(words), fields{}
		if e, ok := sh.fields(&f, word, stderr); !ok {
			return nil, e, false
		}
		for _, field := range f.list() {
			if len(field.pattern) > maxPattern || !pathname.Special(field.pattern) {
				words = append(words, field.text)
				continue
			}
			names, ok := pathname.Expand(sh.disk(), field.pattern, sh.dir.path)
			if !ok || sh.posix() && !pathname.Portable(field.pattern) {
				sh.deny(Outer, denied(approval.ReasonTooComplex, "what its patterns stand for cannot be told, or not without looking at too many files"))
				return nil, ending{}, false
			}
			if len(names) == 0 {
				names = []string{field.text}
			}
			words = append(words, names...)
		}
		if !sh.step(len(words) - had) {
			return nil, ending{}, false
		}
	}
	return words, ending{}, true
}

// one makes one word of a written one: it is not split, and no pattern.
func (sh *shell) one(word approval.Word, stderr int) (text string, e ending, ok bool) {
	f := fields{plain: true}
	e, ok = sh.fields(&f, word, stderr)
	return f.text.String(), e, ok
}

// field is one word, and the pattern that it is.
type field struct{ text, pattern string }

// fields gathers the words that one written word becomes.
type fields struct {
	done          []field
	text, pattern strings.Builder
	has           bool // something is there, be it an empty text in quotes
	plain         bool // it is no pattern
}

func (f *fields) add(text, pattern string) {
	f.has = true
	f.text.WriteString(text)
	if !f.plain {
		f.pattern.WriteString(pattern)
	}
}

func (f *fields) end() {
	if f.has {
		f.done = append(f.done, field{f.text.String(), f.pattern.String()})
	}
	f.text.Reset()
	f.pattern.Reset()
	f.has = false
}

func (f *fields) list() []field {
	f.end()
	return f.done
}

// split adds a value that stands without quotes. Blanks part it; no text can
// set IFS.
func (f *fields) split(value string) {
	const blanks = " \t\n"
	for value != "" && len(f.done) <= maxSteps { // more of them are denied
		if i := strings.IndexAny(value, blanks); i != 0 {
			if i < 0 {
				i = len(value)
			}
			f.add(value[:i], value[:i]) // a backslash in it counts in a pattern
			value = value[i:]
			continue
		}
		f.end()
		value = strings.TrimLeft(value, blanks)
	}
}

func (sh *shell) fields(f *fields, word approval.Word, stderr int) (ending, bool) {
	for _, p := range word {
		if len(f.done) > maxSteps {
			sh.deny(Outer, denied(approval.ReasonTooComplex, "a word becomes more than %d words", maxSteps))
			return ending{}, false
		}
		switch p.Kind {
		case approval.PartText:
			f.add(p.Text, pathname.Escape(p.Text))
		case approval.PartGlob:
			f.add(pathname.Unescape(p.Text), p.Text)
		case approval.PartSum:
			n, e, ok := sh.sum(p.Sum, stderr)
			if !ok {
				return e, false
			}
			text := strconv.FormatInt(n, 10)
			f.add(text, pathname.Escape(text))
		case approval.PartVar, approval.PartOutput:
			if p.Text == approval.AllParameters {
				if !sh.parameters(f, p.Quoted) {
					return ending{}, false
				}
				continue
			}
			if p.Form != nil {
				if use, e, ok := sh.instead(p, stderr); !ok {
					return e, false
				} else if use {
					if e, ok := sh.fields(f, p.Form.Word, stderr); !ok {
						return e, false
					}
					continue
				}
			}
			value, e, ok := sh.value(p, stderr)
			if !ok || p.Kind == approval.PartVar && !sh.grow(len(value)) {
				return e, false
			}
			if p.Quoted {
				f.add(value, pathname.Escape(value))
			} else {
				f.split(value)
			}
		}
	}
	return ending{}, true
}

// parameters adds each positional parameter as a word of its own. It reports false where
// they are too long.
func (sh *shell) parameters(f *fields, quoted bool) bool {
	for i, value := range sh.params {
		if i > 0 {
			f.end()
		}
		if !sh.grow(len(value)) {
			return false
		}
		if quoted {
			f.add(value, pathname.Escape(value))
		} else {
			f.split(value)
		}
	}
	return true
}

// value is what a variable holds, or a substitution prints.
func (sh *shell) value(p approval.Part, stderr int) (string, ending, bool) {
	if p.Kind == approval.PartOutput {
		text, ok := sh.output(p.Run, stderr)
		return text, ending{}, ok
	}
	if p.Text == "?" {
		return strconv.Itoa(sh.last.status()), ending{}, true
	}
	if p.Text == "!" {
		number, ok := sh.numberOf()
		return number, ending{}, ok
	}
	value, set := sh.lookup(p.Text)
	switch {
	case p.Form != nil && p.Form.Op == approval.FormThen:
		return "", ending{}, true // its word is not for this one
	case !set && sh.nounset && sh.posix():
		return "", sh.stops(stderr, "%s: parameter not set", p.Text), false
	case !set && sh.nounset:
		name := p.Text
		if p.Form == nil && approval.Positional(name) > 0 {
			name = "$" + name
		}
		return "", sh.stops(stderr, "%s: unbound variable", name), false
	case p.Form != nil:
		return sh.formed(p.Form, value, stderr)
	}
	return value, ending{}, true
}

// stops ends the shell for a variable that has no value, with the status that bash
// or dash then has.
func (sh *shell) stops(stderr int, format string, a ...any) ending {
	status := 127
	switch sh.exited = true; {
	case sh.negated: // to bash it then succeeds, and not to dash
		sh.deny(Outer, denied(approval.ReasonRuntimeValue, "shells do not agree on the status of a missing value behind !"))
		return ending{}
	case sh.posix():
		status = 2
	case sh.inner || sh.errexit:
		status = 1
	}
	return say(stderr, status, format, a...)
}

// grow counts what words and values are made of, and denies a run that makes
// too much of it.
func (u *run) grow(bytes int) bool {
	now := u.grown.Add(int64(bytes))
	if now > maxGrown {
		u.deny(Outer, denied(approval.ReasonTooComplex, "its words and variables are made of more than %d MB", maxGrown>>20))
		return false
	}
	for now > u.paid.Load() {
		if !u.take(need{bytes: runBytes}) {
			u.deny(Outer, crowded())
			return false
		}
		u.paid.Add(runBytes)
	}
	return true
}

// Limits of a substitution, of all that words are made of, and of a pattern: no
// name of a file is longer.
const (
	maxOutput  = 16 << 20
	maxWaiting = 10 * time.Minute
	maxGrown   = 4 * maxOutput
	maxPattern = 4096
)

// output runs a part of the plan in a subshell and returns what it printed,
// without the line ends at its end.
func (sh *shell) output(n *approval.Node, stderr int) (string, bool) {
	p, err := pipe()
	if err != nil {
		sh.deny(Outer, denied(approval.ReasonTooComplex, "cannot make a pipe: %v", err))
		return "", false
	}
	late := time.AfterFunc(maxWaiting, func() {
		defer rescue.Catch(sh.log, "the end of a substitution", nil)
		sh.deny(Outer, denied(approval.ReasonTooComplex, "a substitution took longer than %v", maxWaiting))
	})
	defer late.Stop()
	from := waiting(p[0])
	defer from.Close()
	// What reads and writes no longer belongs to the run must not keep it.
	defer context.AfterFunc(sh.ctx, func() {
		defer rescue.Catch(sh.log, "the end of a substitution", nil)
		<-sh.terminated
		_ = from.SetReadDeadline(time.Now().Add(outputBound))
	})()
	var text []byte
	var read sync.WaitGroup
	read.Go(func() {
		defer rescue.Catch(sh.log, "the output of a substitution", func() {
			sh.deny(Outer, failed())
			_, _ = io.Copy(io.Discard, from) // who writes to it must see the end
		})
		text = sh.readAll(from)
	})
	sub := sh.sub()
	sub.inner, sub.negated, sub.unsure = true, false, sh.posix() && (sh.tested || sh.unsure)
	if !sh.posix() {
		sub.errexit = false
	}
	func() {
		defer unix.Close(p[1])
		defer sub.leave()
		sh.last = sub.walk(n, stdio{sh.null, p[1], stderr}, false)
	}()
	read.Wait()
	sh.substituted = true
	return string(bytes.TrimRight(text, "\n")), sh.ctx.Err() == nil
}

// waiting makes a file of our end of a pipe. Who reads or writes it holds no
// thread; the other end, which programs get, stays as it is.
func waiting(end int) *os.File {
	_ = unix.SetNonblock(end, true) // a pipe can do this
	return os.NewFile(uintptr(end), "pipe")
}

// posix tells that the text is meant for another shell than bash, and so only
// runs where both agree.
func (sh *shell) posix() bool { return sh.job.Plan.Shell != "" && sh.job.Plan.Shell != "bash" }

// readAll reads to the end, without the zero bytes, which no word can hold.
// Past the limit it denies the run and throws the rest away.
func (sh *shell) readAll(from *os.File) (text []byte) {
	buffer, all := make([]byte, 32<<10), 0
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return text
		}
		if all += n; all > maxOutput {
			sh.deny(Outer, denied(approval.ReasonTooComplex, "a substitution printed more than %d MB", maxOutput>>20))
		} else if sh.grow(n) {
			text = append(text, slices.DeleteFunc(buffer[:n], func(b byte) bool { return b == 0 })...)
		}
	}
}

// lookup returns a variable, of the text or of the environment.
func (sh *shell) lookup(name string) (string, bool) {
	if n := approval.Positional(name); n > 0 {
		if n > len(sh.params) {
			return "", false
		}
		return sh.params[n-1], true
	}
	if name == approval.CountParameters {
		return strconv.Itoa(len(sh.params)), true
	}
	if value, ok := sh.vars[name]; ok {
		return value, true
	}
	return sh.inherited(name)
}

// assign sets variables. One that is in the environment, or was marked for
// it, changes there.
func (sh *shell) assign(list []approval.Assign, stderr int) ending {
	status := ending{}
	for _, a := range list {
		if a.Export {
			sh.marked[a.Name] = true
		}
		if a.Search != nil {
			sh.search(a.Search)
			continue
		}
		if a.Value == nil { // export NAME
			if value, ok := sh.vars[a.Name]; ok {
				delete(sh.vars, a.Name)
				sh.setenv(a.Name, value)
			}
			continue
		}
		sh.substituted = false
		value, e, ok := sh.one(a.Value, stderr)
		if !ok {
			return e
		}
		if sh.substituted && !a.Export {
			status = sh.last
		}
		sh.set(a.Name, value)
	}
	return status
}

// search adds folders to PATH, and says so to programs that look for an environment of
// Python.
func (sh *shell) search(add *approval.Search) {
	had, _ := sh.inherited("PATH")
	value := strings.Join(slices.Concat(add.Before, []string{had}, add.After), ":")
	sh.setenv("PATH", value)
	judged := append(slices.Clip(sh.judged), "PATH="+value)
	if add.Venv != "" {
		sh.setenv("VIRTUAL_ENV", add.Venv)
		sh.env = slices.DeleteFunc(sh.env, func(kv string) bool { return strings.HasPrefix(kv, "PYTHONHOME=") })
		judged = append(judged, "VIRTUAL_ENV="+add.Venv)
	}
	sh.judged = judged
}

func (sh *shell) set(name, value string) {
	if _, inherited := sh.inherited(name); inherited || sh.marked[name] {
		delete(sh.vars, name)
		sh.setenv(name, value)
		return
	}
	sh.vars[name] = value
}

func (sh *shell) inherited(name string) (string, bool) {
	for _, kv := range sh.env {
		if value, ok := strings.CutPrefix(kv, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// with returns the environment with the variables of one command.
// judged are settings of it that were judged without their values.
func (sh *shell) with(list []approval.Assign) (env, judged []string) {
	if len(list) == 0 {
		return sh.env, sh.judged
	}
	one := &shell{env: append([]string(nil), sh.env...), judged: sh.judged}
	for _, a := range list {
		if a.Search != nil {
			one.search(a.Search)
			continue
		}
		value := ""
		if len(a.Value) > 0 { // these are literal: they were judged
			value = a.Value[0].Text
		}
		one.setenv(a.Name, value)
	}
	return one.env, one.judged
}

// carries refuses a program that would be given a variable which it was not judged
// with: an export of the text, or one that took the place of an inherited one.
func (sh *shell) carries(s *approval.Segment, env, judged []string) *Denied {
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		switch {
		case name == "PWD" || name == "OLDPWD", envnames.Harmless(name, value), slices.Contains(sh.job.Env, kv), slices.Contains(judged, kv),
			slices.Contains(s.Env, approval.Variable{Name: name, Value: value}):
		default:
			return denied(approval.ReasonEnvAsks, "%q would be given %s, with a value that nobody judged", strings.Join(s.Argv, " "), name)
		}
	}
	return nil
}

// disk is what the patterns of a run look at.
func (sh *shell) disk() pathname.Disk { return listing{sh.run} }

// maxListed bounds the entries of folders that the patterns of a run go
// through; to read a folder counts as some.
const (
	maxListed = 50_000
	perFolder = 16
)

type listing struct{ *run }

func (l listing) List(folder string) []string {
	left := maxListed - int(l.listed.Add(perFolder))
	if left < 0 {
		return nil
	}
	dir, err := os.Open(folder + "/.") // nothing else than a folder, and so nothing that waits
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(left + 1)
	l.listed.Add(int64(len(names)))
	size := 0
	for _, name := range names {
		size += len(folder) + len(name)
	}
	if !l.grow(size) {
		return nil
	}
	return names
}

func (l listing) Exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func (l listing) Spend(int) bool { return l.listed.Load() <= maxListed && l.ctx.Err() == nil }
