package main

import (
	"fmt"
	"io"
	"time"

	"github.com/countersign-app/countersign/backend/history"
)

// stopDays is how many days are counted if nobody says, and maxStopDays how many can be.
const (
	stopDays    = 7
	maxStopDays = 3650
)

// machineStops are the stops of this machine.
type machineStops struct {
	Days     int        `json:"days"`
	All      stopCounts `json:"all"`
	Reasons  []cause    `json:"reasons"`
	Programs []cause    `json:"programs"`
	few      bool
}

// onThisMachine counts what came of the commands of the last days, of which today is
// one. Nothing is judged again.
func (c policyStops) onThisMachine(p *program) error {
	days := c.Days
	if days == 0 {
		days = stopDays
	}
	switch {
	case c.Policy != "" || c.Start != "" || c.World != "" || c.Answer != "none":
		return exit{exitUsage, "--policy, --start, --world and --answer judge the commands of a list: name its file"}
	case days < 0 || days > maxStopDays:
		return exit{exitUsage, fmt.Sprintf("--days is between 1 and %d", maxStopDays)}
	}
	record, err := p.record()
	if err != nil {
		return err
	}
	defer record.Close()
	now := time.Now()
	s, err := record.stops(time.Date(now.Year(), now.Month(), now.Day()+1-days, 0, 0, 0, 0, now.Location()))
	if err != nil {
		return err
	}
	got := stopsOf(days, s)
	return p.print(got, got.write)
}

func stopsOf(days int, s history.Stops) machineStops {
	all := stopCounts{Commands: int(s.Commands), Asked: int(s.Asked), Denied: int(s.Denied), NoOffer: int(s.Asked - s.Kept)}
	return machineStops{Days: days, All: all, Reasons: causesOf(s.Reasons), Programs: causesOf(s.Programs), few: s.Few()}
}

func causesOf(list []history.Cause) []cause {
	causes := []cause{}
	for _, c := range list {
		causes = append(causes, cause{c.Name, int(c.Stops)})
	}
	return causes
}

func (m machineStops) write(w io.Writer) {
	name := "today"
	if m.Days > 1 {
		name = fmt.Sprintf("last %d days", m.Days)
	}
	if m.few {
		fmt.Fprintf(w, "%s: %d commands, too few to tell\n", name, m.All.Commands)
		return
	}
	t := newStopsTable(w)
	t.row(name, m.All)
	_ = t.Flush()
	writeCauses(w, "reasons", m.Reasons)
	writeCauses(w, "programs", m.Programs)
}
