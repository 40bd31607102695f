//go:build linux || darwin

package runner

import (
	"math"
	"strconv"

	"github.com/countersign-app/countersign/backend/approval"
)

// sum works out arithmetic. What $… becomes in it is known before anything is worked
// out, as a shell does it.
func (sh *shell) sum(s *approval.Sum, stderr int) (n int64, e ending, ok bool) {
	if !sh.step(1) {
		return 0, ending{}, false
	}
	words := map[*approval.Sum]int64{}
	if e, ok := sh.sumWords(s, words, stderr); !ok {
		return 0, e, false
	}
	return sh.workOut(s, words, stderr)
}

func (sh *shell) sumWords(s *approval.Sum, words map[*approval.Sum]int64, stderr int) (ending, bool) {
	if s.Op == approval.SumWord {
		text, e, ok := sh.one(s.Word, stderr)
		if !ok {
			return e, false
		}
		n, fine := approval.Decimal(text)
		if fine = fine && text != "" && text[0] != '+' && (n >= 0 || !s.Tight); !fine {
			return ending{}, sh.noNumber()
		}
		words[s] = n
	}
	for i := range s.Kids {
		if e, ok := sh.sumWords(&s.Kids[i], words, stderr); !ok {
			return e, false
		}
	}
	return ending{}, true
}

// noNumber ends the run where a value is no plain number: a shell would take it for
// arithmetic of its own.
func (sh *shell) noNumber() bool {
	sh.deny(Outer, denied(approval.ReasonRuntimeValue, "a value in its arithmetic is no plain decimal number"))
	return false
}

func (sh *shell) workOut(s *approval.Sum, words map[*approval.Sum]int64, stderr int) (n int64, e ending, ok bool) {
	switch s.Op {
	case approval.SumNumber:
		return s.Number, ending{}, true
	case approval.SumWord:
		return words[s], ending{}, true
	case approval.SumName:
		text, set := sh.lookup(s.Name)
		if !set && sh.nounset && !sh.posix() {
			return 0, sh.stops(stderr, "%s: unbound variable", s.Name), false
		}
		if n, ok = approval.Decimal(text); !ok {
			return 0, ending{}, sh.noNumber()
		}
		return n, ending{}, true
	case approval.SumSet, approval.SumAfter:
		if n, e, ok = sh.workOut(&s.Kids[0], words, stderr); !ok {
			return 0, e, false
		}
		before, _ := sh.lookup(s.Name)
		if sh.set(s.Name, strconv.FormatInt(n, 10)); s.Op == approval.SumAfter {
			n, _ = approval.Decimal(before)
		}
		return n, ending{}, true
	}
	if n, e, ok = sh.workOut(&s.Kids[0], words, stderr); !ok || len(s.Kids) == 1 {
		switch s.Op {
		case "!":
			n = truth(n == 0)
		case approval.SumMinus:
			n = -n
		}
		return n, e, ok
	}
	if s.Op == "&&" && n == 0 || s.Op == "||" && n != 0 {
		return truth(n != 0), ending{}, true
	}
	right, e, ok := sh.workOut(&s.Kids[1], words, stderr)
	if !ok {
		return 0, e, false
	}
	if (s.Op == "/" || s.Op == "%") && (right == 0 || right == -1 && n == math.MinInt64) {
		// Where a shell goes on after this is not the same to any two of them.
		sh.deny(Outer, denied(approval.ReasonRuntimeValue, "its arithmetic divides by 0, or what has no end"))
		return 0, ending{}, false
	}
	return both(s.Op, n, right), ending{}, true
}

// both is what a sign makes of two numbers.
func both(op approval.SumOp, a, b int64) int64 {
	switch op {
	case "+":
		return a + b
	case "-":
		return a - b
	case "*":
		return a * b
	case "/":
		return a / b
	case "%":
		return a % b
	case "<":
		return truth(a < b)
	case ">":
		return truth(a > b)
	case "<=":
		return truth(a <= b)
	case ">=":
		return truth(a >= b)
	case "==":
		return truth(a == b)
	case "!=":
		return truth(a != b)
	}
	return truth(b != 0) // && and ||, where the left side leaves it to the right one
}

func truth(holds bool) int64 {
	if holds {
		return 1
	}
	return 0
}

// holds runs arithmetic as a command: it fails where it is 0.
func (sh *shell) holds(s *approval.Sum, stderr int) ending {
	n, e, ok := sh.sum(s, stderr)
	if ok && n == 0 {
		return ending{code: 1}
	}
	return e
}

// counts runs a loop that counts.
func (sh *shell) counts(n *approval.Node, io stdio, tested bool) {
	status := ending{}
	for i := 0; ; i++ {
		at := 0
		if i > 0 {
			at = 2
		}
		if _, e, ok := sh.sum(&n.Sums[at], io[2]); !ok {
			sh.last = e
			return
		}
		more, e, ok := sh.sum(&n.Sums[1], io[2])
		if !ok {
			sh.last = e
			return
		}
		if more == 0 {
			sh.last = status
			return
		}
		if status = sh.walk(&n.Kids[0], io, tested); !sh.rounds() {
			return
		}
	}
}
