package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"strings"

	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/node"
)

type nodeCommands struct {
	Run       nodeRun       `cmd:"" help:"Join a gateway and offer it this machine's commands, as far as the policy here lets them run."`
	Install   nodeInstall   `cmd:"" help:"Have the node service run whenever you are logged in."`
	Uninstall nodeUninstall `cmd:"" help:"End the installed node service and remove it."`
	Start     nodeStart     `cmd:"" help:"Start the installed node service."`
	Stop      nodeStop      `cmd:"" help:"Stop the installed node service."`
	Status    nodeStatus    `cmd:"" help:"Tell what is installed, connected, paired, approved and reachable."`
	Identity  nodeIdentity  `cmd:"" help:"Print the device id and public key of this machine."`
}

// nodeFlags say which gateway is joined, and how.
type nodeFlags struct {
	Gateway     string `help:"Address of the gateway, ws://HOST:PORT or wss://HOST:PORT." required:"" placeholder:"URL"`
	Token       string `help:"Token of the gateway. Better in $COUNTERSIGN_GATEWAY_TOKEN: other programs can read the words of a command." env:"COUNTERSIGN_GATEWAY_TOKEN,OPENCLAW_GATEWAY_TOKEN" placeholder:"TOKEN"`
	DisplayName string `help:"Name of this machine at the gateway (default: its host name)." placeholder:"NAME"`
	ExecHost    string `help:"Who runs commands: auto (the app, else this node, which asks nobody) or app (nothing runs without it)." enum:"auto,app" default:"auto"`
	Plaintext   bool   `help:"Let the token travel to another machine over ws://, for everybody on the way to read."`
}

type nodeRun struct{ nodeFlags }

func (c *nodeRun) Run(p *program) error {
	log := p.log()
	if c.Token == "" {
		var err error
		if c.Token, err = secret(p.state.NodeToken()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if c.DisplayName == "" {
		c.DisplayName, _ = os.Hostname()
	}
	opt := node.Options{
		URL: c.Gateway, Token: c.Token, Name: c.DisplayName, Plaintext: c.Plaintext, Version: version, Log: log,
		Road: host.RoadOptions{State: p.state, Home: p.home, Log: log},
	}
	if c.ExecHost == "auto" {
		opt.Road.Own = p.ownHost(log)
	}
	n, err := node.New(opt)
	if err != nil {
		return err
	}
	return n.Run(p.ctx)
}

// ownHost starts an exec host in this process, for when no other answers.
func (p *program) ownHost(log *slog.Logger) func(giveWay func()) (*host.Host, error) {
	return func(giveWay func()) (*host.Host, error) {
		name, shell := host.Person()
		return host.Start(host.Options{
			State: p.state, Home: p.home, User: name, Shell: shell, Environ: withoutToken(os.Environ()),
			Programs: host.Neighbours(), GiveWay: giveWay, Version: version, Log: log,
		})
	}
}

// withoutToken is an environment that a command may see.
func withoutToken(environ []string) (list []string) {
	for _, kv := range environ {
		if !strings.Contains(kv, "_GATEWAY_TOKEN=") {
			list = append(list, kv)
		}
	}
	return list
}

type nodeIdentity struct{}

func (nodeIdentity) Run(p *program) error {
	d, err := node.Identity(p.state.Node())
	if err != nil {
		return err
	}
	return p.print(map[string]string{"deviceId": d.ID(), "publicKey": d.PublicKey()}, func(w io.Writer) {
		fmt.Fprintf(w, "device      %s\npublic key  %s\n", d.ID(), d.PublicKey())
	})
}
