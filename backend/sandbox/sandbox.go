// Package sandbox runs commands of agents where they reach nothing of this
// machine but one folder: in a container of a Docker engine for each session,
// or under bubblewrap.
//
// It talks to the engine's socket or starts bwrap, and to nothing else. It
// judges no command. Three things must never happen: that a command runs
// outside of its box because the box could not be made, that a box reaches
// more than its options name, and that a box lives on when its session ended.
package sandbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/config"
	"github.com/countersign-app/countersign/backend/paths"
	"github.com/countersign-app/countersign/backend/rescue"
)

// Options are the same for every box.
type Options struct {
	// Owner tells our boxes from those of other programs and other state folders.
	Owner string
	// Home is the person's home folder, and Private are folders that no box may
	// reach: ours, and those with the sockets of the session.
	Home    string
	Private []string
	// Sockets are where a Docker engine may listen, in this order.
	Sockets []string
	Log     *slog.Logger
}

// Job is one command.
type Job struct {
	// Session says in whose box it runs, ID names the run.
	Session, ID string
	// Writable are the workspaces of every box there may be, this one's among
	// them. What lies in one can be replaced by whoever works there.
	Writable []string
	Argv     []string
	// Dir is the working folder, "" for the workspace. It must lie in that.
	Dir string
	Env map[string]string
	// Path are folders that come before the usual ones of PATH.
	Path    []string
	Timeout time.Duration
	// Started is called when it was started. It may be nil.
	Started func()
}

// Result is how a command ended. Output beyond 200 000 bytes is dropped, and
// says so.
type Result struct {
	ExitCode       int
	TimedOut       bool
	Stdout, Stderr string
}

// box runs the commands of one session.
type box interface {
	// run runs a command until it ends, or until ctx ends, and leaves nothing of
	// it running that it waited for.
	run(ctx context.Context, j Job, out *output) (status int, err error)
	// end ends whatever runs in it, and ended tells that it did.
	end()
	ended() bool
}

// Sandbox keeps the boxes of all sessions. Its methods may be called by many
// at once.
type Sandbox struct {
	opt Options

	mu    sync.Mutex
	boxes map[string]*place
	swept map[string]bool    // sockets of engines
	left  map[string]*engine // containers that could not be removed
	over  bool
}

// place is the box of a session, while it is made and after that.
type place struct {
	spec string
	once sync.Once
	box  box
	err  error
	work int       // commands that use it
	used time.Time // when the last of them began or ended
	// fresh tells that no command ended in it but those that were cancelled.
	fresh bool
}

const (
	// maxBoxes is how many sessions have a box at once, maxWork how many commands
	// run in one of them.
	maxBoxes = 100
	maxWork  = 32
)

// New makes no box yet.
func New(opt Options) *Sandbox {
	return &Sandbox{opt: opt, boxes: map[string]*place{}, swept: map[string]bool{}, left: map[string]*engine{}}
}

// errTimeout ends a command whose time is over.
var errTimeout = errors.New("the command was ended because its time was over")

// Run runs a command in the box of its session, as c describes it. An error
// says that it did not run, or that nobody knows how it ended.
func (s *Sandbox) Run(ctx context.Context, c config.Sandbox, j Job) (Result, error) {
	c, err := s.checked(c, j.Writable)
	if err != nil {
		return Result{}, err
	}
	if j.Dir, err = inside(c.Workspace, j.Dir); err != nil {
		return Result{}, err
	}
	if err := valid(j); err != nil {
		return Result{}, err
	}
	ctx, cancel := context.WithTimeoutCause(ctx, j.Timeout, errTimeout)
	defer cancel()
	out := &output{}
	status, err := s.run(ctx, c, j, out)
	if errors.Is(err, errVanished) {
		status, err = s.run(ctx, c, j, out) // in a new one
	}
	r := Result{ExitCode: status}
	r.Stdout, r.Stderr = out.texts()
	if errors.Is(context.Cause(ctx), errTimeout) && err != nil {
		r.TimedOut, err = true, nil
	}
	return r, err
}

// run runs a command in the box of its session, which is made where there is
// none.
func (s *Sandbox) run(ctx context.Context, c config.Sandbox, j Job, out *output) (int, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	p, err := s.enter(ctx, c, j.Session)
	if err != nil {
		return 0, err
	}
	var status int
	if err = context.Cause(ctx); err == nil {
		status, err = s.within(ctx, p.box, j, out)
	}
	s.leave(j.Session, p, ctx.Err() != nil)
	return status, err
}

// within runs a command in a box. Where that makes us panic, the box ends with all
// that runs in it.
func (s *Sandbox) within(ctx context.Context, b box, j Job, out *output) (status int, err error) {
	defer rescue.Catch(s.opt.Log, "a command in a sandbox", func() {
		status, err = 0, errFailed
		b.end()
	})
	if status, err = b.run(ctx, j, out); !out.whole() {
		return 0, errFailed
	}
	return status, err
}

// Folder returns the folder that a command would work in.
func (s *Sandbox) Folder(c config.Sandbox, writable []string, dir string) (string, error) {
	c, err := s.checked(c, writable)
	if err != nil {
		return "", err
	}
	return inside(c.Workspace, dir)
}

// enter returns the box of a session. One that was made for other options is
// ended first: what was taken away from it must hold at once.
func (s *Sandbox) enter(ctx context.Context, c config.Sandbox, session string) (*place, error) {
	spec := fmt.Sprintf("%+v", c)
	s.mu.Lock()
	p := s.boxes[session]
	var old *place
	if p != nil && p.spec != spec {
		old, p = p, nil
	}
	switch {
	case s.over:
		s.mu.Unlock()
		return nil, errors.New("the gateway stops")
	case p == nil && old == nil && len(s.boxes) >= maxBoxes:
		s.mu.Unlock()
		return nil, fmt.Errorf("%d sessions have a sandbox: end some of them", maxBoxes)
	case p == nil:
		p = &place{spec: spec, fresh: true}
		s.boxes[session] = p
	case p.work >= maxWork:
		s.mu.Unlock()
		return nil, fmt.Errorf("%d commands run in the sandbox of this session: wait for some of them", maxWork)
	}
	p.work, p.used = p.work+1, time.Now()
	s.mu.Unlock()
	if old != nil {
		old.end()
	}
	p.once.Do(func() { p.box, p.err = s.open(context.WithoutCancel(ctx), c, session) })
	if p.err != nil {
		s.forget(session, p) // the next command tries again
		return nil, p.err
	}
	return p, nil
}

// leave notes that a command is over. The box of one that was cancelled goes if
// nobody else is in it: its session may have ended while it was made. One that
// ended by itself goes too, so that the next command gets another.
func (s *Sandbox) leave(session string, p *place, cancelled bool) {
	s.mu.Lock()
	p.work, p.used = p.work-1, time.Now()
	gone := p.box.ended() || cancelled && p.work == 0 && p.fresh
	p.fresh = p.fresh && cancelled
	if gone && s.boxes[session] == p {
		delete(s.boxes, session)
	}
	s.mu.Unlock()
	if gone {
		p.end()
	}
}

// Forget ends the boxes in which nothing happened since then.
func (s *Sandbox) Forget(since time.Time) {
	var list []*place
	s.mu.Lock()
	for session, p := range s.boxes {
		if p.work == 0 && p.used.Before(since) {
			list = append(list, p)
			delete(s.boxes, session)
		}
	}
	s.mu.Unlock()
	for _, p := range list {
		p.end()
	}
	s.removeLeft()
}

func (s *Sandbox) forget(session string, p *place) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.boxes[session] == p {
		delete(s.boxes, session)
	}
}

// end ends a box that is made, or makes sure that it never is.
func (p *place) end() {
	p.once.Do(func() { p.err = errEnded })
	if p.box != nil {
		p.box.end()
	}
}

// errVanished is told of a box that was ended by others before the command
// began.
var errVanished = errors.New("the sandbox of this session is gone: somebody ended it, or it had too little memory")

// errEnded is told of what runs in a box that is ended.
var errEnded = errors.New("the sandbox of this session was ended")

// errFailed is told where a mistake of ours was caught: the command was ended.
var errFailed = errors.New("Countersign failed at the sandbox, so the command was ended: its log says where")

// open makes a box.
func (s *Sandbox) open(ctx context.Context, c config.Sandbox, session string) (b box, err error) {
	defer rescue.Catch(s.opt.Log, "the making of a sandbox", func() { b, err = nil, errFailed })
	if c.Engine == config.Bubblewrap {
		return openBubblewrap(c)
	}
	return s.openDocker(ctx, c, session)
}

// End ends the box of a session and whatever runs in it.
func (s *Sandbox) End(session string) {
	s.mu.Lock()
	p := s.boxes[session]
	delete(s.boxes, session)
	s.mu.Unlock()
	if p != nil {
		p.end()
	}
}

// Close ends every box. No command runs after it.
func (s *Sandbox) Close() {
	s.mu.Lock()
	s.over = true
	list := s.boxes
	s.boxes = map[string]*place{}
	s.mu.Unlock()
	var all sync.WaitGroup
	for _, p := range list {
		all.Go(rescue.Guarded(s.opt.Log, "the end of a sandbox", p.end))
	}
	all.Wait()
}

// checked fills in what is not said, and refuses what would open the machine.
func (s *Sandbox) checked(c config.Sandbox, writable []string) (config.Sandbox, error) {
	c.Workspace, c.Socket = s.expand(c.Workspace), s.expand(c.Socket)
	c.Mounts = slices.Clone(c.Mounts)
	var others []string // where boxes can write, but for this one's own workspace
	for _, w := range writable {
		if w = s.expand(w); w != c.Workspace {
			others = append(others, w)
		}
	}
	named := c.Workspace
	var err error
	if c.Workspace, err = s.folder(named, c.Socket, others); err != nil {
		return c, fmt.Errorf("the workspace of the sandbox cannot be %s: %w", named, err)
	}
	for i, m := range c.Mounts {
		if c.Mounts[i], err = s.folder(s.expand(m), c.Socket, append(others, named)); err != nil {
			return c, fmt.Errorf("the sandbox cannot be given %s: %w", m, err)
		}
	}
	return c, nil
}

// expand replaces a leading ~ by the home folder.
func (s *Sandbox) expand(path string) string { return paths.Expand(path, s.opt.Home) }

// folder returns where a folder really is, if a box may have it: it holds
// neither what is private nor the socket of an engine, and it lies nowhere
// where a box could put a link in its place.
func (s *Sandbox) folder(path, socket string, writable []string) (string, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", err
	}
	for _, w := range writable {
		at, err := filepath.EvalSymlinks(w)
		if err != nil {
			at = w
		}
		if (holds(w, path) || holds(at, real)) && real != at {
			return "", fmt.Errorf("it lies in %s, the workspace of a sandbox, where a command could put another folder in its place", w)
		}
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return "", errors.New("it is no folder")
	}
	if strings.ContainsAny(real, ":,\x00") {
		return "", errors.New("its name has a character that engines take for something else")
	}
	for _, reserved := range []string{"/usr", "/etc", "/proc", "/sys", "/dev", "/tmp", "/bin", "/sbin", "/lib", "/run", "/var/run"} {
		if real == reserved {
			return "", errors.New("that is the system's own")
		}
	}
	for _, private := range slices.Concat([]string{s.opt.Home}, s.opt.Private, s.opt.Sockets, []string{socket}) {
		if private == "" {
			continue
		}
		if at, err := filepath.EvalSymlinks(private); err == nil {
			private = at
		}
		if holds(real, private) {
			return "", fmt.Errorf("it holds %s", private)
		}
	}
	for _, private := range s.opt.Private {
		if at, err := filepath.EvalSymlinks(private); err == nil {
			private = at
		}
		if holds(private, real) {
			return "", fmt.Errorf("it lies in %s, which is Countersign's own", private)
		}
	}
	return real, nil
}

// holds reports whether a path is a folder, or lies in it.
func holds(folder, path string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
}

// inside returns the folder that a command works in.
func inside(workspace, dir string) (string, error) {
	if dir == "" {
		return workspace, nil
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(workspace, dir)
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil || !holds(workspace, real) {
		return "", fmt.Errorf("the sandbox has no folder %s: its workspace is %s", dir, workspace)
	}
	return real, nil
}

// Bounds of a command.
const (
	maxArgs = 256 << 10 // bytes
	maxEnv  = 64 << 10
)

// valid refuses what no engine could run.
func valid(j Job) error {
	size := 0
	for _, a := range j.Argv {
		if size += len(a) + 1; strings.Contains(a, "\x00") {
			return errors.New("an argument has a zero byte")
		}
	}
	if size > maxArgs {
		return errors.New("the command is too long")
	}
	size = 0
	for name, value := range j.Env {
		if size += len(name) + len(value) + 2; name == "" || strings.ContainsAny(name, "=\x00") || strings.Contains(value, "\x00") {
			return errors.New("a variable has a name or a value that nothing can have")
		}
	}
	if size > maxEnv {
		return errors.New("the environment is too large")
	}
	return nil
}

// environment is that of a command, sorted.
func environment(j Job, home string) []string {
	path := strings.Join(append(slices.Clone(j.Path), "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"), ":")
	vars := map[string]string{"PATH": path, "HOME": home, "LANG": "C.UTF-8", "TMPDIR": "/tmp"}
	for name, value := range j.Env {
		vars[name] = value
	}
	vars["COUNTERSIGN"], vars["OPENCLAW_SHELL"], vars["PWD"], vars[approval.RunMark] = "1", "exec", j.Dir, j.ID
	list := make([]string, 0, len(vars))
	for name, value := range vars {
		list = append(list, name+"="+value)
	}
	slices.Sort(list)
	return list
}

// label is a text as engines take it for a name.
func label(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:12])
}
