//go:build !unix

package main

import "os"

func foreground(*os.File) bool { return false }

func signalNumber(string) int { return 0 }

func leads() bool { return false }

func detach() error { return nil }
