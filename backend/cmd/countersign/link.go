package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/paths"
	"github.com/countersign-app/countersign/backend/store"
)

type linkCommands struct {
	Openclaw linkOpenclaw `cmd:"" help:"Have the node host of an installed OpenClaw ask this machine's Countersign."`
}

type linkOpenclaw struct {
	Finish bool   `help:"The second step, on macOS: once its node host was started again and asks us, its own policy steps back."`
	Undo   bool   `help:"Take back what was changed."`
	DryRun bool   `help:"Only show what would be changed." name:"dry-run"`
	CLI    string `help:"Its command line (default: openclaw in your PATH)." placeholder:"FILE" name:"cli"`
}

// linked is what --undo needs, and what is printed.
type linked struct {
	CLI     string `json:"cli"`
	Store   string `json:"store"`
	Edits   []edit `json:"edits"`
	EnvFile string `json:"envFile,omitempty"` // where our line was added
	DryRun  bool   `json:"dryRun,omitempty"`
	// Token tells that its token changes too.
	Token bool `json:"token,omitempty"`
	// Note is what the person should know.
	Note string `json:"note,omitempty"`
}

func (c *linkOpenclaw) Run(p *program) error {
	if c.Undo {
		return c.undo(p)
	}
	doc, err := p.document()
	if err != nil {
		return err
	}
	o, err := c.find(c.CLI)
	if err != nil {
		return err
	}
	a, err := o.get(p.ctx)
	if err != nil {
		return err
	}
	folder, err := a.folder()
	if err != nil {
		return err
	}
	if own, err := filepath.EvalSymlinks(p.state.Dir); err != nil || own == folder {
		return fmt.Errorf("our files are in OpenClaw's own folder, where it stops all commands for them: move them to %s/countersign first, and give --state-dir", p.state.Dir)
	}
	before, err := p.readLink()
	if err != nil {
		return err
	}
	if before.Store != "" && before.Store != a.Path {
		return fmt.Errorf("%s is linked already: take that back first with --undo", before.Store)
	}
	l := linked{CLI: o.program, Store: a.Path, DryRun: c.DryRun}
	if c.Finish {
		err = l.finish(a, folder, before)
	} else {
		err = l.begin(a, folder, paths.Expand(cmp.Or(doc.Socket.Path, p.state.Socket()), p.home))
	}
	if err != nil {
		return err
	}
	if c.DryRun {
		return p.print(l, l.show)
	}
	if err := l.enter(p, a, before, doc.Socket.Token); err != nil {
		return err
	}
	if err := o.set(p.ctx, a.File); err != nil {
		return err
	}
	return p.print(l, l.show)
}

// enter writes what is linked into the file of the node host, with our token; and
// before that, what is to be undone.
func (l *linked) enter(p *program, a approvals, before linked, token string) error {
	if err := p.keepLink(before, *l); err != nil {
		return err
	}
	if l.EnvFile != "" {
		if _, err := forwarding(l.EnvFile, true, true); err != nil {
			return err
		}
	}
	for _, e := range l.Edits {
		if err := place(a.File, e.field, e.Now); err != nil {
			return err
		}
	}
	return place(a.File, field{"socket", "token"}, jsonText(token))
}

// begin leads the node host to our socket, and has it ask there.
func (l *linked) begin(a approvals, folder, socket string) (err error) {
	l.Token = true
	if l.Edits, err = linking(a.File, socket); err != nil {
		return err
	}
	if !forwards {
		l.Note = "OpenClaw's node host asks an app on macOS only. Its own policy is left as it is, since there it would decide alone; to have commands of its gateway judged here, use \"countersign node run\"."
		return nil
	}
	env := filepath.Join(folder, ".env")
	changes, err := forwarding(env, true, false)
	if changes {
		l.EnvFile = env
	}
	l.Note = "Start OpenClaw's node host again, so that it asks us. Then \"countersign link openclaw --finish\" has its own policy step back; until then both judge."
	return err
}

// finish has its policy step back, where it surely asks us.
func (l *linked) finish(a approvals, folder string, before linked) error {
	if !forwards {
		return errors.New("OpenClaw's node host asks an app on macOS only: here its policy stays as it is")
	}
	missing, err := forwarding(filepath.Join(folder, ".env"), true, false)
	if err == nil && (missing || before.Store == "") {
		err = errors.New("it is not linked yet: run \"countersign link openclaw\" first, and start its node host again")
	}
	if err == nil {
		l.Edits, err = finishing(a.File)
	}
	l.Note = "Agents that it denies everything stay denied. What its gateway asks for (tools.exec) still holds there."
	return err
}

// find returns the command line of an installed OpenClaw.
func (*linkOpenclaw) find(program string) (openclaw, error) {
	path, err := exec.LookPath(cmp.Or(program, "openclaw"))
	if err != nil {
		return openclaw{}, errors.New("no OpenClaw is installed here: put openclaw in your PATH, or name it with --cli")
	}
	if path, err = filepath.Abs(path); err != nil {
		return openclaw{}, err
	}
	return openclaw{path, withoutToken(os.Environ())}, nil
}

// keepLink writes what --undo needs. The value to go back to is that of before
// the first of our changes, unless the person changed it since: then it is
// theirs.
func (p *program) keepLink(before, l linked) error {
	all := linked{CLI: l.CLI, Store: l.Store, EnvFile: cmp.Or(l.EnvFile, before.EnvFile), Edits: slices.Clone(l.Edits)}
	for _, old := range before.Edits {
		i := slices.IndexFunc(l.Edits, func(e edit) bool { return e.field == old.field })
		switch {
		case i < 0:
			all.Edits = append(all.Edits, old)
		case string(l.Edits[i].Was) == string(old.Now):
			all.Edits[i].Was = old.Was
		}
	}
	text, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return store.Replace(p.state.Link(), append(text, '\n'))
}

// readLink reads what was changed; nothing if there is none.
func (p *program) readLink() (l linked, err error) {
	text, err := os.ReadFile(p.state.Link())
	if errors.Is(err, fs.ErrNotExist) {
		return l, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &l)
	}
	return l, err
}

func (c *linkOpenclaw) undo(p *program) error {
	l, err := p.readLink()
	if err != nil {
		return err
	}
	if l.CLI == "" {
		return errors.New("nothing is linked from here")
	}
	o, err := c.find(cmp.Or(c.CLI, l.CLI))
	if err != nil {
		return err
	}
	a, err := o.get(p.ctx)
	if err != nil {
		return err
	}
	if a.Path != l.Store {
		return fmt.Errorf("this OpenClaw keeps its approvals in %s, and %s was linked: call it with the environment of then", a.Path, l.Store)
	}
	kept, err := unlinking(a.File, l.Edits)
	if err != nil {
		return err
	}
	l.DryRun, l.Token = c.DryRun, true
	l.Edits = slices.DeleteFunc(l.Edits, func(e edit) bool { return slices.Contains(kept, e.field) })
	for i, e := range l.Edits {
		l.Edits[i].Was, l.Edits[i].Now = e.Now, e.Was
	}
	var names []string
	for _, f := range kept {
		names = append(names, f.String())
	}
	if len(kept) > 0 {
		l.Note = "Left alone, because somebody changed it since: " + strings.Join(names, ", ") + "."
	}
	if c.DryRun {
		return p.print(l, l.show)
	}
	if err := o.set(p.ctx, a.File); err != nil {
		return err
	}
	if l.EnvFile != "" {
		if _, err := forwarding(l.EnvFile, false, true); err != nil {
			return err
		}
	}
	if err := os.Remove(p.state.Link()); err != nil {
		return err
	}
	return p.print(l, l.show)
}

func (l linked) show(w io.Writer) {
	tense := "changed"
	if l.DryRun {
		tense = "would change"
	}
	fmt.Fprintf(w, "%s, with %s:\n", display.Escape(l.Store), display.Escape(l.CLI))
	for _, e := range l.Edits {
		fmt.Fprintf(w, "  %s %s: %s -> %s\n", tense, display.Escape(e.String()), was(e.Was), was(e.Now))
	}
	if l.Token {
		fmt.Fprintf(w, "  %s socket.token\n", tense)
	}
	if l.EnvFile != "" {
		fmt.Fprintf(w, "  %s %s: %s\n", tense, display.Escape(l.EnvFile), forwardLine)
	}
	if l.Note != "" {
		fmt.Fprintln(w, display.Escape(l.Note))
	}
}

func was(value json.RawMessage) string {
	if value == nil || string(value) == "null" {
		return "nothing"
	}
	return display.Escape(string(value))
}
