//go:build !darwin

package command

// codesign is empty: nothing on this platform checks signatures of programs.
const codesign = ""
