package sandbox

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/config"
	"github.com/countersign-app/countersign/backend/rescue"
)

// Labels of our containers: whose they are, and of which life of the gateway.
const (
	labelOwner = "app.countersign.owner"
	labelLife  = "app.countersign.life"
)

// life tells the containers of this process from those that an earlier one
// could not remove.
var life = sync.OnceValue(uuid.NewString)

const (
	// answerTime is how long an engine may take to say that it is one.
	answerTime = 3 * time.Second
	// callTime is how long the engine may take for anything but running a command.
	callTime = 30 * time.Second
	// termTime is how long a command has to end after TERM, and after KILL. Then
	// the whole box goes.
	termTime = 2 * time.Second
)

// dockerBox is a container.
type dockerBox struct {
	*Sandbox
	engine *engine
	id     string
	home   string
	gone   context.Context // ends with the box
	over   context.CancelFunc
	once   sync.Once
}

// openDocker makes the container of a session.
func (s *Sandbox) openDocker(ctx context.Context, c config.Sandbox, session string) (box, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	e, err := s.engine(ctx, c.Socket)
	if err != nil {
		return nil, err
	}
	var made struct {
		ID string `json:"Id"`
	}
	if err := e.do(ctx, http.MethodPost, "/containers/create", s.spec(c, session), &made); err != nil {
		return nil, missing(c.Image, err)
	}
	b := &dockerBox{Sandbox: s, engine: e, id: made.ID, home: c.Workspace}
	b.gone, b.over = context.WithCancel(context.Background())
	if err := e.do(ctx, http.MethodPost, "/containers/"+b.id+"/start", nil, nil); err != nil {
		b.end()
		return nil, err
	}
	return b, nil
}

// engine finds the engine that is configured, or the first that answers. What
// earlier lives of the gateway left there is removed.
func (s *Sandbox) engine(ctx context.Context, socket string) (*engine, error) {
	sockets := s.opt.Sockets
	if socket != "" {
		sockets = []string{socket}
	}
	var all error
	for _, at := range sockets {
		if _, err := os.Stat(at); err != nil && socket == "" {
			continue // no such engine is installed
		}
		e := newEngine(at)
		asking, cancel := context.WithTimeout(ctx, answerTime)
		err := e.agree(asking)
		cancel()
		if err != nil {
			all = errors.Join(all, err)
			continue
		}
		s.sweep(ctx, e)
		return e, nil
	}
	if all == nil {
		all = fmt.Errorf("no Docker engine answers at %s: start Docker, or name its socket in tools.exec.sandbox.socket", strings.Join(sockets, " or "))
	}
	return nil, fmt.Errorf("%w; nothing runs outside of the sandbox instead", all)
}

// spec describes the container: its own user without rights, a root that
// cannot be written, limits, and of this machine the workspace and what is
// mounted.
func (s *Sandbox) spec(c config.Sandbox, session string) map[string]any {
	network := "none"
	if c.Network {
		network = "bridge"
	}
	mounts := []map[string]any{bind(c.Workspace, false)}
	for _, m := range c.Mounts {
		mounts = append(mounts, bind(m, true))
	}
	return map[string]any{
		"Image": c.Image, "Entrypoint": []string{"/bin/sh", "-c", "while :; do sleep 3600; done"}, "Cmd": []string{},
		"User": strconv.Itoa(os.Getuid()) + ":" + strconv.Itoa(os.Getgid()), "WorkingDir": c.Workspace, "NetworkDisabled": !c.Network,
		"Labels": map[string]string{labelOwner: label(s.opt.Owner), labelLife: life(), "app.countersign.session": label(session)},
		"HostConfig": map[string]any{
			"NetworkMode": network, "ReadonlyRootfs": true, "CapDrop": []string{"ALL"}, "SecurityOpt": []string{"no-new-privileges"},
			"Memory": c.Memory, "MemorySwap": c.Memory, "NanoCpus": int64(c.CPUs * 1e9), "PidsLimit": c.Processes,
			"Tmpfs":  map[string]string{"/tmp": "rw,nosuid,nodev,mode=1777,size=" + strconv.FormatInt(c.Memory/2, 10)},
			"Mounts": mounts, "IpcMode": "private", "LogConfig": map[string]string{"Type": "none"},
		},
	}
}

// bind has a folder under its own path, without the file systems that are
// mounted below it: read only would not hold for those.
func bind(folder string, readOnly bool) map[string]any {
	return map[string]any{"Type": "bind", "Source": folder, "Target": folder, "ReadOnly": readOnly, "BindOptions": map[string]any{"Propagation": "rprivate", "NonRecursive": true}}
}

// A command is started by a shell that tells its process id first: an engine
// cannot end what it started in a container.
var started = []string{"/bin/sh", "-c", `echo "$$"; exec "$@"`, "sh"}

func (b *dockerBox) run(ctx context.Context, j Job, out *output) (int, error) {
	if b.ended() {
		return 0, errVanished
	}
	spec := execSpec{AttachStdout: true, AttachStderr: true, Env: environment(j, b.home), Cmd: append(slices.Clone(started), j.Argv...), WorkingDir: j.Dir}
	first := &firstLine{found: make(chan string, 1), next: out.add}
	read, cancel := context.WithCancel(context.Background()) // ends the reading, which ends nothing in the box
	defer cancel()
	defer context.AfterFunc(b.gone, cancel)()
	type end struct {
		status int
		err    error
	}
	over := make(chan end, 1)
	go func() {
		defer rescue.Catch(b.opt.Log, "a command in a sandbox", func() {
			b.end() // nobody hears any more how its command goes
			over <- end{0, errFailed}
		})
		status, err := b.wait(read, ctx, spec, first.take)
		over <- end{status, err}
	}()
	pid := ""
	for {
		select {
		case pid = <-first.found:
			if j.Started != nil {
				j.Started()
			}
		case e := <-over:
			if errors.Is(e.err, errVanished) {
				b.end()
			} else if b.ended() {
				e.err = errEnded
			}
			return e.status, e.err
		case <-ctx.Done():
			b.stop(j.ID, pid, first.found, func(wait time.Duration) bool {
				select {
				case <-over:
					return true
				case <-time.After(wait):
					return false
				}
			})
			return 0, context.Cause(ctx)
		}
	}
}

// stop ends a command: its process group, and what left that. What does not
// end goes with everything else in the box.
func (b *dockerBox) stop(id, pid string, found <-chan string, over func(time.Duration) bool) {
	if pid == "" {
		if over(termTime / 10) {
			return // it never began
		}
		select {
		case pid = <-found:
		case <-time.After(termTime):
		}
	}
	done := false
	if pid != "" {
		b.call(`kill -s TERM -- "-$1"`, pid)
		if done = over(termTime); !done {
			b.call(`kill -s KILL -- "-$1"`, pid)
			done = over(termTime)
		}
	}
	if b.call(marked, approval.RunMark+"="+id); !done && !over(termTime) {
		b.end()
		over(callTime)
	}
}

// marked ends the processes that have a mark in their environment, twice: one
// may start another meanwhile.
const marked = `for turn in 1 2; do for p in /proc/[0-9]*; do while IFS= read -r line || [ -n "$line" ]; do
case $line in *"$1"*) kill -s KILL "${p#/proc/}";; esac; done < "$p/environ"; done; done 2>/dev/null`

// call runs a script of ours in the box, for a short time.
func (b *dockerBox) call(script string, word string) {
	ctx, cancel := context.WithTimeout(b.gone, termTime)
	defer cancel()
	spec := execSpec{AttachStdout: true, AttachStderr: true, Cmd: []string{"/bin/sh", "-c", script, "sh", word}}
	_, _ = b.engine.exec(ctx, nil, b.id, spec, func(int, []byte) {}) // what it is about may have ended by itself
}

// wait runs a program until it and its output ended.
func (b *dockerBox) wait(ctx, still context.Context, spec execSpec, take func(int, []byte)) (int, error) {
	id, err := b.engine.exec(ctx, still, b.id, spec, take)
	var refused *engineError
	if id == "" && errors.As(err, &refused) && (refused.Status == http.StatusNotFound || refused.Status == http.StatusConflict) {
		return 0, errVanished
	}
	if err != nil {
		return 0, err
	}
	for pause := time.Millisecond; ; pause = min(2*pause, time.Second) {
		status, over, err := b.engine.ended(ctx, id)
		if over || err != nil {
			return status, err
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return 0, ctx.Err()
		}
	}
}

func (b *dockerBox) ended() bool { return b.gone.Err() != nil }

func (b *dockerBox) end() {
	b.once.Do(func() {
		b.over()
		b.remove(b.engine, b.id)
	})
}

// remove removes a container. One that cannot be removed is kept in mind.
func (s *Sandbox) remove(e *engine, id string) {
	ctx, cancel := context.WithTimeout(context.Background(), callTime)
	defer cancel()
	err := e.remove(ctx, id)
	e.http.CloseIdleConnections()
	var refused *engineError
	gone := err == nil || errors.As(err, &refused) && refused.Status == http.StatusNotFound
	s.mu.Lock()
	defer s.mu.Unlock()
	if gone {
		delete(s.left, id)
		return
	}
	if s.left[id] == nil {
		s.opt.Log.Error("a sandbox cannot be removed, and is tried again", "container", id, "error", err)
	}
	s.left[id] = e
}

// removeLeft tries again to remove what could not be.
func (s *Sandbox) removeLeft() {
	s.mu.Lock()
	left := maps.Clone(s.left)
	s.mu.Unlock()
	for id, e := range left {
		s.remove(e, id)
	}
}

// Sweep removes the containers that an earlier life of the gateway left, at
// every engine that answers: what was configured then may not be any more.
func (s *Sandbox) Sweep(ctx context.Context, configured []string) {
	for _, socket := range slices.Concat(configured, s.opt.Sockets) {
		if _, err := os.Stat(s.expand(socket)); err != nil {
			continue
		}
		if _, err := s.engine(ctx, s.expand(socket)); err != nil {
			s.opt.Log.Warn("sandboxes of before may still be there", "error", err)
		}
	}
}

// sweep does so at one engine, once.
func (s *Sandbox) sweep(ctx context.Context, e *engine) {
	s.mu.Lock()
	done := s.swept[e.socket]
	s.swept[e.socket] = true
	s.mu.Unlock()
	if done {
		return
	}
	list, err := e.mine(ctx, labelOwner+"="+label(s.opt.Owner))
	if err != nil {
		s.opt.Log.Warn("sandboxes of before may still be there", "error", err)
		s.mu.Lock()
		delete(s.swept, e.socket) // it is tried again
		s.mu.Unlock()
	}
	for _, c := range list {
		if c.Labels[labelLife] != life() {
			s.remove(e, c.ID)
		}
	}
}

// firstLine takes the first line off the first stream. What follows goes on.
type firstLine struct {
	line  []byte
	done  bool
	found chan string
	next  func(int, []byte)
}

// maxPID is the longest line that can be a process id.
const maxPID = 20

func (f *firstLine) take(stream int, b []byte) {
	for stream == 0 && !f.done && len(b) > 0 {
		c := b[0]
		b = b[1:]
		if c != '\n' && len(f.line) < maxPID {
			f.line = append(f.line, c)
			continue
		}
		f.done = true
		if n, err := strconv.Atoi(string(f.line)); err == nil && n > 1 {
			f.found <- strconv.Itoa(n)
		}
	}
	if len(b) > 0 {
		f.next(stream, b)
	}
}
