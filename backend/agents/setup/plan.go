package setup

import (
	"errors"
	"fmt"
	"slices"

	"github.com/countersign-app/countersign/backend/agents/hook"
)

// plan is a change with all that it takes to make it.
type plan struct {
	Change
	file   file
	text   []byte // what the file is to say
	gone   bool   // the file goes
	record manifest
	was    *entry // what is remembered of it now
	next   *entry // and what is to be; nil to forget it
}

// begin reads what there is for a plan.
func (e Env) begin(agent string, scope Scope) (p plan, t target, a hook.Agent, err error) {
	if t, a, err = find(agent); err != nil {
		return p, t, a, err
	}
	p.Change = Change{Agent: agent, Title: a.Title, Scope: scope}
	if t.user == "" {
		p.Notes = []string{t.advice}
		return p, t, a, ErrNoFile
	}
	p.file, err = e.open(t, scope)
	if p.File = p.file.named; err != nil {
		return p, t, a, fmt.Errorf("%s: %w", a.Title, err)
	}
	if p.file.follow {
		p.Follows = p.file.real
		p.Notes = append(p.Notes, fmt.Sprintf("%s is a link: what is written is %s.", p.File, p.Follows))
	}
	if p.file.exists {
		p.Before = hashOf(p.file.text)
	}
	if p.record, err = e.readManifest(); err != nil {
		return p, t, a, err
	}
	p.was = p.record.entry(agent, p.File)
	p.text, p.After = p.file.text, p.Before
	return p, t, a, nil
}

// install plans to put our hook in.
func (e Env) install(agent string, scope Scope) (plan, error) {
	p, t, a, err := e.begin(agent, scope)
	if err != nil {
		return p, err
	}
	c, err := e.call(t, a.Capability)
	if err != nil {
		return p, err
	}
	written, err := t.print(c)
	if err != nil {
		return p, err
	}
	there, err := p.handlers()
	if err != nil {
		return p, err
	}
	if fingerprint(there) == written {
		p.adopt(written, e.Now().UnixMilli())
		return p, nil
	}
	if err := p.fill(t, c, len(there) > 0); err != nil {
		return p, p.failed(err)
	}
	p.next.Written, p.next.At = written, e.Now().UnixMilli()
	e.explain(&p, t)
	return p, p.sound(t, written)
}

// adopt remembers a hook that is there as it should be.
func (p *plan) adopt(written string, now int64) {
	if p.next = p.was; p.was != nil && p.was.Written == written {
		return
	}
	next := entry{Agent: p.Agent, Scope: p.Scope, File: p.File}
	if p.was != nil {
		next = *p.was
	}
	next.Written, next.At = written, now
	p.next = &next
}

// print is the fingerprint of the hook that would be written.
func (t target) print(c call) (string, error) {
	d, err := putIn(nil, t, c)
	if err != nil {
		return "", err
	}
	return fingerprint(ownHandlers(&d.root, t.agent)), nil
}

// fill puts our hook in, in the place of one that is there.
func (p *plan) fill(t target, c call, there bool) error {
	base, gone, err := p.without(t, there)
	if err != nil {
		return err
	}
	d, err := putIn(base, t, c)
	if err != nil {
		return err
	}
	p.settle(d.bytes(), false)
	p.next = &entry{
		Agent: p.Agent, Scope: p.Scope, File: p.File, After: p.After,
		Spans: shifted(d.spans, len(d.mark)), Made: d.made, MadeFile: gone,
	}
	if !gone {
		p.next.Before = hashOf(base)
	}
	if p.was != nil && there { // what was made then is still ours
		p.next.Made = union(p.was.Made, d.made)
		p.next.MadeFile = gone || p.was.MadeFile
		p.next.Folders = p.was.Folders
	}
	return nil
}

// uninstall plans to take our hook out.
func (e Env) uninstall(agent string, scope Scope) (plan, error) {
	p, t, _, err := e.begin(agent, scope)
	p.Undo = true
	if err != nil {
		return p, err
	}
	there, err := p.handlers()
	if err != nil || len(there) == 0 {
		p.Forgets = err == nil && p.was != nil
		return p, err
	}
	base, gone, err := p.without(t, true)
	if err != nil {
		return p, p.failed(err)
	}
	p.settle(base, gone)
	return p, p.sound(t, fingerprint(nil))
}

// handlers returns our handlers in the file as it is.
func (p plan) handlers() ([]own, error) {
	d, err := parse(p.file.text)
	if err == errNoValue {
		return nil, nil
	}
	if err != nil {
		return nil, p.failed(err)
	}
	return ownHandlers(&d.root, p.Agent), nil
}

// failed says of which file an error is.
func (p plan) failed(err error) error {
	return fmt.Errorf("%s is left alone: %w", p.File, err)
}

// without returns the file without our hook, and whether it was not there
// before us. A file that is what we left becomes what it was, byte for byte.
func (p plan) without(t target, there bool) (base []byte, gone bool, err error) {
	if !there {
		return p.file.text, !p.file.exists, nil
	}
	var made []string
	if p.was != nil {
		made = append([]string{}, p.was.Made...)
		if p.was.After == p.Before {
			base, err := without(p.file.text, p.was.Spans)
			if err == nil && p.was.MadeFile && len(base) == 0 {
				return nil, true, nil
			}
			if err == nil && hashOf(base) == p.was.Before {
				return base, false, nil
			}
		}
	}
	if base, err = takeOut(p.file.text, t, made); err != nil {
		return nil, false, err
	}
	if p.was != nil && p.was.MadeFile && bare(base, made) {
		return nil, true, nil
	}
	return base, false, nil
}

// settle sets what the file is to say.
func (p *plan) settle(text []byte, gone bool) {
	p.text, p.gone, p.After = text, gone, ""
	if !gone {
		p.After = hashOf(text)
	}
	p.Diff = difference(p.file, text)
	if p.Scope == ScopeProject && p.file.exists && !gone {
		p.Notes = append(p.Notes, "What the file says now is kept beside it, with "+backupInfix+" in the name: leave that out of commits, as it may hold secrets.")
	}
}

// sound reads what would be written as the agent will, and makes sure that it
// says what it should.
func (p plan) sound(t target, written string) error {
	d, err := parse(p.text)
	if err == errNoValue {
		return nil
	}
	switch {
	case err != nil:
	case len(p.text) > maxSize:
		err = errors.New("it would be larger than 4 MiB")
	case fingerprint(ownHandlers(&d.root, t.agent)) != written:
		err = errors.New("what would be written is not what it should be")
	}
	if err != nil {
		return fmt.Errorf("%s is left alone: our hook cannot be edited here without harm (%w); do it by hand", p.File, err)
	}
	return nil
}

// union is a list and what another one has besides.
func union(list, more []string) []string {
	list = slices.Clone(list)
	for _, s := range more {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	return list
}

// shifted moves spans behind a byte order mark.
func shifted(spans []span, by int) []span {
	list := slices.Clone(spans)
	for i := range list {
		list[i].At += by
	}
	return list
}
