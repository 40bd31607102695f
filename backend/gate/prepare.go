package gate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/machine"
	"github.com/countersign-app/countersign/backend/policy"
	"github.com/countersign-app/countersign/backend/store"
)

// Prepare says what a request is now, so that its run can be held to it. It
// neither asks nor runs.
func (g *Gate) Prepare(ctx context.Context, req approval.Request) (approval.Prepared, error) {
	m, err := g.Machine(ctx)
	if err != nil {
		return approval.Prepared{}, err
	}
	req.AgentID = store.AgentID(req.AgentID)
	rules, _ := g.rulesFor(req.AgentID)
	f := &flight{Gate: g, req: req, machine: m, plan: rules.plan(ctx, m, &req)}
	if f.evaluate(false); f.judgement.Verdict == approval.VerdictDeny || policy.HoldsProtected(f.judgement) {
		d := f.denied() // and nothing is told of its files
		return approval.Prepared{}, errors.New(Message(*d))
	}
	words := f.words()
	p := approval.Prepared{
		Argv: req.Command, Cwd: f.plan.Cwd.Path, Text: command.Format(req.Command),
		AgentID: req.AgentID, SessionKey: req.SessionKey, Policy: &words, EnvHash: req.EnvHash(),
	}
	if f.plan.Shell != "" {
		p.Preview = &f.plan.Text
	}
	p.Programs = f.programsHash()
	p.Operand, err = f.operand()
	return p, err
}

// programsHash names the programs of the plan, what interprets them, and what
// the files with program text hold.
func (f *flight) programsHash() string {
	held := f.contents()
	sum := sha256.New()
	for _, s := range f.plan.Segments {
		for at := s.Program; at != nil; at = at.Interpreter {
			fmt.Fprintf(sum, "%q\n", at.File.Path)
		}
		if s.Program == nil {
			fmt.Fprintln(sum)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(held)) {
		if held[path].err != nil {
			return ""
		}
		fmt.Fprintf(sum, "%q %s\n", path, held[path].sum)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// words are those that hold for the agent now.
func (f *flight) words() approval.Words {
	p := f.Store.Current().Policy(f.req.AgentID)
	return approval.Words{Security: p.Security, Ask: p.Ask, AskFallback: p.AskFallback, AutoSkills: p.AutoAllowSkills}
}

// operand finds the first word of the request that names a file with program
// text, and nil where there is none.
func (f *flight) operand() (*approval.Operand, error) {
	for i, word := range f.req.Command {
		file, err := (machine.Disk{}).Look(under(f.plan.Cwd.Path, word))
		if err != nil || !slices.ContainsFunc(f.plan.Segments, func(s approval.Segment) bool {
			return slices.ContainsFunc(s.Code, file.Same)
		}) {
			continue
		}
		sum, err := f.Hashes.Of(file)
		if err != nil {
			return nil, err
		}
		return &approval.Operand{Index: i, Path: file.Path, SHA256: sum}, nil
	}
	return nil, nil
}

func under(dir, word string) string {
	if len(word) > 0 && word[0] == '/' {
		return word
	}
	return dir + "/" + word
}

// drifted compares the request as it would run now with what was prepared.
func (f *flight) drifted() *approval.Denial {
	p := f.req.Prepared
	if p == nil {
		return nil
	}
	operand, err := f.operand()
	switch {
	case !slices.Equal(p.Argv, f.req.Command):
		return deny(approval.ReasonDrifted, "the command is not the one that was prepared")
	case p.Cwd != f.plan.Cwd.Path:
		return deny(approval.ReasonDrifted, "the folder is not the one that was prepared")
	case p.EnvHash != "" && p.EnvHash != f.req.EnvHash():
		return deny(approval.ReasonDrifted, "the environment is not the one that was prepared")
	case store.AgentID(p.AgentID) != f.req.AgentID || p.SessionKey != f.req.SessionKey:
		return deny(approval.ReasonDrifted, "it was prepared for another agent or session")
	case p.Policy != nil && *p.Policy != f.words():
		return deny(approval.ReasonDrifted, "the policy changed since it was prepared: prepare it again")
	case err != nil || (operand == nil) != (p.Operand == nil) || operand != nil && *operand != *p.Operand:
		return deny(approval.ReasonDrifted, "approval script operand changed before execution: prepare it again")
	case p.Programs != "" && p.Programs != f.programsHash():
		return deny(approval.ReasonDrifted, "what it would run changed since it was prepared: prepare it again")
	}
	return nil
}
