package judge

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
func (j *Judge) Prepare(ctx context.Context, req approval.Request) (approval.Prepared, error) {
	c, err := j.Open(ctx, req)
	if err != nil {
		return approval.Prepared{}, err
	}
	rules, _ := j.rulesFor(c.Req.AgentID)
	c.Plan = j.plan(ctx, rules, c.machine, &c.Req)
	if c.Evaluate(false); c.Judgement.Verdict == approval.VerdictDeny || policy.HoldsProtected(c.Judgement) {
		return approval.Prepared{}, errors.New(Message(*c.Denied())) // and nothing is told of its files
	}
	words := c.words()
	p := approval.Prepared{
		Argv: c.Req.Command, Cwd: c.Plan.Cwd.Path, Text: command.Format(c.Req.Command),
		AgentID: c.Req.AgentID, SessionKey: c.Req.SessionKey, Policy: &words, EnvHash: c.Req.EnvHash(),
	}
	if c.Plan.Shell != "" {
		p.Preview = &c.Plan.Text
	}
	p.Programs = c.programsHash()
	p.Operand, err = c.operand()
	return p, err
}

// programsHash names the programs of the plan, what interprets them, and what
// the files with program text hold.
func (c *Case) programsHash() string {
	held := c.Contents()
	sum := sha256.New()
	for _, s := range c.Plan.Segments {
		for at := s.Program; at != nil; at = at.Interpreter {
			fmt.Fprintf(sum, "%q\n", at.File.Path)
		}
		if s.Program == nil {
			fmt.Fprintln(sum)
		}
	}
	for _, path := range slices.Sorted(maps.Keys(held)) {
		if held[path].Err != nil {
			return ""
		}
		fmt.Fprintf(sum, "%q %s\n", path, held[path].Sum)
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// words are those that hold for the agent now.
func (c *Case) words() approval.Words {
	p := c.judge.reads.Policies.Current().Policy(c.Req.AgentID)
	return approval.Words{Security: p.Security, Ask: p.Ask, AskFallback: p.AskFallback, AutoSkills: p.AutoAllowSkills}
}

// operand finds the first word of the request that names a file with program
// text, and nil where there is none.
func (c *Case) operand() (*approval.Operand, error) {
	for i, word := range c.Req.Command {
		file, err := (machine.Disk{}).Look(under(c.Plan.Cwd.Path, word))
		if err != nil || !slices.ContainsFunc(c.Plan.Segments, func(s approval.Segment) bool {
			return slices.ContainsFunc(s.Code, file.Same)
		}) {
			continue
		}
		sum, err := c.judge.reads.Hashes.Of(file)
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

// Drifted compares the request as it would run now with what was prepared.
func (c *Case) Drifted() *approval.Denial {
	p := c.Req.Prepared
	if p == nil {
		return nil
	}
	operand, err := c.operand()
	switch {
	case !slices.Equal(p.Argv, c.Req.Command):
		return Deny(approval.ReasonDrifted, "the command is not the one that was prepared")
	case p.Cwd != c.Plan.Cwd.Path:
		return Deny(approval.ReasonDrifted, "the folder is not the one that was prepared")
	case p.EnvHash != "" && p.EnvHash != c.Req.EnvHash():
		return Deny(approval.ReasonDrifted, "the environment is not the one that was prepared")
	case store.AgentID(p.AgentID) != c.Req.AgentID || p.SessionKey != c.Req.SessionKey:
		return Deny(approval.ReasonDrifted, "it was prepared for another agent or session")
	case p.Policy != nil && *p.Policy != c.words():
		return Deny(approval.ReasonDrifted, "the policy changed since it was prepared: prepare it again")
	case err != nil || (operand == nil) != (p.Operand == nil) || operand != nil && *operand != *p.Operand:
		return Deny(approval.ReasonDrifted, "approval script operand changed before execution: prepare it again")
	case p.Programs != "" && p.Programs != c.programsHash():
		return Deny(approval.ReasonDrifted, "what it would run changed since it was prepared: prepare it again")
	}
	return nil
}
