package command

import (
	"mvdan.cc/sh/v3/syntax"

	"github.com/countersign-app/countersign/backend/approval"
)

// What [[ … ]] may ask: nothing that a shell evaluates, and nothing that its language
// decides.
var (
	compares = map[syntax.BinTestOperator]approval.ConditionOp{
		syntax.TsEql: "-eq", syntax.TsNeq: "-ne", syntax.TsLss: "-lt", syntax.TsLeq: "-le", syntax.TsGtr: "-gt", syntax.TsGeq: "-ge",
	}
	joined = map[syntax.BinTestOperator]approval.ConditionOp{syntax.AndTest: approval.ConditionAnd, syntax.OrTest: approval.ConditionOr}
	likes  = map[syntax.BinTestOperator]approval.ConditionOp{
		syntax.TsMatchShort: approval.ConditionLike, syntax.TsMatch: approval.ConditionLike, syntax.TsNoMatch: approval.ConditionUnlike,
	}
	looksAt = map[syntax.UnTestOperator]approval.ConditionOp{
		syntax.TsExists: "-e", syntax.TsRegFile: "-f", syntax.TsDirect: "-d", syntax.TsSmbLink: "-L", syntax.TsNoEmpty: "-s",
		syntax.TsRead: "-r", syntax.TsWrite: "-w", syntax.TsExec: "-x", syntax.TsEmpStr: approval.ConditionEmpty, syntax.TsNempStr: approval.ConditionFull,
	}
)

// condition plans [[ … ]], of bash. The parser takes ! for all that follows it, and
// bash for what is next: what is asked is put together anew, in its order.
func (t *textJob) condition(x syntax.TestExpr, dir string) (approval.Condition, bool) {
	var list []inquiry
	if !t.flatten(x, dir, &list) {
		return approval.Condition{}, false
	}
	c, rest, ok := either(list)
	return c, ok && len(rest) == 0
}

// inquiry is one piece of what [[ … ]] asks: a condition, or the sign before or between
// two of them.
type inquiry struct {
	sign approval.ConditionOp // "" for a condition
	of   approval.Condition
}

// flatten lists the pieces in their order.
func (t *textJob) flatten(x syntax.TestExpr, dir string, list *[]inquiry) bool {
	if !t.spend(1) {
		return false
	}
	add := func(c approval.Condition, ok bool) bool {
		*list = append(*list, inquiry{of: c})
		return ok
	}
	switch x := x.(type) {
	case *syntax.ParenTest:
		return add(t.condition(x.X, dir))
	case *syntax.Word:
		word, ok := t.one(x, dir)
		return add(approval.Condition{Op: approval.ConditionFull, Words: []approval.Word{word}}, ok)
	case *syntax.UnaryTest:
		if x.Op == syntax.TsNot {
			*list = append(*list, inquiry{sign: approval.ConditionNot})
			return t.flatten(x.X, dir, list)
		}
		op, known := looksAt[x.Op]
		word, is := x.X.(*syntax.Word)
		if !known || !is {
			return false
		}
		parts, ok := t.one(word, dir)
		return add(approval.Condition{Op: op, Words: []approval.Word{parts}}, ok)
	case *syntax.BinaryTest:
		op, is := joined[x.Op]
		if !is {
			return add(t.compares(x, dir))
		}
		ok := t.flatten(x.X, dir, list)
		*list = append(*list, inquiry{sign: op})
		return t.flatten(x.Y, dir, list) && ok
	}
	return false
}

// either puts pieces together up to the end: || binds less than &&, and that less
// than !.
func either(list []inquiry) (c approval.Condition, rest []inquiry, ok bool) {
	return chain(list, approval.ConditionOr, func(list []inquiry) (approval.Condition, []inquiry, bool) {
		return chain(list, approval.ConditionAnd, negated)
	})
}

func chain(list []inquiry, sign approval.ConditionOp, next func([]inquiry) (approval.Condition, []inquiry, bool)) (c approval.Condition, rest []inquiry, ok bool) {
	c, rest, ok = next(list)
	for ok && len(rest) > 0 && rest[0].sign == sign {
		var right approval.Condition
		right, rest, ok = next(rest[1:])
		c = approval.Condition{Op: sign, Kids: []approval.Condition{c, right}}
	}
	return c, rest, ok
}

func negated(list []inquiry) (c approval.Condition, rest []inquiry, ok bool) {
	nots := 0
	for nots < len(list) && list[nots].sign == approval.ConditionNot {
		nots++
	}
	if nots == len(list) || list[nots].sign != "" {
		return c, nil, false
	}
	c = list[nots].of
	for range nots {
		c = approval.Condition{Op: approval.ConditionNot, Kids: []approval.Condition{c}}
	}
	return c, list[nots+1:], true
}

// compares reads what has a word on each side.
func (t *textJob) compares(x *syntax.BinaryTest, dir string) (c approval.Condition, ok bool) {
	left, isx := x.X.(*syntax.Word)
	right, isy := x.Y.(*syntax.Word)
	if !isx || !isy {
		return c, false
	}
	first, ok := t.one(left, dir)
	if op, is := likes[x.Op]; is {
		second, fine := t.pattern(right, false, dir)
		return approval.Condition{Op: op, Words: []approval.Word{first, second}}, ok && fine
	}
	op, is := compares[x.Op]
	second, fine := t.one(right, dir)
	return approval.Condition{Op: op, Words: []approval.Word{first, second}}, is && ok && fine && t.mayCount(first) && t.mayCount(second)
}

// mayCount reports whether a word may be a plain decimal number: a shell evaluates
// any other as arithmetic.
func (t *textJob) mayCount(word approval.Word) bool {
	if len(word) == 1 && word[0].Kind == approval.PartVar && word[0].Form == nil {
		return t.counts(word[0].Text)
	}
	_, ok := approval.Decimal(textOf(word))
	return ok || !literal(word)
}
