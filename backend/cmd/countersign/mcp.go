package main

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/countersign-app/countersign/backend/agents/mcp"
	"github.com/countersign-app/countersign/backend/host"
)

type mcpCommands struct {
	Serve mcpServeCommand `cmd:"" default:"withargs" help:"Offer MCP clients tools that run commands here, each judged and asked about first."`
	Proxy mcpProxyCommand `cmd:"" help:"Stand between an MCP client and any MCP server, and judge each call."`
}

// mcpServeCommand is the MCP server, for one client at the standard streams or
// for several over HTTP.
type mcpServeCommand struct {
	Agent       string   `help:"Agent id of all clients (default: mcp- and the name that the client gives)." placeholder:"ID"`
	Workdir     string   `help:"Folder for commands that name none (default: this one)." placeholder:"DIR"`
	HTTP        string   `name:"http" help:"Serve over HTTP at this loopback address, under /mcp." placeholder:"127.0.0.1:PORT"`
	TokenFile   string   `help:"File with the token that clients must bring over HTTP (default: a new one is written to mcp-token in the state folder)." placeholder:"FILE"`
	AllowOrigin []string `help:"Let web pages of this origin of this machine in, as http://localhost:PORT; may be repeated." placeholder:"ORIGIN" sep:"none"`
}

func (c *mcpServeCommand) Run(p *program) error {
	if err := c.check(); err != nil {
		return exit{exitUsage, err.Error()}
	}
	dir, err := filepath.Abs(c.Workdir) // the current one without it
	if err != nil {
		return err
	}
	log := p.log()
	opt := mcp.Options{
		Road:  host.NewRoad(host.RoadOptions{State: p.state, Home: p.home, Log: log}),
		Agent: c.Agent, Dir: dir, Version: version, Log: log,
	}
	defer opt.Road.Close()
	if c.HTTP == "" {
		return mcp.Stdio(p.ctx, opt, os.Stdin, os.Stdout)
	}
	l, err := mcp.Listen(c.HTTP)
	if err != nil {
		return exit{exitUsage, err.Error()}
	}
	defer l.Close()
	token, file, err := c.token(p)
	if err != nil {
		return err
	}
	log.Info("the MCP server listens", "url", "http://"+l.Addr().String()+mcp.Path, "token", file)
	return mcp.HTTP(p.ctx, opt, mcp.Door{Token: token, Origins: c.AllowOrigin}, l)
}

// check refuses flags that mean nothing together, and origins of elsewhere.
func (c *mcpServeCommand) check() error {
	if c.HTTP == "" && (c.TokenFile != "" || len(c.AllowOrigin) > 0) {
		return errors.New("--token-file and --allow-origin need --http")
	}
	for _, origin := range c.AllowOrigin {
		if err := mcp.CheckOrigin(origin); err != nil {
			return err
		}
	}
	return nil
}

// minToken is how short a token may be that a person made, in characters.
const minToken = 32

// token is the secret of the clients, and the file that it is in.
func (c *mcpServeCommand) token(p *program) (token, file string, err error) {
	if c.TokenFile != "" {
		token, err := secret(c.TokenFile)
		if err == nil && (len(token) < minToken || len(strings.Fields(token)) != 1) {
			err = fmt.Errorf("%s must hold one word of at least %d characters: make one with `openssl rand -hex 32`", c.TokenFile, minToken)
		}
		return token, c.TokenFile, err
	}
	var random [32]byte
	rand.Read(random[:]) // never fails
	token, file = hex.EncodeToString(random[:]), p.state.MCPToken()
	return token, file, p.keep(file, token)
}
