package main

import "testing"

// keepTree does nothing: no agent was seen here.
func keepTree(*testing.T, int, string, string) {}
