package main

import (
	"errors"
	"net/url"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-app/countersign/backend/agents/proxy"
	"github.com/countersign-app/countersign/backend/host"
)

type mcpProxyCommand struct {
	URL       string        `name:"url" help:"Stand in front of the server at this address instead (streamable HTTP)." placeholder:"URL"`
	TokenEnv  string        `name:"token-env" help:"Variable that holds the bearer token for --url. Other programs can read the words of a command, so the token itself is not taken." placeholder:"NAME"`
	Plaintext bool          `help:"Let what is sent to --url travel to another machine over http://, for everybody on the way to read."`
	Name      string        `help:"What policy calls the server (default: made of the words that start it, never what the server says)." placeholder:"NAME"`
	Agent     string        `help:"Agent id." default:"main" placeholder:"ID"`
	Session   string        `help:"Session key (default: one of its own for each start)." placeholder:"KEY"`
	Wait      time.Duration `help:"How long a question may wait for its answer." default:"10m" placeholder:"D"`

	Server []string `arg:"" optional:"" passthrough:"partial" help:"The MCP server and its words, after --."`
}

func (c *mcpProxyCommand) Run(p *program) error {
	words := c.Server
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	at, err := c.check(words)
	if err != nil {
		return exit{exitUsage, err.Error()}
	}
	opt, err := c.options(p)
	if err != nil {
		return err
	}
	// A client that is gone, or its terminal, must not end us before the server.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(p.ctx, syscall.SIGHUP)
	defer stop()
	var server proxy.Server
	if at != nil {
		opt.Name = proxy.NameOfURL(at)
		if server, err = proxy.Connect(at, os.Getenv(c.TokenEnv), c.Plaintext); err != nil {
			return exit{exitUsage, err.Error()}
		}
	} else {
		opt.Name = proxy.NameOf(words)
		if server, err = proxy.StartAlone(words, os.Stderr); err != nil {
			return err
		}
	}
	if c.Name != "" {
		opt.Name = c.Name
	}
	road := host.NewRoad(host.RoadOptions{State: p.state, Home: p.home, Log: opt.Log})
	defer road.Close()
	opt.Host = road
	err = proxy.Run(ctx, opt, server)
	if ended := (*proxy.Ended)(nil); errors.As(err, &ended) {
		return exit{ended.Code, ""} // it was logged
	}
	return err
}

// check refuses flags that do not fit together, and returns the address of the
// server if it has one.
func (c *mcpProxyCommand) check(words []string) (at *url.URL, err error) {
	switch {
	case c.Wait <= 0:
		return nil, errors.New("--wait must be positive")
	case c.URL == "" && len(words) == 0:
		return nil, errors.New("there is no server: put the words that start it after --, or name its address with --url")
	case c.URL != "" && len(words) > 0:
		return nil, errors.New("a server is started or has an address, not both: leave out --url or the words after --")
	case c.URL == "" && (c.TokenEnv != "" || c.Plaintext):
		return nil, errors.New("--token-env and --plaintext need --url")
	case c.TokenEnv != "" && os.Getenv(c.TokenEnv) == "":
		return nil, errors.New("the variable of --token-env is not set")
	case c.Name != "":
		if err := proxy.CheckName(c.Name); err != nil {
			return nil, err
		}
	}
	if c.URL == "" {
		return nil, nil
	}
	if at, err = url.Parse(c.URL); err != nil {
		return nil, errors.New("--url is no address") // the error repeats what may be a password
	}
	return at, nil
}

// options says for whom the proxy works: for what its flags name, in this folder.
// What a client tells about itself does not count.
func (c *mcpProxyCommand) options(p *program) (proxy.Options, error) {
	cwd, err := os.Getwd()
	if err != nil {
		return proxy.Options{}, err
	}
	session := c.Session
	if session == "" {
		session = "proxy-" + uuid.NewString()
	}
	// A host ends a question a second before its caller's deadline.
	return proxy.Options{
		AgentID: c.Agent, SessionKey: session, Cwd: cwd, Wait: c.Wait + time.Second, In: p.stdin, Out: p.stdout, Log: p.log(),
	}, nil
}
