//go:build !linux && !darwin

package proxy

import (
	"os"
	"os/exec"
)

// Without groups, what a server started is left to end by itself when its input
// does.

func ownGroup(*exec.Cmd) {}

func tell(p *os.Process) { _ = p.Kill() }

func kill(p *os.Process) { _ = p.Kill() }

func exitCode(s *os.ProcessState) int { return s.ExitCode() }
