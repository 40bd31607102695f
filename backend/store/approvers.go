package store

import (
	"errors"
	"fmt"
	"slices"

	"github.com/countersign-app/countersign/backend/approval"
)

// Bounds of the list of approvers.
const (
	maxApprovers = 8
	maxWait      = 24 * 60 * 60 // seconds of one of them
)

// approversOf reads "approvers": whom a question goes to, in their order.
func approversOf(extra Extra) (list []approval.Approver, err error) {
	text, ok := extra["approvers"]
	if !ok {
		return nil, nil
	}
	if err := strictly(text, &list); err != nil {
		return nil, err
	}
	if len(list) > maxApprovers {
		return nil, fmt.Errorf("there are more than %d approvers", maxApprovers)
	}
	for i, a := range list {
		switch {
		case a.Seconds < 1 || a.Seconds > maxWait:
			return nil, fmt.Errorf("an approver needs seconds from 1 to %d", maxWait)
		case a.Who == approval.ApproverPerson && a.URL == "":
		case a.Who == approval.ApproverGateway && a.Gateway() != "":
		case a.Who == approval.ApproverGateway:
			return nil, errors.New("an approver at a gateway needs its url, ws://HOST:PORT or wss://HOST:PORT")
		default:
			return nil, errors.New("an approver is a person without a url, or a gateway")
		}
		if slices.Contains(list[:i], a) {
			return nil, errors.New("an approver is there twice")
		}
	}
	return list, nil
}
