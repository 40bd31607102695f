package main

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/history"
)

type historyCommands struct {
	List   historyList   `cmd:"" help:"List requests, newest first."`
	Show   historyShow   `cmd:"" help:"Show all that is known of a request."`
	Export historyExport `cmd:"" help:"Write requests and their programs as JSON lines, newest first."`
	Verify historyVerify `cmd:"" help:"Check that nothing in the history was changed or removed."`
}

// historyFilter says which requests.
type historyFilter struct {
	Agent   string            `help:"Only this agent." placeholder:"ID"`
	Verdict approval.Verdict  `help:"Only what policy judged so, or what came of it: allow, ask or deny."`
	Reason  string            `help:"Only with this reason code." placeholder:"CODE"`
	Answer  approval.Decision `help:"Only what was answered so: allow-once, allow-always or deny."`
	Since   string            `help:"Asked at or after this time: 2006-01-02, 2006-01-02T15:04:05Z, or 36h for so long ago." placeholder:"TIME"`
	Until   string            `help:"Asked before this time." placeholder:"TIME"`
}

func (f historyFilter) params() (map[string]any, error) {
	since, err := moment(f.Since)
	if err != nil {
		return nil, err
	}
	until, err := moment(f.Until)
	if err != nil {
		return nil, err
	}
	params := map[string]any{"agentId": f.Agent, "reason": f.Reason, "since": since, "until": until}
	if f.Verdict != "" {
		params["verdict"] = f.Verdict
	}
	if f.Answer != "" {
		params["decision"] = f.Answer
	}
	return params, nil
}

// moment reads a time in one of three forms, as unix milliseconds; "" is 0.
func moment(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	if ago, err := time.ParseDuration(text); err == nil && ago >= 0 {
		return time.Now().Add(-ago).UnixMilli(), nil
	}
	for _, layout := range []string{time.RFC3339, time.DateTime, time.DateOnly} {
		if at, err := time.ParseInLocation(layout, text, time.Local); err == nil {
			return at.UnixMilli(), nil
		}
	}
	return 0, fmt.Errorf("cannot read the time %q: write 2006-01-02, 2006-01-02T15:04:05Z or 36h", text)
}

type historyList struct {
	historyFilter
	Limit  int      `help:"How many, 1000 at most." default:"20"`
	Parent string   `help:"The programs of this request." placeholder:"ID"`
	Text   []string `arg:"" optional:"" help:"Only with all of these words."`
}

func (c historyList) Run(p *program) error {
	params, err := c.params()
	if err != nil {
		return err
	}
	params["limit"], params["parent"], params["text"] = c.Limit, c.Parent, strings.Join(c.Text, " ")
	record, err := p.record()
	if err != nil {
		return err
	}
	defer record.Close()
	rows, err := record.list(params)
	if err != nil {
		return err
	}
	return p.print(rows, func(w io.Writer) {
		for _, r := range rows {
			fmt.Fprintf(w, "%s  %s  %-7s  %-10s  %s  %s\n", r.Arrived.Format(time.DateTime), r.ID, r.State, outcome(r), display.Escape(r.AgentID), display.Escape(r.Command))
		}
	})
}

type historyShow struct {
	ID string `arg:"" help:"Id of the request, see history list."`
}

// request is a request with the programs that were started for it.
type request struct {
	history.Row
	Programs []history.Row `json:"programs"`
}

func (c historyShow) Run(p *program) error {
	kept, err := p.record()
	if err != nil {
		return err
	}
	defer kept.Close()
	found, err := kept.list(map[string]any{"id": c.ID})
	if err != nil {
		return err
	}
	if len(found) == 0 {
		return fmt.Errorf("nothing called %s is in the history: see `countersign history list`", display.Escape(c.ID))
	}
	all := request{Row: found[0]}
	if all.Programs, err = kept.list(map[string]any{"parent": c.ID, "limit": 1000}); err != nil {
		return err
	}
	return p.print(all, func(w io.Writer) { all.write(w) })
}

func (r request) write(w io.Writer) {
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%-9s %s\n", name, display.Escape(value))
		}
	}
	when := func(name string, at time.Time) {
		if !at.IsZero() {
			line(name, at.Format(time.RFC3339))
		}
	}
	line("command", r.Command)
	line("folder", r.Cwd)
	line("sets", strings.Join(r.EnvNames, " "))
	line("agent", r.AgentID)
	line("session", r.SessionKey)
	if r.PeerExe != "" {
		line("asked by", fmt.Sprintf("%s, process %d", r.PeerExe, r.PeerPID))
	}
	line("runs it", string(r.Who))
	line("judged", join(string(r.Judged), string(r.JudgedReason), r.JudgedSentence))
	line("risk", string(r.Risk))
	line("entry", r.Entry)
	line("policy", join(string(r.Security), string(r.Ask)))
	when("arrived", r.Arrived)
	when("asked", r.Asked)
	line("offered", offered(r.Choices))
	when("answered", r.Answered)
	line("answer", join(string(r.Decision), r.AnsweredBy, r.Note))
	line("outcome", join(string(r.Verdict), string(r.Reason), r.Sentence))
	when("started", r.Started)
	when("ended", r.Ended)
	line("state", join(string(r.State), outcome(r.Row)))
	if r.OutputHash != "" {
		line("output", fmt.Sprintf("%d bytes, %s", r.OutputSize, r.OutputHash))
	}
	line("error", r.Error)
	for i := len(r.Programs) - 1; i >= 0; i-- { // they come newest first
		p := r.Programs[i]
		line("program", fmt.Sprintf("%s → %s, %s", p.Command, p.Program, outcome(p)))
	}
}

func offered(choices []approval.Decision) string {
	words := make([]string, len(choices))
	for i, c := range choices {
		words[i] = string(c)
	}
	return join(words...)
}

func join(parts ...string) string {
	var said []string
	for _, part := range parts {
		if part != "" {
			said = append(said, part)
		}
	}
	return strings.Join(said, ", ")
}

type historyExport struct {
	historyFilter
	Text []string `arg:"" optional:"" help:"Only with all of these words, and without their programs."`
}

func (c historyExport) Run(p *program) error {
	params, err := c.params()
	if err != nil {
		return err
	}
	record, err := p.record()
	if err != nil {
		return err
	}
	defer record.Close()
	params["all"], params["text"] = true, strings.Join(c.Text, " ")
	_, err = history.WriteLines(p.stdout, func(before int64, limit int) ([]history.Row, error) {
		params["before"], params["limit"] = before, limit
		return record.list(params)
	})
	return err
}

type historyVerify struct {
	Head string `help:"Also check that the chain still holds this hash, which verify printed before." placeholder:"HASH"`
}

func (c historyVerify) Run(p *program) error {
	record, err := p.record()
	if err != nil {
		return err
	}
	defer record.Close()
	r, err := record.verify(c.Head)
	if err != nil {
		return err
	}
	left, err := record.left()
	if err != nil {
		return err
	}
	err = p.print(r, func(w io.Writer) {
		fmt.Fprintf(w, "%d rows checked, %d older ones removed, %d not over yet\nhead %s\n", r.Links, r.Removed, r.Open, r.Head)
		if t := r.Trimmed; t != nil && t.Last > 0 {
			fmt.Fprintf(w, "removed by size or age: links 1 to %d, %d rows, hash %s, last at %s\n", t.Last, t.Count, display.Escape(t.Hash), time.UnixMilli(t.At).Format(time.RFC3339))
		}
		for _, row := range left {
			fmt.Fprintf(w, "not over, though no host runs: row %d %s. A host that was killed left it, or another program put it in; the next host closes it as \"app ended\"\n", row.N, display.Escape(row.ID))
		}
	})
	switch {
	case err != nil:
		return err
	case r.Broken != nil && r.Broken.N == 0:
		return fmt.Errorf("the history is broken: %s", r.Broken.Why)
	case r.Broken != nil:
		return fmt.Errorf("the history is broken at row %d %s: %s", r.Broken.N, display.Escape(r.Broken.ID), r.Broken.Why)
	case c.Head != "" && !r.Held:
		return errors.New("the chain holds, but not with this hash: the history was replaced, or the row of the hash was removed by age")
	case len(r.Aside) > 0:
		return errors.New("this history is whole, and an earlier one is not: " + asideLine(r.Aside))
	}
	return nil
}

// asideLine says of histories that were broken where they are, and what to do.
func asideLine(files []string) string {
	return "it could not be read and is kept as " + display.Escape(strings.Join(files, ", ")) + "; another one was begun. Move it out of the folder once you have looked at it"
}

// outcome says in a word how a run ended.
func outcome(r history.Row) string {
	switch {
	case r.State == history.Denied:
		return string(r.Reason)
	case r.TimedOut:
		return "timed out"
	case r.Signal != "":
		return r.Signal
	case r.ExitCode != nil:
		return fmt.Sprintf("code %d", *r.ExitCode)
	case r.Error != "":
		return display.Escape(r.Error)
	}
	return "-"
}
