package proxy

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/rescue"
)

// pace says when things happen to a request that is judged.
type pace struct {
	// inTurn is how long later judged requests wait for this one, so that they
	// reach the server in the order of the client: longer than the host takes
	// where nobody is asked.
	inTurn time.Duration
	// first and again are when the client hears that a person is asked.
	first, again time.Duration
}

func usualPace() pace {
	return pace{inTurn: 100 * time.Millisecond, first: time.Second, again: 5 * time.Second}
}

// overdue is how long after the deadline of a question a host may still answer.
const overdue = 5 * time.Second

// judge has the host decide about a request. Nothing waits for that here.
func (p *proxy) judge(m Message) {
	r, err := readParams(m)
	if err != nil {
		p.refuse(m, codeInvalidParams, err)
		return
	}
	tool, err := p.toolCall(m.Method, r)
	if err != nil {
		p.refuse(m, codeInvalidParams, err)
		return
	}
	c, err := p.calls.begin(p.ctx, m, judged)
	if err != nil {
		p.refuse(m, codeInvalidRequest, err)
		return
	}
	before, settled := p.last, make(chan struct{})
	p.last = settled
	settle := sync.OnceFunc(func() { close(settled) })
	turn := time.AfterFunc(p.pace.inTurn, settle)
	p.begin(func() {
		defer settle()
		defer turn.Stop()
		defer rescue.Catch(p.opt.Log, "a call that is judged", func() {
			if p.calls.drop(c) {
				p.refuse(m, codeInternal, errFailed)
			}
		})
		outcome := p.decide(c, tool, r.progress)
		if outcome.Verdict == approval.VerdictAllow {
			select {
			case <-before:
			case <-c.ctx.Done():
			}
			if p.calls.pass(c) {
				p.send(m)
			}
			return
		}
		if p.calls.drop(c) {
			p.out.put(denial(m, r, outcome.Receipt, p.isShaped(r.name)))
		}
	})
}

// decide asks the host. Meanwhile it tells the client that it waits, and has it
// show the question where its call has a ticket.
func (p *proxy) decide(c *call, tool approval.ToolCall, token json.RawMessage) approval.Outcome {
	outcome := make(chan approval.Outcome, 1)
	go func() {
		defer rescue.Catch(p.opt.Log, "a call that is judged", func() {
			outcome <- refusal(approval.ReasonInternal, "Countersign failed at this call: its log says where")
		})
		ctx, cancel := context.WithTimeout(c.ctx, p.opt.Wait+overdue)
		defer cancel()
		outcome <- ask(ctx, p.opt.Host, tool)
	}()
	if token == nil && tool.Ticket == "" {
		return <-outcome
	}
	ctx, over := context.WithCancel(c.ctx)
	var form sync.WaitGroup
	defer form.Wait()
	defer over()
	tick := time.NewTimer(p.pace.first)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case o := <-outcome:
			return o
		case <-tick.C:
			if n == 1 && tool.Ticket != "" {
				form.Go(func() {
					defer rescue.Catch(p.opt.Log, "a form", nil)
					p.elicit(ctx, tool.Ticket)
				})
			}
			if token != nil {
				p.out.put(waiting(token, n))
			}
			tick.Reset(p.pace.again)
		}
	}
}

// maxArgs is how long arguments can be that fit into one question to the host,
// in bytes, as they are written there.
const maxArgs = 250_000

// ask has the host judge a call. Without an answer the outcome is a denial.
func ask(ctx context.Context, host Host, tool approval.ToolCall) approval.Outcome {
	if twice, err := json.Marshal(string(tool.Args)); err != nil || len(twice) > maxArgs {
		return refusal(approval.ReasonTooComplex, "the arguments are too long to be judged: at most about 240 000 bytes are possible")
	}
	var o approval.Outcome
	err := host.Call(ctx, "tool.decide", tool, &o)
	var refused *ipc.Error
	switch {
	case errors.As(err, &refused) && refused.Reason != approval.ReasonCompanion:
		return refusal(refused.Reason, refused.Message)
	case err != nil:
		return refusal(approval.ReasonCompanion, "Countersign does not answer on this machine, so the call was not made")
	case o.Verdict == approval.VerdictAllow:
		return o
	}
	if o.Verdict = approval.VerdictDeny; o.Receipt.Message == "" {
		return refusal(o.Receipt.Reason, o.Receipt.Sentence)
	}
	return o
}

// refusal is the outcome of a call that the host did not judge.
func refusal(reason approval.Reason, sentence string) approval.Outcome {
	text := "TOOL_CALL_DENIED: " + string(reason)
	if sentence != "" {
		text += ": " + sentence
	}
	text += ". "
	return approval.Outcome{Verdict: approval.VerdictDeny, Receipt: approval.Receipt{
		Verdict: approval.VerdictDeny, Reason: reason, Sentence: sentence, AskAgain: approval.CanAskAgain(reason),
		Message: text + string(approval.EndingFor(reason)),
	}}
}

// isShaped reports whether the server said what the results of a tool look like.
func (p *proxy) isShaped(tool string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.shaped[tool]
}
