// Command bench measures speed and size of the host and the app and prints a
// table beside the goals. Ratios are measured side by side in interleaved
// rounds, because machines are noisy; it judges nothing and never fails for
// being slow.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/machine"
	"github.com/countersign-app/countersign/backend/paths"
	"github.com/countersign-app/countersign/backend/runner"
	"github.com/countersign-app/countersign/backend/store"
)

const (
	rounds  = 21
	entries = 10_000
	uses    = 1000 // that one round notes
)

func main() {
	alone := flag.Bool("window", false, "measure the window alone, on the display that there is")
	million := flag.String("million", "", "search a history of a million rows in this `folder`, which is filled once, in minutes")
	server := flag.Bool("mcp-server", false, "be the MCP server that calls of the proxy are measured with")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: bench [-million FOLDER] COMMAND-LINE APP")
		flag.PrintDefaults()
	}
	flag.Parse()
	if *server {
		if err := mcpServer(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "bench:", err)
			os.Exit(1)
		}
		return
	}
	if flag.NArg() != 2 {
		flag.Usage()
		os.Exit(2)
	}
	program, err := filepath.Abs(flag.Arg(0)) // it is started in other folders
	app := flag.Arg(1)
	if err == nil && !*alone {
		err = run(program, *million)
	}
	if err = errors.Join(err, window(program, app)); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(program, million string) error {
	fmt.Printf("%-4s %-58s %12s   %s\n", "", "what", "measured", "goal")
	for _, measure := range []func(string) error{roundTrip, client, shells, output, decide, hostile, recheck, load, start, record, road, proxy, stops} {
		if err := measure(program); err != nil {
			return err
		}
	}
	return find(million)
}

func row(goal, what, figure, want string) {
	fmt.Printf("%-4s %-58s %12s   %s\n", goal, what, figure, want)
}

// median times each of the functions in turn, over all rounds, and returns
// the median of each.
func median(times int, work ...func() error) ([]time.Duration, error) {
	all := make([][]time.Duration, len(work))
	for round := range rounds + 1 {
		// A caller over 500 frames a second is read later; stay below.
		time.Sleep(150 * time.Millisecond)
		for i, f := range work {
			began := time.Now()
			for range times {
				if err := f(); err != nil {
					return nil, err
				}
			}
			if round > 0 { // the first one warms up
				all[i] = append(all[i], time.Since(began)/time.Duration(times))
			}
		}
	}
	medians := make([]time.Duration, len(work))
	for i, list := range all {
		slices.Sort(list)
		medians[i] = list[len(list)/2]
	}
	return medians, nil
}

func ratio(a, b time.Duration) string { return fmt.Sprintf("%.2f×", float64(a)/float64(b)) }

// folder is a state folder with a policy.
type folder struct {
	dir   string
	state paths.State
	app   string // the program of its host, where that is the app
}

// newFolder makes a state folder whose policy allows true and some more, with
// so many other entries.
func newFolder(others int, allowed ...string) (*folder, error) {
	dir, err := os.MkdirTemp("", "countersign")
	if err != nil {
		return nil, err
	}
	f := &folder{dir, paths.At(filepath.Join(dir, "state")), ""}
	s, err := store.Open(store.Options{State: f.state, Home: dir})
	if err != nil {
		return nil, err
	}
	_, err = s.Update("", func(d *store.Document) error {
		d.Defaults.Security, d.Defaults.Ask = approval.SecurityList, approval.AskOff
		for i := range others {
			agent := d.Agent("*")
			agent.Allowlist = append(agent.Allowlist, store.Entry{Entry: approval.Entry{ID: fmt.Sprint(i), Pattern: fmt.Sprintf("/opt/tools/%d/bin/tool", i)}})
		}
		for _, pattern := range append(allowed, "true") {
			d.Add("*", approval.Entry{Pattern: pattern})
		}
		return nil
	})
	if closing := s.Close(); err == nil {
		err = closing
	}
	return f, err
}

// host starts a host and waits until it accepts.
func (f *folder) host(program string) (*exec.Cmd, *ipc.Client, time.Duration, error) {
	cmd := exec.Command(program, "--state-dir", f.state.Dir, "host", "run", "--ask=nobody")
	cmd.Env = f.environment()
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, nil, 0, err
	}
	for time.Since(began) < 10*time.Second {
		if client, err := ipc.Dial(f.state, program); err == nil {
			return cmd, client, time.Since(began), nil
		}
		time.Sleep(200 * time.Microsecond)
	}
	return nil, nil, 0, fmt.Errorf("the host does not accept")
}

func (f *folder) environment() []string { return append(os.Environ(), "HOME="+f.dir, "SHELL=/bin/sh") }

func stop(cmd *exec.Cmd, client *ipc.Client) {
	client.Close()
	_ = cmd.Process.Signal(os.Interrupt)
	_ = cmd.Wait()
}

func (f *folder) token() (string, error) {
	text, err := os.ReadFile(f.state.Approvals())
	if err != nil {
		return "", err
	}
	doc, err := store.Parse(f.state.Approvals(), text, f.dir)
	if err != nil {
		return "", err
	}
	return doc.Socket.Token, nil
}

// serve starts a host that allows true and some more programs, and returns its
// folder, a connection, what proves a request, and how to end it all.
func serve(program string, allowed ...string) (f *folder, kept *ipc.Client, token string, end func(), err error) {
	if f, err = newFolder(0, allowed...); err != nil {
		return nil, nil, "", nil, err
	}
	cmd, kept, _, err := f.host(program)
	if err != nil {
		os.RemoveAll(f.dir)
		return nil, nil, "", nil, err
	}
	end = func() {
		stop(cmd, kept)
		os.RemoveAll(f.dir)
	}
	if token, err = f.token(); err != nil {
		end()
	}
	return f, kept, token, end, err
}

// roundTrip is P1: an allowed true, over the socket, beside os/exec.
func roundTrip(program string) error {
	f, kept, token, end, err := serve(program)
	if err != nil {
		return err
	}
	defer end()
	req := approval.Request{Command: []string{"true"}, Cwd: f.dir}
	true_, err := exec.LookPath("true")
	if err != nil {
		return err
	}
	m, err := median(40,
		func() error { return exec.Command(true_).Run() },
		func() error { return over(kept, token, req) },
		func() error {
			c, err := ipc.Dial(f.state, program)
			if err != nil {
				return err
			}
			defer c.Close()
			return over(c, token, req)
		})
	if err != nil {
		return err
	}
	row("", "os/exec of true, for comparison", m[0].Round(time.Microsecond).String(), "")
	row("P1", "allowed true over the kept socket, to os/exec", ratio(m[1], m[0]), "≤ 1.25×")
	row("P1", "the same over a new connection", ratio(m[2], m[0]), "≤ 1.40×")
	return nil
}

// output is P5: collecting 200 KB beside os/exec with two buffers.
func output(string) error {
	head, err := exec.LookPath("head")
	if err != nil {
		return err
	}
	r, err := runner.New(runner.Options{})
	if err != nil {
		return err
	}
	defer r.Close()
	a := &command.Analyzer{World: machine.Disk{}, Home: "/", UID: os.Getuid()}
	argv := []string{head, "-c", "200000", "/dev/zero"}
	plan := a.Analyze(context.Background(), &approval.Request{Command: argv, Cwd: "/", Who: approval.Ours}, approval.Folder{})
	m, err := median(40,
		func() error {
			cmd := exec.Command(head, argv[1:]...)
			var out, errs bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &errs
			err := cmd.Run()
			if out.Len() != 200_000 {
				return fmt.Errorf("os/exec collected %d bytes: %w", out.Len(), err)
			}
			return nil
		},
		func() error {
			got := r.Run(context.Background(), runner.Job{ID: "bench", Plan: &plan, Env: []string{"COUNTERSIGN_RUN=bench"}})
			if len(got.Stdout) != 200_000 {
				return fmt.Errorf("the runner collected %d bytes: %s", len(got.Stdout), got.Error)
			}
			return nil
		})
	if err != nil {
		return err
	}
	row("P5", "collecting 200 KB of output, to os/exec with two buffers", ratio(m[1], m[0]), "≤ 1.0×")
	return nil
}

// recheck is P9: looking at an unchanged program again, with its hash.
func recheck(string) error {
	at, err := exec.LookPath("ls")
	if err != nil {
		return err
	}
	var hashes machine.Hashes
	m, err := median(1000, func() error {
		file, err := machine.Disk{}.Look(at)
		if err == nil {
			_, err = hashes.Of(file)
		}
		return err
	})
	if err != nil {
		return err
	}
	row("P9", "an unchanged program looked at again", micros(m[0]), "≤ 5 µs")
	return nil
}

// load is P11: reading a policy of 10 000 entries, opening the store with it,
// and what a reply waits for when the use of an entry is noted.
func load(string) error {
	f, err := newFolder(entries)
	if err != nil {
		return err
	}
	defer os.RemoveAll(f.dir)
	text, err := os.ReadFile(f.state.Approvals())
	if err != nil {
		return err
	}
	open := func() (*store.Store, error) { return store.Open(store.Options{State: f.state, Home: f.dir}) }
	used, err := open()
	if err != nil {
		return err
	}
	defer used.Close()
	m, err := median(1,
		func() error {
			_, err := store.Parse("exec-approvals.json", text, f.dir)
			return err
		},
		func() error {
			s, err := open()
			if err != nil {
				return err
			}
			return s.Close()
		},
		func() error {
			for range uses {
				used.Used("*", "1", "tool", "/opt/tools/1/bin/tool")
			}
			return nil
		})
	if err != nil {
		return err
	}
	row("P11", "loading 10 000 entries", m[0].Round(100*time.Microsecond).String(), "≤ 30 ms")
	row("", "     the store opened with them and closed", m[1].Round(100*time.Microsecond).String(), "")
	row("P11", "noting a use of one of them, on the reply path", micros(m[2]/uses), "no file written")
	return nil
}

// start is P7: from the start of the process to accepting, and what the host
// takes when nothing happens.
func start(program string) error {
	f, err := newFolder(entries)
	if err != nil {
		return err
	}
	defer os.RemoveAll(f.dir)
	var took []time.Duration
	for range rounds {
		cmd, client, d, err := f.host(program)
		if err != nil {
			return err
		}
		took = append(took, d)
		stop(cmd, client)
	}
	slices.Sort(took)
	row("P7", "start to accepting with 10 000 entries", took[len(took)/2].Round(100*time.Microsecond).String(), "≤ 30 ms")
	for _, size := range []int{0, entries} {
		if err := idle(program, size); err != nil {
			return err
		}
	}
	return nil
}

// idle measures memory and wake-ups while nothing happens.
func idle(program string, size int) error {
	f, err := newFolder(size)
	if err != nil {
		return err
	}
	defer os.RemoveAll(f.dir)
	cmd, client, _, err := f.host(program)
	if err != nil {
		return err
	}
	defer stop(cmd, client)
	client.Close()
	time.Sleep(25 * time.Second) // the start is over
	before := switches(cmd.Process.Pid)
	time.Sleep(10 * time.Second)
	row("P7", fmt.Sprintf("idle memory (resident) with %d entries", size), resident(cmd.Process.Pid), "≤ 25 MB")
	row("P7", "wake-ups in 10 s of idling", fmt.Sprint(switches(cmd.Process.Pid)-before), "0")
	return nil
}

func resident(pid int) string {
	for line := range strings.Lines(read(fmt.Sprintf("/proc/%d/status", pid))) {
		if value, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			var kb int
			fmt.Sscan(value, &kb)
			return fmt.Sprintf("%.1f MB", float64(kb)/1024)
		}
	}
	return "unknown"
}

// switches counts how often threads of a process gave up the processor.
func switches(pid int) int {
	total := 0
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	for _, task := range tasks {
		for line := range strings.Lines(read(task)) {
			if value, ok := strings.CutPrefix(line, "voluntary_ctxt_switches:"); ok {
				n := 0
				fmt.Sscan(value, &n)
				total += n
			}
		}
	}
	return total
}

func read(path string) string {
	b, _ := os.ReadFile(path)
	return string(b)
}
