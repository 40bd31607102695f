package main

import (
	"fmt"
	"io"
	"time"

	"github.com/countersign-app/countersign/backend/host"
)

type pauseCommand struct {
	For time.Duration `arg:"" optional:"" help:"How long, such as 15m or 1h; until \"countersign resume\" if left out."`
}

func (c pauseCommand) Run(p *program) error {
	if c.For < 0 {
		return exit{exitUsage, "a pause must be positive"}
	}
	params := map[string]int64{}
	if c.For > 0 {
		params["until"] = time.Now().Add(c.For).UnixMilli()
	}
	if err := p.operate("pause", params, nil); err != nil {
		return err
	}
	return p.done()
}

type resumeCommand struct{}

func (resumeCommand) Run(p *program) error {
	if err := p.operate("resume", struct{}{}, nil); err != nil {
		return err
	}
	return p.done()
}

type metricsCommand struct{}

func (metricsCommand) Run(p *program) error {
	var text string
	if err := p.read("metrics", struct{}{}, &text); err != nil {
		return err
	}
	return p.print(text, func(w io.Writer) { fmt.Fprint(w, text) })
}

type stopCommand struct{}

func (stopCommand) Run(p *program) error {
	var s host.Stopped
	if err := p.operate("stop", struct{}{}, &s); err != nil {
		return err
	}
	return p.print(s, func(w io.Writer) {
		fmt.Fprintf(w, "Denied: %d. Ended: %d. Leases and answers taken back: %d.\n", s.Questions, s.Commands, s.Leases+s.Answers)
		if s.Gone > 0 {
			fmt.Fprintf(w, "Questions taken away whose agents no longer waited: %d.\n", s.Gone)
		}
	})
}
