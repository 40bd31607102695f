// Package descriptors says how many files a host may have open and for what, and
// keeps what this process has open from the programs that it starts. These get their input and output, and what is handed to them by
// name; neither what whoever started this process left open, nor what a
// library opens without saying that it is its own.
package descriptors

// Keep marks every open descriptor beyond the standard three, so that a program
// that starts from now on does not have it. What is opened later needs another
// call: it is cheap enough for one before each start.
func Keep() error { return keep() }
