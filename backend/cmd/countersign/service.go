package main

import (
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/node"
	"github.com/countersign-app/countersign/backend/service"
)

// services is the service manager of this person.
func (p *program) services() service.Manager { return service.For(p.home, os.Getenv) }

// install installs one of our services. The words that follow say how it runs;
// what is secret is in a file.
func (p *program) install(name, about string, words ...string) error {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	if err != nil {
		return err
	}
	path, err := p.services().Install(service.Unit{
		Name: name, About: about, Program: self, Args: append([]string{"--json", "--state-dir", p.state.Dir, name, "run"}, words...),
	})
	if err != nil && path == "" {
		return err
	}
	if err != nil {
		return fmt.Errorf("%s is written, but the service does not run: %w", path, err)
	}
	return p.print(map[string]string{"path": path}, func(w io.Writer) {
		fmt.Fprintf(w, "the %s service is installed and started: %s\n", name, path)
	})
}

type nodeInstall struct{ nodeFlags }

func (c *nodeInstall) Run(p *program) error {
	at, err := url.Parse(c.Gateway)
	if err != nil || at.Host == "" || at.Scheme != "ws" && at.Scheme != "wss" || at.User != nil || at.RawQuery != "" {
		return exit{exitUsage, "--gateway needs ws://HOST:PORT or wss://HOST:PORT"}
	}
	if c.Token != "" {
		if err := p.keep(p.state.NodeToken(), c.Token); err != nil {
			return err
		}
	}
	words := []string{"--gateway", c.Gateway, "--exec-host", c.ExecHost}
	if c.DisplayName != "" {
		words = append(words, "--display-name", c.DisplayName)
	}
	if c.Plaintext {
		words = append(words, "--plaintext")
	}
	return p.install("node", "Countersign node service", words...)
}

type gatewayInstall struct{ gatewayFlags }

func (c *gatewayInstall) Run(p *program) error {
	if err := c.check(); err != nil {
		return exit{exitUsage, err.Error()}
	}
	// It is made here, so that it is there for whoever calls the gateway next.
	if _, err := secret(p.state.GatewayToken()); err != nil {
		token, err := gatewayToken(p, true)
		if err == nil {
			err = p.keep(p.state.GatewayToken(), token) // that of the environment is not in a service's
		}
		if err != nil {
			return err
		}
	}
	words := []string{"--listen", c.Listen}
	for flag, file := range map[string]string{"--tls-cert": c.TLSCert, "--tls-key": c.TLSKey} {
		if file == "" {
			continue
		}
		path, err := filepath.Abs(file)
		if err != nil {
			return err
		}
		words = append(words, flag, path)
	}
	if c.Plaintext {
		words = append(words, "--plaintext")
	}
	for _, name := range c.Name {
		words = append(words, "--name", name)
	}
	return p.install("gateway", "Countersign gateway", words...)
}

type (
	nodeUninstall    struct{}
	nodeStart        struct{}
	nodeStop         struct{}
	gatewayUninstall struct{}
	gatewayStart     struct{}
	gatewayStop      struct{}
)

func (nodeUninstall) Run(p *program) error    { return p.control("node", service.Manager.Uninstall) }
func (nodeStart) Run(p *program) error        { return p.control("node", service.Manager.Start) }
func (nodeStop) Run(p *program) error         { return p.control("node", service.Manager.Stop) }
func (gatewayUninstall) Run(p *program) error { return p.control("gateway", service.Manager.Uninstall) }
func (gatewayStart) Run(p *program) error     { return p.control("gateway", service.Manager.Start) }
func (gatewayStop) Run(p *program) error      { return p.control("gateway", service.Manager.Stop) }

func (p *program) control(name string, do func(service.Manager, string) error) error {
	if err := do(p.services(), name); err != nil {
		return err
	}
	return p.done()
}

type nodeStatus struct{}

// nodeState is what node status prints.
type nodeState struct {
	Service  service.Status `json:"service"`
	Node     node.Status    `json:"node"`
	DeviceID string         `json:"deviceId"`
	// Paired tells that the gateway let this device in, Approved that it called a
	// command in this connection: it calls only what was approved there.
	Connected bool  `json:"connected"`
	Paired    bool  `json:"paired"`
	Approved  bool  `json:"approved"`
	Host      check `json:"host"`
}

func (nodeStatus) Run(p *program) error {
	d, err := node.Identity(p.state.Node())
	if err != nil {
		return err
	}
	s := nodeState{Service: p.services().Status("node"), DeviceID: d.ID(), Host: p.checkHost()[0]}
	if s.Node, err = node.ReadStatus(p.state.NodeStatus()); err != nil {
		return err
	}
	s.Connected, s.Approved = s.Node.State == node.Connected, s.Node.Called != 0
	s.Paired = s.Connected || s.Node.Gateway != "" && s.Node.State == node.Away && joinedBefore(p, s.Node.Gateway)
	return p.print(s, func(w io.Writer) {
		fmt.Fprintf(w, "service    %s\n", inWords(s.Service))
		fmt.Fprintf(w, "device     %s\n", s.DeviceID)
		fmt.Fprintf(w, "gateway    %s\n", s.connection())
		fmt.Fprintf(w, "commands   %s\n", s.commands())
		fmt.Fprintf(w, "host       %s\n", display.Escape(s.Host.Say))
	})
}

func joinedBefore(p *program, gateway string) bool {
	at, err := url.Parse(gateway)
	if err != nil {
		return false
	}
	for _, known := range node.Gateways(p.state.Node()) {
		if known == at.Host {
			return true
		}
	}
	return false
}

func (s nodeState) connection() string {
	since := time.UnixMilli(s.Node.Since).Format(time.DateTime)
	switch s.Node.State {
	case node.Connected:
		return fmt.Sprintf("%s, connected since %s", display.Escape(s.Node.Gateway), since)
	case node.Unpaired:
		return fmt.Sprintf("%s lets nobody in that it does not know: approve this device there", display.Escape(s.Node.Gateway))
	case node.Away:
		return fmt.Sprintf("%s, not connected since %s: %s", display.Escape(s.Node.Gateway), since, s.Node.Error)
	}
	return "no node service runs: start it with \"countersign node run\" or \"node install\""
}

func (s nodeState) commands() string {
	switch {
	case s.Approved:
		return "approved: the gateway called one at " + time.UnixMilli(s.Node.Called).Format(time.DateTime)
	case s.Connected:
		return "none was called yet: if the gateway says that this node offers none, approve them there"
	}
	return "none can be called"
}

func inWords(s service.Status) string {
	switch {
	case !s.Installed:
		return "not installed"
	case s.Problem != "":
		return "installed, and its state cannot be told: " + display.Escape(s.Problem)
	case s.Running:
		return fmt.Sprintf("runs as process %d (%s)", s.PID, display.Escape(s.Path))
	}
	return "installed, and does not run"
}

type gatewayStatus struct{ gatewayAt }

// gatewayState is what gateway status prints.
type gatewayState struct {
	Service service.Status  `json:"service"`
	Address string          `json:"address"`
	Answers bool            `json:"answers"`
	Problem string          `json:"problem,omitempty"`
	Waiting []waitingDevice `json:"pending"`
	Nodes   []knownNode     `json:"nodes"`
}

type knownNode struct {
	ID        string   `json:"nodeId"`
	Name      string   `json:"displayName"`
	Connected bool     `json:"connected"`
	Commands  []string `json:"commands"`
}

func (c *gatewayStatus) Run(p *program) error {
	s := gatewayState{Service: p.services().Status("gateway"), Address: c.Gateway, Waiting: []waitingDevice{}, Nodes: []knownNode{}}
	var list struct{ Nodes []knownNode }
	err := c.call(p, "node.list", struct{}{}, &list)
	if err == nil {
		s.Waiting, err = c.waiting(p)
	}
	if s.Answers = err == nil; s.Answers {
		s.Nodes = list.Nodes
	} else {
		s.Problem = err.Error()
	}
	printed := p.print(s, func(w io.Writer) {
		fmt.Fprintf(w, "service    %s\n", inWords(s.Service))
		if !s.Answers {
			fmt.Fprintf(w, "gateway    %s does not answer: %s\n", s.Address, display.Escape(s.Problem))
			return
		}
		fmt.Fprintf(w, "gateway    %s answers; %d wait to be approved\n", s.Address, len(s.Waiting))
		for _, n := range s.Nodes {
			state := "away"
			if n.Connected {
				state = "connected"
			}
			fmt.Fprintf(w, "node       %s (%.12s) %s, %d commands\n", display.Escape(n.Name), n.ID, state, len(n.Commands))
		}
	})
	if printed == nil && !s.Answers {
		return exit{exitError, ""}
	}
	return printed
}
