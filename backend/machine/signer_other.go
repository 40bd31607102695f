//go:build !darwin

package machine

// codesign is empty: nothing on this platform checks signatures of programs.
const codesign = ""
