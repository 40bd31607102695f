//go:build linux || darwin

package runner

import (
	"errors"
	"path"
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
)

// Limits of a plan. The steps of loops are counted as they run, all others before
// anything starts.
const (
	maxSteps   = 20_000
	maxNesting = 64
	maxAtOnce  = 32 // programs
	maxFiles   = 512
)

// measure is the size of a part of a plan: its steps, and how many programs
// and descriptors it may have at once. A stage of a pipeline counts as a
// program, whatever it is.
type measure struct{ steps, atOnce, files int }

// check refuses a plan that is too large or means nothing, and measures it.
func check(plan *approval.Plan) (measure, error) {
	m, err := measureNode(plan, plan.Root, 1)
	switch {
	case err != nil:
	case m.steps > maxSteps || m.atOnce > maxAtOnce:
		err = denied(approval.ReasonTooComplex,
			"this is more than %d steps, or more than %d programs at once", maxSteps, maxAtOnce)
	case m.files > maxFiles:
		err = denied(approval.ReasonTooComplex, "this needs more than %d descriptors of pipes, files and folders at once", maxFiles)
	}
	return m, err
}

func measureNode(plan *approval.Plan, n *approval.Node, depth int) (measure, error) {
	if depth > maxNesting {
		return measure{}, denied(approval.ReasonTooComplex, "this is nested more than %d deep", maxNesting)
	}
	if !wellFormed(plan, n) {
		return measure{}, errors.New("internal error: this plan means nothing")
	}
	if n.Op == approval.OpBackground { // what it takes is taken when it starts
		of, err := measureNode(plan, &n.Kids[0], depth+1)
		return measure{steps: 1 + of.steps}, err
	}
	m, parts := measure{steps: 1}, substitutions(plan, n)
	if n.Op == approval.OpRun {
		m.atOnce, m.files = 1, looking+opened(plan.Segments[n.Seg].Redirects)
	}
	subs := len(parts)
	for i := range n.Kids {
		parts = append(parts, &n.Kids[i])
	}
	for i, part := range parts {
		below := depth + 1
		if i == 0 && (n.Op == approval.OpAnd || n.Op == approval.OpOr) {
			below = depth // a chain is as deep as it is long, and that counts as steps
		}
		of, err := measureNode(plan, part, below)
		if err != nil {
			return measure{}, err
		}
		if i < subs {
			of.files += pipeEnds + 1
		}
		m.steps += of.steps
		if n.Op == approval.OpPipe {
			m.atOnce += max(1, of.atOnce)
			m.files += of.files + pipeEnds + 1
		} else {
			m.atOnce, m.files = max(m.atOnce, of.atOnce), max(m.files, of.files)
		}
	}
	if n.Op == approval.OpSub {
		m.files++
	}
	m.files += opened(n.Redirects)
	return m, nil
}

// What descriptors are for, besides the folder that each subshell may have of
// its own: the ends of a pipe, what one command looks at before it starts, and a file
// that is written, with its folder and the look at it.
const (
	pipeEnds = 2
	looking  = 2
	opening  = 3
)

// opened is how many descriptors redirections open.
func opened(list []approval.Redirect) (files int) {
	for _, r := range list {
		switch r.To {
		case approval.FromFile:
			files++
		case approval.FromText:
			files += pipeEnds
		case approval.ToFile:
			files += opening
		}
	}
	return files
}

// substitutions returns what the words of a node run.
func substitutions(plan *approval.Plan, n *approval.Node) (list []*approval.Node) {
	words := slices.Concat(append(n.Cases[:len(n.Cases):len(n.Cases)], n.Words)...)
	for _, a := range n.Assigns {
		words = append(words, a.Value)
	}
	if n.Op == approval.OpRun {
		words = append(words, plan.Segments[n.Seg].Words...)
	}
	if n.Condition != nil {
		words = append(words, wordsOf(n.Condition)...)
	}
	for i := range n.Sums {
		list = append(list, runsInSum(&n.Sums[i])...)
	}
	for _, word := range words {
		list = append(list, runsIn(word)...)
	}
	return list
}

// wordsOf returns the words of a condition.
func wordsOf(c *approval.Condition) []approval.Word {
	words := slices.Clone(c.Words)
	for i := range c.Kids {
		words = append(words, wordsOf(&c.Kids[i])...)
	}
	return words
}

// conditionFits reports whether a condition has the words and kids that it needs.
func conditionFits(c *approval.Condition) bool {
	words, kids := 1, 0
	switch c.Op {
	case approval.ConditionNot:
		words, kids = 0, 1
	case approval.ConditionAnd, approval.ConditionOr:
		words, kids = 0, 2
	case approval.ConditionLike, approval.ConditionUnlike, "-eq", "-ne", "-lt", "-le", "-gt", "-ge":
		words = 2
	case approval.ConditionFull, approval.ConditionEmpty, "-e", "-f", "-d", "-L", "-s", "-r", "-w", "-x":
	default:
		return false
	}
	return len(c.Words) == words && len(c.Kids) == kids && !slices.ContainsFunc(c.Kids, func(kid approval.Condition) bool { return !conditionFits(&kid) })
}

func runsInSum(s *approval.Sum) (list []*approval.Node) {
	list = runsIn(s.Word)
	for i := range s.Kids {
		list = append(list, runsInSum(&s.Kids[i])...)
	}
	return list
}

// runsIn returns what a word runs, and the words of its forms.
func runsIn(word approval.Word) (list []*approval.Node) {
	for _, part := range word {
		if part.Run != nil {
			list = append(list, part.Run)
		}
		if part.Form != nil {
			list = append(list, runsIn(part.Form.Word)...)
		}
		if part.Sum != nil {
			list = append(list, runsInSum(part.Sum)...)
		}
	}
	return list
}

func wellFormed(plan *approval.Plan, n *approval.Node) bool {
	if !redirectsFit(n.Redirects) {
		return false
	}
	switch n.Op {
	case approval.OpRun:
		return n.Seg >= 0 && n.Seg < len(plan.Segments) && len(n.Kids) == 0 &&
			len(plan.Segments[n.Seg].Argv) > 0 && redirectsFit(plan.Segments[n.Seg].Redirects)
	case approval.OpSeq, approval.OpAnd, approval.OpOr, approval.OpPipe:
		return len(n.Kids) > 0
	case approval.OpNot, approval.OpSub, approval.OpTime, approval.OpBackground:
		return len(n.Kids) == 1
	case approval.OpFor:
		return len(n.Kids) == 1 && n.Name != ""
	case approval.OpCase:
		return len(n.Words) == 1 && len(n.Cases) == len(n.Kids)
	case approval.OpNone:
		return len(n.Kids) == 0
	case approval.OpLeave, approval.OpAgain:
		return n.Loops > 0 && len(n.Kids) == 0
	case approval.OpAsk:
		return n.Condition != nil && len(n.Kids) == 0 && conditionFits(n.Condition)
	case approval.OpSum:
		return len(n.Sums) == 1 && len(n.Kids) == 0
	case approval.OpCount:
		return len(n.Sums) == 3 && len(n.Kids) == 1
	case approval.OpWhile, approval.OpUntil:
		return len(n.Kids) == 2
	case approval.OpIf:
		return len(n.Kids) == 2 || len(n.Kids) == 3
	case approval.OpAssign:
		return len(n.Assigns) > 0 && len(n.Kids) == 0
	}
	return false
}

func redirectsFit(list []approval.Redirect) bool {
	return !slices.ContainsFunc(list, func(r approval.Redirect) bool {
		switch r.To {
		case approval.ToNull:
			return r.FD < 0 || r.FD > 2
		case approval.FromFile:
			if r.Word != nil {
				return r.FD != 0 || r.From == "" || len(r.Maybe) == 0 || len(r.Maybe) != len(r.Files)
			}
			return r.FD != 0 || r.File == nil
		case approval.FromText:
			return r.FD != 0
		case approval.ToFile:
			if r.Word != nil {
				return r.FD < 1 || r.FD > 2 || r.By == ""
			}
			return r.FD < 1 || r.FD > 2 || r.File == nil || r.Folder == nil || !path.IsAbs(r.File.Path) || path.Join(r.Folder.Path, path.Base(r.File.Path)) != r.File.Path
		}
		return r.FD < 1 || r.FD > 2 || r.To < 1 || r.To > 2
	})
}
