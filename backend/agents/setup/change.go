package setup

import "errors"

// Change is what would become of one settings file. It can go to a page and
// back: Apply works the file out again, and writes only what it shows.
type Change struct {
	Agent string `json:"agent"`
	Title string `json:"title"`
	Scope Scope  `json:"scope"`
	// Undo tells that our hook is taken out, and not put in.
	Undo bool `json:"undo,omitempty"`
	// Forgets tells that our hook is gone already, and is not missed any more.
	Forgets bool `json:"forgets,omitempty"`
	// File is the settings file, and Follows where a link leads from there; ""
	// for an agent without one.
	File    string `json:"file,omitempty"`
	Follows string `json:"follows,omitempty"`
	// Diff is the difference as a unified diff, without secrets and without
	// characters that a screen would obey; "" if the file stays as it is.
	Diff string `json:"diff,omitempty"`
	// Warning is what the person should know before it is written, in a sentence.
	Warning string `json:"warning,omitempty"`
	// Notes are what the person should know or do, in sentences.
	Notes []string `json:"notes,omitempty"`
	// Before and After are the SHA-256 of the file, in hex; "" for no file.
	Before string `json:"before,omitempty"`
	After  string `json:"after,omitempty"`
}

// Same reports whether the file stays as it is.
func (c Change) Same() bool { return c.Before == c.After }

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
