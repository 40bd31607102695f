package main

import (
	"slices"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/corpus"
)

var levels = []approval.Risk{approval.RiskLow, approval.RiskMedium, approval.RiskHigh}

// TestRiskOfTheCorpus weighs every case: each has a level, with reasons unless
// it is low, and what may never run is high. Whatever else runs beside it, the
// level never gets lower.
func TestRiskOfTheCorpus(t *testing.T) {
	cases := readCorpus(t)
	trial := newTrial(cases)
	counts := map[approval.Risk]int{}
	before := trial.plan(cases.Cases[0]) // goes beside the next one
	for _, c := range cases.Cases {
		plan := trial.plan(c)
		j := trial.judge(c, &plan, trial.rulesOf(c))
		counts[j.Risk.Level]++
		if !slices.Contains(levels, j.Risk.Level) || (len(j.Risk.Reasons) == 0) != (j.Risk.Level == approval.RiskLow) {
			t.Errorf("%s: %+v\n    %s", c.ID, j.Risk, inputOf(c))
		}
		if never(j) && j.Risk.Level != approval.RiskHigh {
			t.Errorf("%s: denied for good, and only %s\n    %s", c.ID, j.Risk.Level, inputOf(c))
		}
		for name, level := range map[string]approval.Risk{
			"another's parts": trial.risk(c, beside(plan, before.Segments)),
			"its own again":   trial.risk(c, beside(plan, plan.Segments)),
			"a text":          trial.textRisk(c, plan.Root != nil, " && ls"),
		} {
			if slices.Index(levels, level) < slices.Index(levels, j.Risk.Level) {
				t.Errorf("%s: %s, and with %s beside it %s\n    %s", c.ID, j.Risk.Level, name, level, inputOf(c))
			}
		}
		before = plan
	}
	t.Logf("%v", counts)
	for _, level := range levels {
		if counts[level] < 50 {
			t.Errorf("%d cases are %s: is the table right?", counts[level], level)
		}
	}
}

func never(j approval.Judgement) bool {
	hard := func(f approval.Finding) bool {
		return f.Reason == approval.ReasonFloor || f.Reason == approval.ReasonDenylisted
	}
	return hard(j.Finding) || slices.ContainsFunc(j.Segments, func(s approval.SegmentJudgement) bool { return hard(s.Finding) })
}

func beside(plan approval.Plan, more []approval.Segment) *approval.Plan {
	plan.Segments = slices.Concat(plan.Segments, more)
	return &plan
}

func (t *trial) risk(c corpus.Case, plan *approval.Plan) approval.Risk {
	return t.judge(c, plan, t.rulesOf(c)).Risk.Level
}

// textRisk weighs a text with another command behind it, where the text is
// understood, and else as it is.
func (t *trial) textRisk(c corpus.Case, understood bool, more string) approval.Risk {
	if c.Text != "" && understood {
		c.Text += more
	}
	plan := t.plan(c)
	return t.risk(c, &plan)
}
