package setup

import (
	"errors"
	"fmt"
	"slices"

	"github.com/countersign-app/countersign/backend/agents/hook"
)

// Change is what would become of one settings file. It can go to a page and
// back: Apply works the file out again, and writes only what it shows.
type Change struct {
	Agent string `json:"agent"`
	Title string `json:"title"`
	Scope Scope  `json:"scope"`
	// Undo tells that our hook is taken out, and not put in.
	Undo bool `json:"undo,omitempty"`
	// File is the settings file, and Follows where a link leads from there; ""
	// for an agent without one.
	File    string `json:"file,omitempty"`
	Follows string `json:"follows,omitempty"`
	// Diff is the difference as a unified diff, without secrets and without
	// characters that a screen would obey; "" if the file stays as it is.
	Diff string `json:"diff,omitempty"`
	// Notes are what the person should know or do, in sentences.
	Notes []string `json:"notes,omitempty"`
	// Before and After are the SHA-256 of the file, in hex; "" for no file.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// Same reports whether the file stays as it is.
func (c Change) Same() bool { return c.Before == c.After }

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

// Plan says how our hook would come into the settings of an agent. Where it is
// there already, as it should be, nothing changes. ErrNoFile is for agents
// without a settings file: the notes say what to do instead.
func Plan(e Env, agent string, scope Scope) (Change, error) {
	p, err := e.install(agent, scope)
	return p.Change, err
}

// PlanRemoval says how our hook would go from the settings of an agent.
func PlanRemoval(e Env, agent string, scope Scope) (Change, error) {
	p, err := e.uninstall(agent, scope)
	return p.Change, err
}

// Apply makes a change that was planned and shown. ErrChanged says that the
// file is not what it was then, and that nothing was written.
func Apply(e Env, c Change) error {
	unlock, err := e.lock()
	if err != nil {
		return err
	}
	defer unlock()
	again := e.install
	if c.Undo {
		again = e.uninstall
	}
	p, err := again(c.Agent, c.Scope)
	if err != nil {
		return err
	}
	if p.Before != c.Before || p.After != c.After || p.File != c.File || p.Follows != c.Follows {
		return ErrChanged
	}
	return e.carryOut(p)
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
	wanted, err := putIn(nil, t, c)
	if err != nil {
		return p, err
	}
	written := fingerprint(ownHandlers(&wanted.root, agent))
	there, err := p.handlers()
	if err != nil {
		return p, err
	}
	if fingerprint(there) == written {
		if p.next = p.was; p.was == nil || p.was.Written != written {
			p.next = &entry{Agent: agent, Scope: scope, File: p.File, Written: written, At: e.Now().UnixMilli()}
		}
		return p, nil
	}
	base, gone, err := p.without(t, len(there) > 0)
	if err != nil {
		return p, p.failed(err)
	}
	d, err := putIn(base, t, c)
	if err != nil {
		return p, p.failed(err)
	}
	p.settle(d.bytes(), false)
	p.next = &entry{Agent: agent, Scope: scope, File: p.File, Written: written, After: p.After, Made: d.made, MadeFile: gone, At: e.Now().UnixMilli()}
	if !gone {
		p.next.Before = hashOf(base)
	}
	p.next.Spans = shifted(d.spans, len(d.mark))
	if p.was != nil && len(there) > 0 { // what was made then is still ours
		p.next.Made = union(p.was.Made, d.made)
		p.next.MadeFile = gone || p.was.MadeFile
		p.next.Folders = p.was.Folders
	}
	e.explain(&p, t)
	return p, p.sound(t, written)
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

// carryOut writes. What is needed to undo it is written first.
func (e Env) carryOut(p plan) error {
	if p.Undo {
		if err := e.put(p); err != nil {
			return err
		}
		return e.remember(p, nil)
	}
	if p.next != p.was {
		if err := e.remember(p, p.next); err != nil {
			return err
		}
	}
	if err := e.put(p); err != nil {
		return errors.Join(err, e.writeManifest(p.record))
	}
	return nil
}

// put writes the settings file.
func (e Env) put(p plan) error {
	switch {
	case p.Same():
		return nil
	case p.gone:
		var folders []string
		if p.was != nil {
			folders = p.was.Folders
			if p.was.After != p.Before { // somebody else wrote into it
				if err := p.file.backup(e.Now()); err != nil {
					return err
				}
			}
		}
		return p.file.remove(folders)
	}
	folders, err := p.file.write(p.text, e.Now())
	if err == nil && len(folders) > 0 && p.next != nil {
		p.next.Folders = union(p.next.Folders, folders)
		err = e.remember(p, p.next)
	}
	return err
}

// remember writes the record with what is to be remembered of this file.
func (e Env) remember(p plan, now *entry) error {
	if now == nil && p.was == nil {
		return nil
	}
	return e.writeManifest(p.record.with(p.Agent, p.File, now))
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
