package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"time"

	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/ipc"
)

// sign has a program sign a call that the host wants the person for: our own, which
// asks at the terminal, or the one of --signer.
func (p *program) sign(ctx context.Context, method string, params []byte, ask ipc.ConfirmAsk) ([]byte, error) {
	statement, err := host.Statement(p.state.Dir, method, params, ask.Text)
	if err != nil {
		return nil, err
	}
	statement.Nonce = ask.Nonce
	text, err := json.Marshal(statement)
	if err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, signPatience) // who waits for the terminal comes to it then
	defer cancel()
	cmd := exec.CommandContext(ctx, self, "--state-dir", p.state.Dir, "operator", "sign")
	if p.signer != "" {
		cmd = exec.CommandContext(ctx, "/bin/sh", "-c", p.signer)
	}
	var printed bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(text), &printed, p.stderr
	// It has to give the terminal back as it was.
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 2 * time.Second
	err = cmd.Run()
	var ended *exec.ExitError
	if p.signer == "" && !p.json && errors.As(err, &ended) && ended.ExitCode() == exitError {
		return nil, exit{exitError, ""} // it has said why
	}
	if err != nil {
		return nil, exit{exitError, "it was not signed, so nothing was changed"}
	}
	var signature []byte
	if err := json.Unmarshal(printed.Bytes(), &signature); err != nil {
		return nil, fmt.Errorf("%s printed no signature, so nothing was changed", cmd.Path)
	}
	return signature, nil
}
