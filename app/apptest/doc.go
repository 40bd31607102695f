// Package apptest looks at the real app from outside: at the window as a
// screen reader does, through the accessible tree, and at the status item as a
// desktop's panel does. What it cannot find, nobody who needs that tree can.
// Only tests and the benchmark import it.
package apptest
