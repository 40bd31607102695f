package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/agents/setup"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/family"
	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/node"
	"github.com/countersign-app/countersign/backend/ownfile"
)

type doctorCommand struct {
	Takeover bool `help:"End the host of this folder, also one that hangs, so that a new one can start."`
}

// check is one thing that doctor looked at.
type check struct {
	What string `json:"what"`
	OK   bool   `json:"ok"`
	Say  string `json:"say"` // what was seen, and what to do if it is not right
}

// takeoverTime is how long a hung host gets to end.
const takeoverTime = 10 * time.Second

func (c doctorCommand) Run(p *program) error {
	if c.Takeover {
		ctx, cancel := context.WithTimeout(p.ctx, takeoverTime)
		defer cancel()
		if _, err := os.Lstat(p.state.Lock()); errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("no host ever ran in %s", p.state.Dir)
		}
		if err := ipc.Takeover(ctx, p.state.Lock()); err != nil {
			return err
		}
		fmt.Fprintln(p.stderr, "No host runs here any more. Start a new one with `countersign host run`.")
		return p.done()
	}
	checks := p.checks()
	bad := 0
	for _, one := range checks {
		if !one.OK {
			bad++
		}
	}
	err := p.print(checks, func(w io.Writer) {
		for _, one := range checks {
			mark := "ok "
			if !one.OK {
				mark = "BAD"
			}
			fmt.Fprintf(w, "%s %-12s %s\n", mark, one.What, display.Escape(one.Say))
		}
	})
	if err == nil && bad > 0 {
		return exit{exitError, ""}
	}
	return err
}

func (p *program) checks() []check {
	list := []check{
		p.checkMode("folder", p.state.Dir, 0o700),
		p.checkMode("policy file", p.state.Approvals(), 0o600),
		p.checkPolicy(),
		p.checkKey(),
	}
	if p.state.Beside {
		list = append(list, check{"openclaw", true, "keeps its own store in the folder above, so our files are in " + p.state.Dir})
	}
	return slices.Concat(list, p.checkHost(), p.checkHistory(), p.checkServices(), p.checkHooks())
}

// checkHistory looks at the file of the history where no host does, and for those
// that were broken.
func (p *program) checkHistory() (list []check) {
	if _, err := os.Lstat(p.state.History()); err == nil { // the next host makes it otherwise
		list = p.checkHistoryFile()
	}
	aside, err := history.Broken(p.state.History())
	switch {
	case err != nil && !errors.Is(err, os.ErrNotExist):
		list = append(list, check{"history", false, err.Error()})
	case len(aside) > 0:
		list = append(list, check{"history", false, asideLine(aside)})
	}
	return list
}

func (p *program) checkHistoryFile() []check {
	lock, err := ipc.Hold(p.state.Lock())
	if err != nil {
		return nil // a host has it, which tells of it itself
	}
	defer lock.Close()
	db, err := history.OpenReading(p.state.History())
	if err != nil {
		return []check{{"history", false, err.Error()}}
	}
	db.Close()
	return nil
}

// checkHooks looks for hooks that went or changed since they were written.
func (p *program) checkHooks() (list []check) {
	env, err := p.hookEnv()
	var lost []setup.State
	if err == nil {
		lost, err = setup.Lost(env)
	}
	if err != nil {
		return []check{{"hooks", false, err.Error()}}
	}
	for _, s := range lost {
		what := inHookWords(s)
		if s.Problem != "" {
			what = s.Problem
		}
		list = append(list, check{"hooks", false, fmt.Sprintf("%s, %s: %s", s.Title, s.File, what)})
	}
	return list
}

// checkServices looks at what is installed, and at the connection of the node.
func (p *program) checkServices() (list []check) {
	for _, name := range []string{"node", "gateway"} {
		if s := p.services().Status(name); s.Installed {
			list = append(list, check{name + " service", s.Running, inWords(s)})
		}
	}
	s, err := node.ReadStatus(p.state.NodeStatus())
	switch {
	case err != nil:
		list = append(list, check{"node", false, err.Error()})
	case s.State != node.Stopped:
		list = append(list, check{"node", s.State == node.Connected, nodeState{Node: s}.connection()})
	}
	return list
}

func (p *program) checkMode(what, path string, want os.FileMode) check {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return check{what, false, path + " is not there: `countersign host run` makes it"}
	case err != nil:
		return check{what, false, err.Error()}
	case info.Mode()&os.ModeSymlink != 0:
		return check{what, false, path + " is a link: put the real thing there"}
	case info.IsDir() != (want == 0o700):
		return check{what, false, path + " is not what should be there: move it away"}
	case !ownfile.Ours(info):
		return check{what, false, path + " belongs to another user, so everything is denied: make it yours (chown)"}
	case info.Mode().Perm() != want:
		return check{what, false, fmt.Sprintf("%s has mode %04o: chmod %04o it", path, info.Mode().Perm(), want)}
	}
	return check{what, true, path}
}

func (p *program) checkKey() check {
	const what = "operator key"
	_, err := host.ReadOperatorKey(p.state.OperatorKey())
	if _, missing := os.Lstat(p.state.OperatorKey()); err == nil && errors.Is(missing, os.ErrNotExist) {
		return check{what, true, "in the Keychain"}
	}
	c := p.checkMode(what, p.state.OperatorKey(), 0o600)
	if c.OK && err != nil {
		return check{what, false, err.Error()}
	}
	return c
}

func (p *program) checkPolicy() check {
	doc, err := p.document()
	if errors.Is(err, errNoPolicy) {
		return check{"policy", false, err.Error()}
	}
	if err != nil {
		return check{"policy", false, err.Error() + "; everything is denied until it is mended"}
	}
	if doc.Socket.Token == "" {
		return check{"policy", false, "it has no token yet: `countersign host run` adds one"}
	}
	return check{"policy", true, "it can be read"}
}

func (p *program) checkHost() []check {
	var s host.Status
	ctx, cancel := context.WithTimeout(p.ctx, takeoverTime)
	defer cancel()
	asking := *p
	asking.ctx = ctx
	err := asking.read("status", nil, &s)
	switch {
	case errors.Is(err, errNoHost):
		return []check{{"host", false, errNoHost.text}}
	case errors.Is(err, ipc.ErrSilent):
		return []check{{"host", false, err.Error() + "; end it with `countersign doctor --takeover` and start it again"}}
	case errors.Is(err, context.DeadlineExceeded):
		return []check{{"host", false, "it does not answer: end it with `countersign doctor --takeover`"}}
	case err != nil:
		return []check{{"host", false, err.Error()}}
	}
	list := []check{{"host", true, fmt.Sprintf("process %d, version %s, %d waiting, %d running", s.PID, s.Version, s.Waiting, s.Running)}}
	list = append(list, check{"confirms", true, confirmsLine(s)})
	if s.PassphraseChanged != 0 {
		list = append(list, check{"passphrase", true, changedLine(s.PassphraseChanged)})
	}
	for _, trouble := range s.Troubles {
		list = append(list, check{"socket", false, display.Line(trouble)})
	}
	for _, a := range s.Askers {
		list = append(list, check{"asks", true, askerLine(a)})
	}
	if s.Paused {
		list = append(list, check{"pause", true, pausedLine(s)})
	}
	list = append(list, asking.checkTaken()...)
	list = append(list, asking.checkFollowed()...)
	if s.History != "" {
		list = append(list, check{"history", false, s.History + "; nothing runs until it can be written"})
	}
	if len(s.Held) > 0 {
		list = append(list, check{"policy edit", false, "an edit that loosens the policy waits: `countersign policy accept` or `countersign policy reject`"})
	}
	return list
}

// confirmWords say how the person is known.
var confirmWords = map[host.Way]string{
	host.ByWindow:     "a click in the app's window",
	host.ByPassphrase: "the passphrase",
	host.ByKey:        "a key of the file of --operator-key",
	host.ByTerminal:   "what is typed at the host's terminal",
	host.ByAnyone:     "nothing: --operate=anyone lets each process that no agent started answer and loosen",
}

// confirmsLine says by what the person agrees to a yes and to what loosens.
func confirmsLine(s host.Status) string {
	var by []string
	for _, way := range s.Confirms {
		by = append(by, confirmWords[way])
	}
	line := "a yes and what loosens need " + strings.Join(by, ", or ")
	if len(by) == 0 {
		line = "nobody can say yes or loosen the policy: end the host, set a passphrase with `countersign operator passphrase`, and start it again"
	}
	if len(s.AnswersFrom) > 0 {
		line += "; the answers of these count, too: " + display.Line(strings.Join(s.AnswersFrom, ", "))
	}
	return line
}

// changedLine tells a person of a passphrase that they may not have set.
func changedLine(at int64) string {
	return "The passphrase was set, changed or removed while no host ran; the start at " + time.UnixMilli(at).Format("2006-01-02 15:04") +
		" found that. If it was not you, end the host and set one with `countersign operator passphrase`: a program of yours may say yes in your place."
}

// checkTaken tells why the host cannot use a policy file that can be read here.
func (p *program) checkTaken() []check {
	if _, err := p.document(); err != nil {
		return nil // told already
	}
	var got host.Policy
	if err := p.read("policy.get", map[string]string{"agentId": ""}, &got); err != nil {
		return []check{{"policy", false, err.Error()}}
	}
	if got.Broken != "" {
		return []check{{"policy", false, "the host cannot use it: " + got.Broken + "; everything is denied until it is mended"}}
	}
	return nil
}

// checkFollowed tells whose policies hold here too, and whether they are there.
func (p *program) checkFollowed() []check {
	doc, err := p.document()
	if err != nil || len(doc.Sources()) == 0 {
		return nil
	}
	var got host.Policy
	if err := p.read("policy.get", map[string]string{"agentId": ""}, &got); err != nil {
		return []check{{"gateways", false, err.Error()}}
	}
	if got.Broken == "" && got.Policy.Broken != "" {
		return []check{{"gateways", false, got.Policy.Broken + "; nothing runs until then"}}
	}
	var names []string
	for _, from := range doc.Sources() {
		names = append(names, from.Gateway)
	}
	return []check{{"gateways", true, "the policy of " + strings.Join(names, " and of ") + " holds here too"}}
}

// pausedLine says until when nothing starts, and who waits for that.
func pausedLine(s host.Status) string {
	until := "`countersign resume`"
	if s.PausedUntil != 0 {
		until = time.UnixMilli(s.PausedUntil).Format(time.DateTime) + ", or " + until
	}
	waiting := fmt.Sprintf("%d requests wait", s.HeldBack)
	if s.HeldBack == 1 {
		waiting = "1 request waits"
	}
	return "nothing starts until " + until + "; " + waiting
}

// askerLine says of a program that asks which processes may not operate for that.
func askerLine(a family.Asker) string {
	line := fmt.Sprintf("%s (process %d) asked at %s", display.Line(a.Name), a.PID, a.Asked.Format("15:04:05"))
	if a.Agent != "" {
		line += " as agent " + display.Line(a.Agent)
	}
	if a.In != "" {
		line += ", in " + display.Line(a.In)
	}
	return line + fmt.Sprintf("; these processes may not operate: %s", strings.Trim(fmt.Sprint(a.Members), "[]"))
}
