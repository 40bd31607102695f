//go:build linux || darwin

package ipc

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/countersign-app/countersign/backend/fair"
	"github.com/countersign-app/countersign/backend/proc"
)

// flood opens connections, says frames that wait on each of them under names of its
// own making, and returns when all were taken or their connection was closed.
func (k task) flood() error {
	nonceCount.Store(int64(os.Getpid()) << 20) // as no other process of the test has
	for i := range k.Flood {
		nc, err := net.Dial("unix", k.Socket)
		if err != nil {
			return err
		}
		defer nc.Close()
		line := execLine(fmt.Sprintf(`{"command":["wait"],"agentId":"%d-%d"}`, os.Getpid(), i))
		if _, err := io.WriteString(nc, line+"\n"); err != nil {
			return err
		}
		// A second frame is refused at once, and so tells that the first was taken.
		if _, err := io.WriteString(nc, execLine(`{"command":[]}`)+"\n"); err != nil {
			continue
		}
		_, _ = bufio.NewReader(nc).ReadString('\n')
	}
	if err := os.WriteFile(filepath.Join(k.Dir, fmt.Sprint("flood", os.Getpid())), nil, 0o600); err != nil {
		return err
	}
	waitFile(filepath.Join(k.Dir, "end"))
	return nil
}

// TestFamilyLeavesPlaces lets an agent and its children take all the places that
// they get, under many names: the frame of another process is still served, and its
// questions are told apart by the family.
func TestFamilyLeavesPlaces(t *testing.T) {
	for name, few := range map[string]func(*Server){
		"frames":      func(s *Server) { s.waiting = fair.New(16) },
		"connections": func(s *Server) { s.busy = fair.New(16); s.maxConns = 2 * reservedConns },
	} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			waits := map[string]int{} // by family
			s := start(t, handler{exec: func(ctx context.Context, x Exec) ExecAnswer {
				if x.Request.Command[0] != "wait" {
					return echo(ctx, x)
				}
				mu.Lock()
				waits[x.Request.Peer.Family]++
				mu.Unlock()
				<-ctx.Done()
				return ExecAnswer{}
			}}, few)
			dir := shortDir(t)
			k, err := task{Flood: 12, Kids: []task{{Flood: 12, Session: true}}, Session: true, Dir: dir}.start(s.sockets[0].path)
			if err != nil {
				t.Fatal(err)
			}
			defer k.Wait()
			defer os.WriteFile(filepath.Join(dir, "end"), nil, 0o600)
			eventually(t, "both have all that they get", func() bool {
				found, err := filepath.Glob(filepath.Join(dir, "flood*"))
				return err == nil && len(found) == 2
			})
			info, err := proc.Stat(k.Process.Pid)
			if err != nil {
				t.Fatal(err)
			}
			family := nameOf(info.ID())
			mu.Lock()
			if len(waits) != 1 || waits[family] != 8 {
				t.Errorf("families wait with %v frames, want 8 of one", waits)
			}
			mu.Unlock()
			if err := helperCommand(t, task{Ask: true, Session: true, Socket: s.sockets[0].path}).Run(); err != nil {
				t.Errorf("an honest process: %v", err)
			}
			if got := connect(t, s).ask(execLine(good)); !strings.Contains(got, `"ok":true`) {
				t.Errorf("the host's own: %q", got)
			}
		})
	}
}
