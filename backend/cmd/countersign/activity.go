package main

import (
	"fmt"
	"io"
	"time"

	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/host"
)

type runningCommands struct {
	List runningList `cmd:"" help:"List what runs."`
	Stop runningStop `cmd:"" help:"End a run."`
}

type runningList struct{}

func (runningList) Run(p *program) error {
	var list []host.Run
	if err := p.read("running.list", nil, &list); err != nil {
		return err
	}
	return p.print(list, func(w io.Writer) {
		for _, r := range list {
			since := time.Since(time.UnixMilli(r.Started)).Round(time.Second)
			fmt.Fprintf(w, "%s  %s  %s  %s\n", r.ID, since, display.Escape(r.AgentID), display.Escape(r.Command))
		}
	})
}

type runningStop struct {
	ID string `arg:"" help:"Id of the run."`
}

func (c runningStop) Run(p *program) error {
	if err := p.operate("running.stop", map[string]string{"id": c.ID}, nil); err != nil {
		return err
	}
	return p.done()
}

type historyCommands struct {
	List historyList `cmd:"" help:"List requests, newest first."`
}

type historyList struct {
	Agent  string `help:"Only this agent." placeholder:"ID"`
	Limit  int    `help:"How many." default:"20"`
	Parent string `help:"The programs of this request." placeholder:"ID"`
}

func (c historyList) Run(p *program) error {
	var rows []history.Row
	params := map[string]any{"limit": c.Limit, "agentId": c.Agent, "parent": c.Parent}
	if err := p.read("history.list", params, &rows); err != nil {
		return err
	}
	return p.print(rows, func(w io.Writer) {
		for _, r := range rows {
			fmt.Fprintf(w, "%s  %-7s  %-10s  %s  %s\n", r.Arrived.Format(time.DateTime), r.State, outcome(r), display.Escape(r.AgentID), display.Escape(r.Command))
		}
	})
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
