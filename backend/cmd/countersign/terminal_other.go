//go:build !unix

package main

import "os"

func foreground(*os.File) bool { return false }

func leads() bool { return false }

func detach() error { return nil }
