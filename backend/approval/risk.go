package approval

import "slices"

// Risk says how much is at stake when a request runs. Its values are ordered,
// and one that is unset or unknown counts as high.
type Risk string

const (
	RiskUnset  Risk = ""
	RiskLow    Risk = "low"
	RiskMedium Risk = "medium"
	RiskHigh   Risk = "high"
)

var risks = []Risk{RiskLow, RiskMedium, RiskHigh}

func (r *Risk) UnmarshalText(b []byte) error { return closed(r, "risk", b, risks) }

// High reports whether a yes needs more than one key.
func (r Risk) High() bool { return !slices.Contains(risks, r) || r == RiskHigh }

// HigherRisk returns the higher of two; one that is unset does not count, an
// unknown one counts as high.
func HigherRisk(a, b Risk) Risk { return stricter(a, b, risks, RiskHigh) }

// Weighed is the risk of a request, and what makes it as high as it is. A
// reason without a code is one that nobody is asked for.
type Weighed struct {
	// Score is from 0 to 100: low under 30, high from 60 on.
	Score   int       `json:"score,omitempty"`
	Level   Risk      `json:"level,omitempty"`
	Reasons []Finding `json:"reasons,omitempty"`
}

// Bounds of a score.
const (
	MediumFrom = 30
	HighFrom   = 60
	MostScore  = 100
)

// RiskOf is the word for a score.
func RiskOf(score int) Risk {
	switch {
	case score >= HighFrom:
		return RiskHigh
	case score >= MediumFrom:
		return RiskMedium
	}
	return RiskLow
}
