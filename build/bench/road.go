package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/link"
)

// road is the whole way of an agent's command: gateway, node, host, command
// and back, all ours, on loopback, for an allowed true.
func road(program string) error {
	f, kept, _, end, err := serve(program)
	if err != nil {
		return err
	}
	defer end()
	kept.Close()
	agents, err := newFolder(0)
	if err != nil {
		return err
	}
	defer os.RemoveAll(agents.dir)
	if err := os.WriteFile(agents.state.Gateway(), []byte(`{tools: {exec: {host: "node", security: "full", ask: "off"}}}`), 0o600); err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free
	if err != nil {
		return err
	}
	address := l.Addr().String()
	l.Close()
	const secret = "the-token-of-a-measurement"
	service := func(f *folder, words ...string) (*exec.Cmd, func(), error) {
		cmd := exec.Command(program, append([]string{"--state-dir", f.state.Dir}, words...)...)
		cmd.Env = append(f.environment(), "COUNTERSIGN_GATEWAY_TOKEN="+secret)
		return cmd, func() { _ = cmd.Process.Signal(os.Interrupt); _ = cmd.Wait() }, cmd.Start()
	}
	gateway, stopGateway, err := service(agents, "gateway", "run", "--listen", address)
	if err != nil {
		return err
	}
	defer stopGateway()
	if err := within(5*time.Second, func() error {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
		}
		return err
	}); err != nil {
		return err
	}
	node, stopNode, err := service(f, "node", "run", "--gateway", "ws://"+address, "--exec-host", "app")
	if err != nil {
		return err
	}
	defer stopNode()
	agent, err := operator("ws://"+address, secret)
	if err != nil {
		return err
	}
	defer agent.Close("done")
	if err := within(5*time.Second, func() error { return approve(agent) }); err != nil {
		return err
	}
	runAs := func(id string) error {
		var got struct{ Success bool }
		err := agent.Call(context.Background(), "exec.run", map[string]any{"command": []string{"true"}, "workdir": f.dir, "agentId": id}, &got)
		if err == nil && !got.Success {
			err = errors.New("it did not run")
		}
		return err
	}
	true_, err := exec.LookPath("true")
	if err != nil {
		return err
	}
	m, err := median(40, func() error { return exec.Command(true_).Run() }, func() error { return runAs("main") })
	if err != nil {
		return err
	}
	row("road", "allowed true over gateway, node and host, to os/exec", ratio(m[1], m[0]), "≤ 2.0×")
	const flying = 1000
	ends := make(chan error, flying)
	began := time.Now()
	for i := range flying { // of many agents: a host bounds what one of them has running
		go func() { ends <- runAs(fmt.Sprint("agent-", i%50)) }()
	}
	for range flying {
		if err := <-ends; err != nil {
			return fmt.Errorf("of %d commands at once one was lost: %w", flying, err)
		}
	}
	row("road", fmt.Sprintf("%d of them in flight at once, none lost, one takes", flying), micros(time.Since(began)/flying), "none lost")
	agent.Close("done")
	time.Sleep(25 * time.Second) // what ran is cleared away
	before := [2]int{switches(gateway.Process.Pid), switches(node.Process.Pid)}
	time.Sleep(10 * time.Second)
	for i, cmd := range []*exec.Cmd{gateway, node} {
		name := []string{"gateway", "node"}[i]
		row("road", "idle memory (resident) of the "+name+" after that", resident(cmd.Process.Pid), "≤ 25 MB")
		row("road", "wake-ups of the "+name+" in 10 s of idling", fmt.Sprint(switches(cmd.Process.Pid)-before[i]), "ticks only")
	}
	return nil
}

// within tries again until it works.
func within(limit time.Duration, try func() error) (err error) {
	for end := time.Now().Add(limit); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if err = try(); err == nil {
			return nil
		}
	}
	return err
}

// operator joins a gateway with every scope.
func operator(url, token string) (*link.Conn, error) {
	device, err := link.NewDevice()
	if err != nil {
		return nil, err
	}
	conn, _, err := link.Dial(context.Background(), link.Options{URL: url, Device: device, Connect: link.Connect{
		Client: link.Client{ID: "bench", Version: "1", Platform: "bench", Mode: "cli"}, Role: link.RoleOperator,
		Scopes: []string{"operator.admin"}, Caps: []string{}, Auth: &link.Auth{Token: token},
	}})
	if err == nil {
		go conn.Serve(context.Background(), silent{})
	}
	return conn, err
}

type silent struct{}

func (silent) Request(link.Request) {}
func (silent) Event(link.Event)     {}

// approve approves what the node offers.
func approve(agent *link.Conn) error {
	var got struct {
		Pending []struct {
			RequestID string `json:"requestId"`
		}
	}
	if err := agent.Call(context.Background(), "node.pair.list", struct{}{}, &got); err != nil {
		return err
	}
	for _, p := range got.Pending {
		if err := agent.Call(context.Background(), "node.pair.approve", p, nil); err != nil {
			return err
		}
	}
	var nodes json.RawMessage
	if err := agent.Call(context.Background(), "node.list", struct{}{}, &nodes); err != nil {
		return err
	}
	if !strings.Contains(string(nodes), `"system.run"`) || len(got.Pending) == 0 {
		return errors.New("the node has not come")
	}
	return nil
}
