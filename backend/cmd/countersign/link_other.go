//go:build !darwin

package main

// forwards tells that OpenClaw's node host can ask an app here.
const forwards = false
