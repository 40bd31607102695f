// Package config reads where and how commands run by default: tools.exec and
// agents.list[].tools.exec of a gateway's configuration.
//
// It reads one file and writes nothing. What it says can only tighten the
// policy of the host that runs a command; a value that is not understood is
// an error and never a guess.
package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

const (
	// DefaultTimeout is how long a command may run if nothing is said.
	DefaultTimeout = 30 * time.Minute
	// MaxTimeout is the longest time that can be said.
	MaxTimeout = 24 * time.Hour
	// maxSize is the size in bytes above which a file is refused.
	maxSize = 8 << 20
)

// Config is what a file says. The zero value says nothing.
type Config struct {
	// Exec is tools.exec, which holds for every agent.
	Exec Layer
	// Agents are the tools.exec of agents.list, by id.
	Agents map[string]Layer
}

// Layer is one tools.exec. A zero value, and nil for a list, means that the
// next layer decides.
type Layer struct {
	Host               approval.Host
	Hosts              []approval.Host
	Security           approval.Security
	Ask                approval.Ask
	Node               string
	Timeout            time.Duration
	SafeBins           []string
	SafeBinTrustedDirs []string
	PathPrepend        []string
	// Sandbox is nil where none is configured.
	Sandbox *Sandbox
}

// Engine makes sandboxes.
type Engine string

// The engines.
const (
	Docker     Engine = "docker"
	Bubblewrap Engine = "bubblewrap"
)

// UnmarshalText refuses engines that nobody knows.
func (e *Engine) UnmarshalText(text []byte) error {
	switch *e = Engine(text); *e {
	case Docker, Bubblewrap:
		return nil
	}
	return fmt.Errorf("must be %q or %q, not %q", Docker, Bubblewrap, text)
}

// Sandbox is the tools.exec.sandbox of an agent, or of every one. It is taken
// as a whole: no part of it comes from another layer.
type Sandbox struct {
	Engine Engine
	// Image is what a container is made of, and Socket where the Docker engine
	// listens; "" for where it usually does.
	Image, Socket string
	// Workspace is the one folder that can be written to, under the same path.
	// Mounts are folders that can be read.
	Workspace string
	Mounts    []string
	// Network lets it reach others.
	Network bool
	// Memory is in bytes.
	Memory    int64
	CPUs      float64
	Processes int64
}

// Sandboxes have this if nothing is said.
const (
	defaultImage     = "debian:stable-slim"
	defaultMemory    = 2 << 30
	defaultCPUs      = 2
	defaultProcesses = 512
)

// Exec is what holds for one agent. Origins tells for each field by its name
// in the file, such as "security", where its value comes from; a field that
// is missing there is built in.
type Exec struct {
	Layer
	Origins map[string]string
}

// Load reads a file. One that is not there says nothing.
func Load(path string) (Config, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // what is put in its place cannot hang us
	if errors.Is(err, fs.ErrNotExist) {
		return Config{}, nil
	}
	if err != nil {
		return Config{}, fmt.Errorf("cannot read the configuration: %w", err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return Config{}, fmt.Errorf("cannot read the configuration: %s is no plain file", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxSize+1))
	if err != nil {
		return Config{}, fmt.Errorf("cannot read the configuration: %w", err)
	}
	return Parse(filepath.Base(path), text)
}

// For resolves each field for an agent: what its own tools.exec says, else
// what holds for every agent, else what is built in.
func (c Config) For(agentID string) Exec {
	layers := []layer{{"tools.exec", c.Exec}}
	if own, ok := c.Agents[agentID]; ok {
		layers = []layer{{fmt.Sprintf("agents.list[%s].tools.exec", agentID), own}, layers[0]}
	}
	e := Exec{Origins: map[string]string{}}
	builtIn := Layer{Host: approval.HostSandbox, Security: approval.SecurityDeny, Ask: approval.AskOnMiss, Timeout: DefaultTimeout}
	for _, l := range append(layers, layer{"", builtIn}) {
		said := l.said
		take(e.Origins, l.name, "host", &e.Host, said.Host)
		take(e.Origins, l.name, "security", &e.Security, said.Security)
		take(e.Origins, l.name, "ask", &e.Ask, said.Ask)
		take(e.Origins, l.name, "node", &e.Node, said.Node)
		take(e.Origins, l.name, "timeoutSeconds", &e.Timeout, said.Timeout)
		take(e.Origins, l.name, "sandbox", &e.Sandbox, said.Sandbox)
		takeList(e.Origins, l.name, "hosts", &e.Hosts, said.Hosts)
		takeList(e.Origins, l.name, "safeBins", &e.SafeBins, said.SafeBins)
		takeList(e.Origins, l.name, "safeBinTrustedDirs", &e.SafeBinTrustedDirs, said.SafeBinTrustedDirs)
		takeList(e.Origins, l.name, "pathPrepend", &e.PathPrepend, said.PathPrepend)
	}
	return e
}

// Workspaces are those of all sandboxes.
func (c Config) Workspaces() (list []string) {
	for _, s := range c.sandboxes() {
		list = append(list, s.Workspace)
	}
	return list
}

// Engines are the sockets of Docker engines that are named.
func (c Config) Engines() (list []string) {
	for _, s := range c.sandboxes() {
		if s.Socket != "" {
			list = append(list, s.Socket)
		}
	}
	return list
}

func (c Config) sandboxes() (list []*Sandbox) {
	for _, l := range append(slices.Collect(maps.Values(c.Agents)), c.Exec) {
		if l.Sandbox != nil {
			list = append(list, l.Sandbox)
		}
	}
	return list
}

// layer is a place in the file; without a name it is what is built in.
type layer struct {
	name string
	said Layer
}

func take[T comparable](origins map[string]string, place, field string, to *T, said T) {
	var unset T
	if *to == unset && said != unset {
		*to = said
		note(origins, place, field)
	}
}

func takeList[T any](origins map[string]string, place, field string, to *[]T, said []T) {
	if *to == nil && said != nil {
		*to = said
		note(origins, place, field)
	}
}

func note(origins map[string]string, place, field string) {
	if place != "" {
		origins[field] = place + "." + field
	}
}
