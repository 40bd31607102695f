package main

import (
	"errors"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/store"
)

type leasesCommands struct {
	List leasesList `cmd:"" help:"List the entries that have an end."`
	End  leasesEnd  `cmd:"" help:"Take leases back."`
}

type leasesList struct{}

func (leasesList) Run(p *program) error {
	return p.listEntries(func(_ string, e approval.Entry) bool { return e.Leased() })
}

type leasesEnd struct {
	Session string `help:"Those of this session." placeholder:"KEY"`
	All     bool   `help:"All of them."`
	ID      string `arg:"" optional:"" help:"Id of the entry."`
}

func (c leasesEnd) Run(p *program) error {
	if c.ID == "" && c.Session == "" && !c.All {
		return exit{exitUsage, "say which lease, --session or --all"}
	}
	params := map[string]any{"id": c.ID, "sessionKey": c.Session, "all": c.All}
	return p.change("leases.end", params, func(d *store.Document) error {
		n := d.EndLeases(func(_ string, e approval.Entry) bool {
			return c.All || c.ID != "" && e.ID == c.ID || c.Session != "" && e.SessionKey == c.Session
		})
		if n == 0 && c.ID != "" {
			return errors.New("no such lease: see `countersign leases list`")
		}
		return nil
	})
}
