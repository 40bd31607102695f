package main

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/gateway"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/link"
	"github.com/countersign-app/countersign/backend/node"
	"github.com/countersign-app/countersign/backend/paths"
	"github.com/countersign-app/countersign/backend/store"
)

type gatewayCommands struct {
	Run       gatewayRun       `cmd:"" help:"Take nodes and agents in, and lead commands to where they belong."`
	Install   gatewayInstall   `cmd:"" help:"Have the gateway run whenever you are logged in."`
	Uninstall gatewayUninstall `cmd:"" help:"End the installed gateway and remove it."`
	Start     gatewayStart     `cmd:"" help:"Start the installed gateway."`
	Stop      gatewayStop      `cmd:"" help:"Stop the installed gateway."`
	Status    gatewayStatus    `cmd:"" help:"Tell what is installed, whether it answers, and which nodes it knows."`
	Call      gatewayCall      `cmd:"" help:"Call a method of a gateway, such as node.list, and print what it returns."`
	Policy    gatewayPolicy    `cmd:"" help:"Sign a policy for the nodes, or show the one that is signed."`
	Pending   gatewayPending   `cmd:"" help:"Devices, and commands of nodes, that wait to be approved."`
	Approve   gatewayApprove   `cmd:"" help:"Let in what waits."`
	Reject    gatewayReject    `cmd:"" help:"Turn away what waits."`
}

// gatewayFlags say where a gateway listens.
type gatewayFlags struct {
	Listen    string `help:"Address to listen at." default:"127.0.0.1:18789" placeholder:"HOST:PORT"`
	TLSCert   string `help:"Certificate, in PEM." placeholder:"FILE" name:"tls-cert"`
	TLSKey    string `help:"Key of the certificate, in PEM." placeholder:"FILE" name:"tls-key"`
	Plaintext bool   `help:"Listen for other machines without TLS, for everybody on the way to read."`
	// Name keeps web pages out whose name leads here.
	Name []string `help:"Name by which others call this gateway, beside its addresses, the name of this machine and those of the certificate; may be repeated." placeholder:"HOST"`
}

type gatewayRun struct{ gatewayFlags }

func (c *gatewayRun) Run(p *program) error {
	log := p.log()
	if err := c.check(); err != nil {
		return exit{exitUsage, err.Error()}
	}
	token, err := gatewayToken(p, true)
	if err != nil {
		return err
	}
	names, secure, err := c.identity()
	if err != nil {
		return err
	}
	g, err := gateway.New(gateway.Options{
		State: p.state, Token: token, Names: names, Version: version, Log: log,
		Road:          host.RoadOptions{State: p.state, Home: p.home, Log: log, Own: p.ownHost(log)},
		DockerSockets: paths.DockerSockets(os.Getenv, p.home), Private: paths.SessionSockets(os.Getenv),
	})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("cannot listen: %w", err)
	}
	if secure != nil {
		l = tls.NewListener(l, secure)
	}
	log.Info("the gateway listens", "address", l.Addr().String(), "token", p.state.GatewayToken())
	return g.Run(p.ctx, l)
}

// identity is by which names the gateway is called, and how it proves them, nil
// without TLS.
func (c *gatewayFlags) identity() (names []string, secure *tls.Config, err error) {
	names = slices.Clone(c.Name)
	if name, _, err := net.SplitHostPort(c.Listen); err == nil {
		names = append(names, name)
	}
	if name, err := os.Hostname(); err == nil {
		names = append(names, name)
	}
	if c.TLSCert == "" {
		return names, nil, nil
	}
	pair, err := tls.LoadX509KeyPair(c.TLSCert, c.TLSKey)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot read the certificate: %w", err)
	}
	return append(names, pair.Leaf.DNSNames...), &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}, nil
}

// check refuses what would show the token to the network.
func (c *gatewayFlags) check() error {
	name, _, err := net.SplitHostPort(c.Listen)
	if err != nil {
		return errors.New("--listen needs HOST:PORT")
	}
	ip := net.ParseIP(name)
	switch {
	case (c.TLSCert == "") != (c.TLSKey == ""):
		return errors.New("--tls-cert and --tls-key belong together")
	case c.TLSCert != "" || c.Plaintext || name == "localhost" || ip != nil && ip.IsLoopback():
		return nil
	}
	return errors.New("--listen for other machines shows the token to the network: give --tls-cert and --tls-key, or --plaintext")
}

// log is where a service writes what happens.
func (p *program) log() *slog.Logger {
	if p.json {
		return slog.New(slog.NewJSONHandler(display.JSONWriter{To: p.stderr}, nil))
	}
	return slog.New(slog.NewTextHandler(p.stderr, nil))
}

// tokenVariables may hold the token of a gateway.
var tokenVariables = []string{"COUNTERSIGN_GATEWAY_TOKEN", "OPENCLAW_GATEWAY_TOKEN"}

// gatewayToken is the token of the gateway: from the environment, else from
// the state folder, where it is made if that is wanted.
func gatewayToken(p *program, make bool) (string, error) {
	for _, name := range tokenVariables {
		if token := os.Getenv(name); token != "" {
			return token, nil
		}
	}
	token, err := secret(p.state.GatewayToken())
	switch {
	case errors.Is(err, fs.ErrNotExist) && make:
		token = rand.Text() + rand.Text()
		return token, p.keep(p.state.GatewayToken(), token)
	case errors.Is(err, fs.ErrNotExist):
		return "", fmt.Errorf("there is no token of a gateway: set $%s, or start one here with \"countersign gateway run\"", tokenVariables[0])
	}
	return token, err
}

// secret reads a file that holds one, and that nobody else may read.
func secret(path string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o077 != 0 {
		return "", fmt.Errorf("%s must be a plain file that nobody else can read: run chmod 600, or move it away", path)
	}
	text, err := os.ReadFile(path)
	return strings.TrimSpace(string(text)), err
}

// keep writes a secret to the state folder.
func (p *program) keep(path, text string) error {
	if err := os.MkdirAll(p.state.Dir, 0o700); err != nil {
		return err
	}
	return store.Replace(path, []byte(text+"\n"))
}

// gatewayAt says which gateway is called.
type gatewayAt struct {
	Gateway   string `help:"Address of the gateway." default:"ws://127.0.0.1:18789" placeholder:"URL"`
	Plaintext bool   `help:"Let the token travel to another machine over ws://, for everybody on the way to read."`
}

// call calls one method as an operator.
func (c *gatewayAt) call(p *program, method string, params, out any) error {
	token, err := gatewayToken(p, false)
	if err != nil {
		return err
	}
	device, err := node.Identity(p.state.Node())
	if err != nil {
		return err
	}
	conn, _, err := link.Dial(p.ctx, link.Options{URL: c.Gateway, Plaintext: c.Plaintext, Device: device, Connect: link.Connect{
		Client: link.Client{ID: "cli", Version: version, Platform: "cli", Mode: "cli"}, Role: link.RoleOperator,
		Scopes: []string{"operator.admin", "operator.approvals", "operator.pairing", "operator.read", "operator.write"}, Caps: []string{}, Auth: &link.Auth{Token: token},
	}})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	go conn.Serve(ctx, nobody{}) // which catches its own panics
	defer conn.Close("done")
	return conn.Call(ctx, method, params, out)
}

// nobody takes what a gateway sends unasked.
type nobody struct{}

func (nobody) Request(link.Request) {}
func (nobody) Event(link.Event)     {}

type gatewayCall struct {
	gatewayAt
	Method string `arg:"" help:"Method, such as node.list."`
	Params string `help:"Parameters, as JSON." default:"{}" placeholder:"JSON"`
}

func (c *gatewayCall) Run(p *program) error {
	if !json.Valid([]byte(c.Params)) {
		return exit{exitUsage, "--params needs JSON"}
	}
	var out json.RawMessage
	if err := c.call(p, c.Method, json.RawMessage(c.Params), &out); err != nil {
		return err
	}
	return p.print(out, func(w io.Writer) {
		var v any
		_ = json.Unmarshal(out, &v) // it came as JSON
		text, _ := json.MarshalIndent(v, "", "  ")
		for line := range strings.Lines(string(text)) {
			fmt.Fprintln(w, display.Escape(strings.TrimSuffix(line, "\n")))
		}
	})
}

type gatewayPending struct{ gatewayAt }

// pairingStages are the methods of the two stages of pairing.
var pairingStages = []string{"device.pair", "node.pair"}

// waitingDevice is what waits to be approved.
type waitingDevice struct {
	RequestID string   `json:"requestId"`
	Stage     string   `json:"stage"`
	DeviceID  string   `json:"deviceId"`
	Role      string   `json:"role"`
	Name      string   `json:"displayName"`
	Platform  string   `json:"platform"`
	RemoteIP  string   `json:"remoteIp"`
	Scopes    []string `json:"scopes,omitempty"`
	Commands  []string `json:"commands,omitempty"`
}

func (c *gatewayAt) waiting(p *program) ([]waitingDevice, error) {
	list := []waitingDevice{}
	for _, stage := range pairingStages {
		var got struct{ Pending []waitingDevice }
		if err := c.call(p, stage+".list", struct{}{}, &got); err != nil {
			return nil, err
		}
		list = append(list, got.Pending...)
	}
	return list, nil
}

func (c *gatewayPending) Run(p *program) error {
	list, err := c.waiting(p)
	if err != nil {
		return err
	}
	return p.print(list, func(w io.Writer) {
		for _, d := range list {
			fmt.Fprintf(w, "%s  %s %q (%s, %s, device %.12s) wants %s\n", d.RequestID, d.Role, d.Name, d.Platform, d.RemoteIP, d.DeviceID,
				strings.Join(append(append([]string{}, d.Scopes...), d.Commands...), " "))
		}
		if len(list) == 0 {
			fmt.Fprintln(w, "nothing waits")
		}
	})
}

type gatewayApprove struct {
	gatewayAt
	Request string `arg:"" help:"Id of the request, or its beginning."`
}

func (c *gatewayApprove) Run(p *program) error { return c.answer(p, c.Request, ".approve") }

type gatewayReject struct {
	gatewayAt
	Request string `arg:"" help:"Id of the request, or its beginning."`
}

func (c *gatewayReject) Run(p *program) error { return c.answer(p, c.Request, ".reject") }

// answer answers the one request whose id begins like this.
func (c *gatewayAt) answer(p *program, id, how string) error {
	list, err := c.waiting(p)
	if err != nil {
		return err
	}
	var found []waitingDevice
	for _, d := range list {
		if strings.HasPrefix(d.RequestID, id) {
			found = append(found, d)
		}
	}
	if len(found) != 1 {
		return fmt.Errorf("%d requests begin with %q: see \"countersign gateway pending\"", len(found), id)
	}
	method := "device.pair"
	if found[0].Stage == "surface" {
		method = "node.pair"
	}
	var out json.RawMessage
	if err := c.call(p, method+how, map[string]string{"requestId": found[0].RequestID}, &out); err != nil {
		return err
	}
	return p.print(out, func(w io.Writer) {
		fmt.Fprintf(w, "%s: %s %q\n", strings.TrimPrefix(how, "."), found[0].Role, found[0].Name)
	})
}
