package main

import (
	"fmt"
	"io"
	"time"

	"github.com/countersign-app/countersign/backend/display"
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
