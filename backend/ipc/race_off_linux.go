//go:build !race

package ipc

func ordered() {}
