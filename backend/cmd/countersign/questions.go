package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/gate"
	"github.com/countersign-app/countersign/backend/host"
)

type approvalsPending struct{}

func (approvalsPending) Run(p *program) error {
	var list []approval.Prompt
	if err := p.read("pending.list", nil, &list); err != nil {
		return err
	}
	return p.print(list, func(w io.Writer) {
		now := time.Now()
		for _, q := range list {
			left := max(0, time.UnixMilli(q.Expires).Sub(now).Round(time.Second))
			state := left.String() + " left"
			switch {
			case q.CallerGone:
				state = "the agent stopped waiting"
			case q.Held:
				state = "held, " + left.String() + " at most"
			}
			if q.Count > 1 {
				state += fmt.Sprintf(", ×%d", q.Count)
			}
			fmt.Fprintf(w, "%s  %s  %s  %s\n", q.ID, display.Escape(q.AgentID), state, display.Escape(q.Plan.Text))
			writeQuestion(w, q)
			fmt.Fprintf(w, "  until    %s\n  choices  %s\n\n", time.UnixMilli(q.Expires).Format(time.DateTime), choices(q))
		}
	})
}

// choices are the answers that can be given.
func choices(q approval.Prompt) string {
	words := make([]string, len(q.Judgement.Choices))
	for i, c := range q.Judgement.Choices {
		words[i] = string(c)
	}
	return strings.Join(words, ", ")
}

type approvalsApprove struct {
	Always bool           `help:"Allow it always: save the entry that the question shows."`
	Width  approval.Width `help:"Remember it as wide as this: exact, words or program." placeholder:"WIDTH"`
	Here   bool           `help:"Only in the folder of the question."`
	For    approval.Keep  `help:"Remember it for 10m, 1h, session or next5 (five more runs); as narrowly as can be without --width." placeholder:"HOW-LONG"`
	ID     string         `arg:"" help:"Id of the question, or its beginning."`
}

func (c approvalsApprove) Run(p *program) error {
	q, err := p.question(c.ID)
	if err != nil {
		return err
	}
	d, choice := approval.AllowOnce, approval.Choice{Width: c.Width, Here: c.Here, Keep: c.For}
	if c.Always || choice != (approval.Choice{}) {
		d = approval.AllowAlways
	}
	if choice.Width == approval.WidthUnset && choice.Keep.Lease() && len(q.Judgement.Offers) > 0 {
		choice.Width = q.Judgement.Offers[0].Width
	}
	return p.answer(q, d, choice)
}

type approvalsDeny struct {
	Note string `help:"What the agent should know." placeholder:"TEXT"`
	For  string `help:"How long the same is denied without a question: a time, such as 2h, session, or once for this one alone. Without it, as long as the host says: the answer tells until when." placeholder:"HOW-LONG"`
	ID   string `arg:"" help:"Id of the question, or its beginning."`
}

func (c approvalsDeny) Run(p *program) error {
	q, err := p.question(c.ID)
	if err != nil {
		return err
	}
	var got host.DeniedUntil
	params := map[string]any{"id": q.ID, "decision": approval.DecisionDeny, "note": c.Note, "for": c.For}
	if err := p.operate("pending.answer", params, &got); err != nil {
		return err
	}
	return p.print(map[string]any{"ok": true, "until": got.Until}, func(w io.Writer) {
		switch {
		case got.Until != 0:
			fmt.Fprintf(w, "Denied. The same is denied until %s; %s approvals standing lists it.\n", time.UnixMilli(got.Until).Format(time.TimeOnly), p.self())
		case c.For == "session":
			fmt.Fprintf(w, "Denied. The same is denied in this session; %s approvals standing lists it.\n", p.self())
		}
	})
}

type approvalsStanding struct{}

func (approvalsStanding) Run(p *program) error {
	var list []gate.Standing
	if err := p.read("standing.list", nil, &list); err != nil {
		return err
	}
	return p.print(list, func(w io.Writer) {
		for _, one := range list {
			word := "denied"
			if one.Decision == approval.AllowOnce {
				word = "allowed once"
			}
			fmt.Fprintf(w, "%s  %s  %s until %s  %s\n", one.ID, display.Escape(one.AgentID), word, time.UnixMilli(one.Until).Format(time.DateTime), display.Escape(one.Command))
		}
	})
}

type approvalsForget struct {
	ID string `arg:"" help:"Id of the answer."`
}

func (c approvalsForget) Run(p *program) error {
	if err := p.operate("standing.forget", map[string]string{"id": c.ID}, nil); err != nil {
		return err
	}
	return p.done()
}

type approvalsHold struct {
	Off bool   `help:"Let the clock run on."`
	ID  string `arg:"" help:"Id of the question, or its beginning."`
}

func (c approvalsHold) Run(p *program) error {
	q, err := p.question(c.ID)
	if err != nil {
		return err
	}
	if err := p.operate("pending.hold", map[string]any{"id": q.ID, "on": !c.Off}, nil); err != nil {
		return err
	}
	return p.done()
}

// question returns the one question whose id begins so.
func (p *program) question(id string) (q approval.Prompt, err error) {
	var list []approval.Prompt
	if err := p.read("pending.list", nil, &list); err != nil {
		return q, err
	}
	list = slices.DeleteFunc(list, func(q approval.Prompt) bool { return !strings.HasPrefix(q.ID, id) })
	switch {
	case len(list) == 0:
		return q, fmt.Errorf("no question %s is waiting: see `countersign approvals pending`", id)
	case len(list) > 1:
		return q, fmt.Errorf("%s is the beginning of %d questions: give more of the id", id, len(list))
	}
	return list[0], nil
}

func (p *program) answer(q approval.Prompt, d approval.Decision, c approval.Choice) error {
	params := map[string]any{"id": q.ID, "digest": q.Digest(), "count": q.Count, "decision": d}
	if c != (approval.Choice{}) {
		params["choice"] = c
	}
	if err := p.operate("pending.answer", params, nil); err != nil {
		return err
	}
	return p.done()
}
