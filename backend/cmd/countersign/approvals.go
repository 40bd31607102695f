package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/envnames"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/store"
	"github.com/countersign-app/countersign/backend/vault"
)

type approvalsCommands struct {
	Get     approvalsGet     `cmd:"" help:"Print the policy file, without the token."`
	List    approvalsList    `cmd:"" help:"List the entries."`
	Add     approvalsAdd     `cmd:"" help:"Add an entry, or a rule to the denylist."`
	Remove  approvalsRemove  `cmd:"" help:"Remove an entry by its id or pattern."`
	Pending approvalsPending `cmd:"" help:"List the waiting questions, with all that is known of each."`
	Approve approvalsApprove `cmd:"" help:"Allow a waiting question."`
	Deny    approvalsDeny    `cmd:"" help:"Deny a waiting question."`
	Hold    approvalsHold    `cmd:"" help:"Stop the clock of a waiting question, as far as its caller waits."`
	Serve   approvalsServe   `cmd:"" help:"Let other programs of yours answer questions, over a WebSocket on this machine."`

	Standing approvalsStanding `cmd:"" help:"List the answers that stand for requests to come."`
	Forget   approvalsForget   `cmd:"" help:"End an answer that stands: the request is asked about again."`
}

type approvalsGet struct{}

func (approvalsGet) Run(p *program) error {
	doc, err := p.document()
	if err != nil {
		return err
	}
	text, err := host.ReadPolicyFile(p.state)
	if err != nil {
		return err
	}
	held, err := p.entries()
	if err != nil {
		return err
	}
	doc.Socket.Token = ""
	shown, err := doc.Encode()
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	got := map[string]any{
		"path": p.state.Approvals(), "exists": true, "hash": hex.EncodeToString(sum[:]), "file": json.RawMessage(shown),
	}
	if len(held.Held) > 0 { // the file is the one that waits
		got["waits"] = held.Held
	}
	return p.print(got, func(w io.Writer) {
		fmt.Fprint(w, string(shown))
		writeHeld(p.stderr, held.Held)
	})
}

type approvalsList struct {
	Agent string `help:"Only this agent." placeholder:"ID"`
}

func (c approvalsList) Run(p *program) error {
	return p.listEntries(func(id string, _ approval.Entry) bool { return c.Agent == "" || c.Agent == id })
}

// listEntries prints the entries that are in force and wanted, and what waits.
func (p *program) listEntries(wanted func(id string, e approval.Entry) bool) error {
	got, err := p.entries()
	if err != nil {
		return err
	}
	list := map[string][]approval.Entry{}
	for id, entries := range got.Entries {
		for _, e := range entries {
			if wanted(id, e) {
				list[id] = append(list[id], e)
			}
		}
	}
	return p.print(list, func(w io.Writer) {
		writeEntries(w, list)
		writeHeld(w, got.Held)
	})
}

// entries are those in force, and what an edit that waits would permit.
func (p *program) entries() (got host.Entries, err error) {
	if _, err := p.document(); err != nil { // nothing is made by a look
		return got, err
	}
	err = p.read("entries.list", nil, &got)
	if errors.Is(err, errNoHost) {
		var snap store.Snapshot
		if snap, err = p.policyHere(); err == nil {
			got = host.EntriesOf(snap)
		}
	}
	return got, err
}

// writeHeld tells what an edit that waits would permit.
func writeHeld(w io.Writer, held []string) {
	for _, s := range held {
		fmt.Fprintln(w, "Waits for `countersign policy accept`:", display.Escape(s))
	}
}

// writeEntries lists entries by agent.
func writeEntries(w io.Writer, list map[string][]approval.Entry) {
	t := tabwriter.NewWriter(w, 0, 8, 2, ' ', 0)
	for _, id := range slices.Sorted(maps.Keys(list)) {
		for _, e := range list[id] {
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", display.Escape(id), display.Escape(e.Pattern), display.Escape(narrowing(e)), e.ID)
		}
	}
	t.Flush()
}

// narrowing says what narrows an entry, in one line.
func narrowing(e approval.Entry) string {
	words := host.Narrowing(e)
	if len(e.Args) == 0 {
		return words
	}
	return strings.TrimSuffix("args "+strings.Join(e.Args, " ")+", "+words, ", ")
}

type approvalsAdd struct {
	Agent   string             `help:"Agent id, or * for all." default:"*" placeholder:"ID"`
	Cwd     string             `help:"Only in this folder or below." placeholder:"PATTERN"`
	Args    []string           `help:"Leading arguments that must be equal; * matches one." placeholder:"WORD"`
	Exact   bool               `help:"No further arguments."`
	Env     []string           `help:"A variable that the program may be given, with this value; may be repeated." placeholder:"NAME=VALUE" sep:"none"`
	Any     bool               `name:"any-value" help:"Let --env NAME=* stand for any value of the variable."`
	Allows  []approval.Allowed `help:"An effect that asks otherwise and is covered, by a word (below); may be repeated." placeholder:"WORD"`
	Hosts   []string           `help:"The only hosts that --allows reads-network or sends-network is for." placeholder:"HOST"`
	Session string             `help:"Only in this session." placeholder:"KEY"`
	Require string             `help:"Only a file with the recorded sha256 or signer, though its package manager changed it." enum:",sha256,signer" default:"" placeholder:"WHAT"`
	For     time.Duration      `help:"End after this time." placeholder:"D"`
	Uses    int                `help:"End after so many uses." placeholder:"N"`
	Note    string             `help:"A note for people." placeholder:"TEXT"`
	Deny    bool               `help:"Add a rule to the denylist instead."`
	Pattern string             `arg:"" help:"Path pattern, such as /usr/bin/uname or ~/bin/*."`
}

// Help lists the words of --allows.
func (approvalsAdd) Help() string {
	text := "Words of --allows:"
	for _, word := range approval.AllAllowed {
		text += "\n  " + string(word)
	}
	return text
}

func (c approvalsAdd) Run(p *program) error {
	if c.For < 0 || c.Uses < 0 {
		return exit{exitUsage, "--for and --uses must be positive"}
	}
	env, err := c.variables()
	if err != nil {
		return err
	}
	if c.Deny && len(c.Allows)+len(c.Hosts) > 0 {
		return exit{exitUsage, "a rule of the denylist covers no effects: leave --allows and --hosts out"}
	}
	if c.For > approval.LeaseLimit {
		return exit{exitUsage, "--for is 720h (30 days) at most; without it the entry stays until it is removed"}
	}
	params := map[string]any{"agentId": c.Agent}
	edit := func(d *store.Document) error {
		d.Deny(c.Agent, approval.DenyRule{Pattern: c.Pattern, Args: c.Args, Reason: c.Note})
		return nil
	}
	if c.Deny {
		params["deny"] = approval.DenyRule{Pattern: c.Pattern, Args: c.Args, Reason: c.Note}
	} else {
		e := approval.Entry{
			Pattern: c.Pattern, Cwd: c.Cwd, Args: c.Args, ArgsExact: c.Exact, Env: env, Allows: c.Allows, Hosts: c.Hosts,
			SessionKey: c.Session, RequireIdentity: c.Require, Note: c.Note, AddedBy: "command line", AddedAt: time.Now().UnixMilli(),
		}
		if c.For > 0 {
			e.ExpiresAt = time.Now().Add(c.For).UnixMilli()
		}
		if c.Uses > 0 {
			e.UsesLeft = &c.Uses
		}
		params["entry"] = e
		edit = func(d *store.Document) error {
			host.RecordIdentity(&e, p.home)
			d.Add(c.Agent, e)
			return nil
		}
	}
	return p.change("entries.add", params, edit)
}

// variables are those that an entry is to carry. Any value of one needs a word more.
func (c approvalsAdd) variables() (map[string][]string, error) {
	var env map[string][]string
	for _, kv := range c.Env {
		name, value, ok := strings.Cut(kv, "=")
		switch {
		case c.Deny:
			return nil, exit{exitUsage, "a rule of the denylist carries no variables: leave --env out"}
		case !ok || !envnames.Carried(name):
			return nil, exit{exitUsage, fmt.Sprintf("--env needs NAME=VALUE, and a variable that is no secret, no loader and none of a shell or of Countersign: not %q", kv)}
		case value == approval.AnyValue && !c.Any:
			return nil, exit{exitUsage, fmt.Sprintf("--env %s stands for any value, also one that starts a program: say --any-value as well, or name the values", kv)}
		case env == nil:
			env = map[string][]string{}
		}
		if !slices.Contains(env[name], value) {
			env[name] = append(env[name], value)
		}
	}
	return env, nil
}

// loosens ends an edit that the person has to agree to first.
type loosens []string

func (loosens) Error() string { return "this edit needs the person" }

// change edits the policy through the host, or in the file where no host
// runs.
func (p *program) change(method string, params map[string]any, edit func(*store.Document) error) error {
	err := p.changeShown(method, params, edit, func(before, after *store.Document) ([]string, error) {
		return store.Loosens(before, after), nil
	})
	if err != nil {
		return err
	}
	return p.done()
}

// changeShown does so where loose says what an edit of the file loosens, and prints
// nothing.
func (p *program) changeShown(method string, params map[string]any, edit func(*store.Document) error, loose func(before, after *store.Document) ([]string, error)) error {
	err := p.operate(method, params, nil)
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, errNoHost) && !errors.Is(err, ipc.ErrSilent) && !errors.Is(err, ipc.ErrUnproven):
		return err
	}
	lock, held := p.hold()
	switch {
	case held == nil:
		defer lock.Close()
	case !errors.Is(held, ipc.ErrLive):
		return held
	}
	s, err := store.Open(store.Options{State: p.state, Home: p.home, Vault: vault.Open(p.state.Dir)})
	if err != nil {
		return err
	}
	var agreed []string
	for {
		_, err = s.Update("", func(d *store.Document) error {
			if err := edit(d); err != nil {
				return err
			}
			now, err := loose(s.Snapshot().Document, d)
			switch {
			case err != nil:
				return err
			case len(now) == 0 || agreed != nil && slices.Equal(now, agreed):
				return nil
			case held != nil: // what tightens works whoever holds the lock
				return held
			default:
				return loosens(now)
			}
		})
		var first loosens
		if !errors.As(err, &first) {
			break
		}
		if err = p.agree(method, params, first); err != nil {
			break
		}
		agreed = first
	}
	return errors.Join(err, s.Close())
}

type approvalsRemove struct {
	Agent string `help:"Agent id, or * for all." default:"*" placeholder:"ID"`
	Which string `arg:"" help:"Id or pattern."`
}

func (c approvalsRemove) Run(p *program) error {
	return p.change("entries.remove", map[string]any{"agentId": c.Agent, "which": c.Which}, func(d *store.Document) error {
		if len(d.Remove(c.Agent, c.Which)) == 0 {
			return fmt.Errorf("no entry %s for agent %s: see `countersign approvals list`", c.Which, c.Agent)
		}
		return nil
	})
}
