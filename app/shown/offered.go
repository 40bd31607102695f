package shown

import "github.com/countersign-app/countersign/backend/approval"

// Offered are the ways to allow from now on what a recorded request ran.
type Offered struct {
	// Problem says why there are none.
	Problem string          `json:"problem,omitempty"`
	Widths  []Width         `json:"widths"`
	Keeps   []approval.Keep `json:"keeps"`
	Replay  []Replayed      `json:"replay"`
	// Replaces is how many leases what is chosen takes the place of.
	Replaces int `json:"replaces"`
}

// NewOffered makes what is shown of these offers.
func NewOffered(offers []approval.Offer, replaces int, problem string, in Person) Offered {
	return Offered{
		Problem: problem, Widths: widths(approval.Judgement{Offers: offers}, in), Keeps: keeps(approval.Prompt{}),
		Replay: []Replayed{}, Replaces: replaces,
	}
}
