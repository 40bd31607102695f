//go:build !darwin && !linux && !windows

package node

// These are the names that gateways know; they decide which commands a node may
// offer.
const platform, family = "unknown", "unknown"
