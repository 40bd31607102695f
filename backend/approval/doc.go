// Package approval holds the words of Countersign: what is asked, what it
// would run, what was decided and why. Every other package speaks them; this
// one decides nothing, opens nothing and imports nothing of ours.
//
// The string types are closed: decoding a value that is not listed is an
// error, so that a word nobody knows can never mean "allowed". Their zero
// value stands for "not said" and is never a decision.
package approval
