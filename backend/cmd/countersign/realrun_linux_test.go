package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/corpus"
	"github.com/countersign-app/countersign/backend/environ"
	"github.com/countersign-app/countersign/backend/gate"
	"github.com/countersign-app/countersign/backend/history"
	"github.com/countersign-app/countersign/backend/judge"
	"github.com/countersign-app/countersign/backend/machine"
	"github.com/countersign-app/countersign/backend/paths"
	"github.com/countersign-app/countersign/backend/pending"
	"github.com/countersign-app/countersign/backend/runner"
	"github.com/countersign-app/countersign/backend/store"
)

// What every program of the machine prints: nothing, words, and words that
// somebody hopes become options, files or commands. What must not run must not
// run after either of them.
var sayings = []string{"", "src a.txt\nREADME.md\n", "-rf /\n/Users/dev/.ssh/id_rsa\n$(id);id|sudo id\n*\n"}

// loopsFor ends a text with a loop, which may wait for a file to appear.
const loopsFor = time.Second

// realRun runs cases on the machine that we have become.
type realRun struct {
	*report
	*trial
	gate   *gate.Gate
	env    environ.Base
	agents map[string]string // by what rulesOf knows a policy by
	ids    int

	ran, denied, asked, programs int
	compared                     map[string]int
	endless                      []string
}

// CanAsk says that nobody is there.
func (r *realRun) CanAsk() bool { return false }

func (r *realRun) Event(approval.Event) {}

func runCases(rep *report, cases *corpus.File, job machineJob) error {
	r := &realRun{report: rep, trial: newTrial(cases), agents: map[string]string{}, compared: map[string]int{}}
	end, err := r.open()
	if err != nil {
		return err
	}
	defer end()
	before, err := listing()
	if err != nil {
		return err
	}
	for i, c := range cases.Cases {
		if (uint64(i)+job.Seed)%uint64(job.Every) != 0 {
			continue
		}
		if err := r.labelledCase(c, before); err != nil {
			return fmt.Errorf("%s: %w", c.ID, err)
		}
	}
	r.logf("%d cases: %d ran, %d asked or were denied and started nothing; %d texts were denied as they ran; %d programs started in all",
		r.ran+r.asked, r.ran, r.asked, r.denied, r.programs)
	r.logf("same programs with the same words, compared: %v; without an end, so not compared: %v", r.compared, r.endless)
	r.logf("the machine has %d files, and none of them changed", len(before))
	if n := job.Every; r.ran < 200/n || r.compared["bash"] < 200/n || r.compared["dash"] < 150/n || r.asked < 800/n {
		r.wrongf("too few cases ran to tell anything")
	}
	return r.mixtures(job, before)
}

// open makes a gate whose agents have the policies of the corpus.
func (r *realRun) open() (end func(), err error) {
	w := r.cases.World
	r.env = environ.FromProcess([]string{"PATH=" + strings.Join(w.Path, ":"), "HOME=" + w.Home, "USER=dev", "LC_ALL=C.UTF-8"})
	state := paths.At(testFolder + "/state")
	policies, err := store.Open(store.Options{State: state, Home: w.Home})
	if err != nil {
		return nil, err
	}
	rows, err := history.Open(history.Options{Path: state.History()})
	if err != nil {
		return nil, err
	}
	run, err := runner.New(runner.Options{})
	if err != nil {
		return nil, err
	}
	a := &command.Analyzer{World: machine.Disk{}, Home: w.Home, UID: os.Getuid(), Ours: []string{paths.Expand("~/.openclaw", w.Home), testFolder}}
	a.SetPath(w.Path)
	here := &judge.Machine{Analyzer: a, Env: r.env}
	questions := pending.New()
	r.gate = gate.New(gate.Config{
		Machine: func(context.Context) (*judge.Machine, error) { return here, nil },
		Home:    w.Home, Store: policies, History: rows, Pending: questions, Hashes: &machine.Hashes{}, Signers: &machine.Signers{},
		Asker: r, Runner: run, Events: r, Now: time.Now, Log: slog.New(slog.DiscardHandler),
		NewID: func() string { r.ids++; return fmt.Sprint("run-", r.ids) },
	})
	_, err = policies.Update("", func(doc *store.Document) error {
		doc.Name(approval.Project{Path: w.Cwd})
		for _, c := range r.cases.Cases {
			if r.agents[policyKey(c)] != "" {
				continue
			}
			name := fmt.Sprint("agent", len(r.agents))
			r.agents[policyKey(c)] = name
			base := r.cases.Policies[c.Base]
			base.Allow = slices.Concat(base.Allow, c.Allow)
			p, agent := policyOf(base, w.Home), doc.Agent(name)
			p.Skills = accepted(p.Skills, machine.Disk{}.Look, (&machine.Hashes{}).Of)
			agent.Rules = store.Rules{
				Security: p.Security, Ask: p.Ask, AskFallback: p.AskFallback, AutoAllowSkills: &p.AutoAllowSkills, Denylist: p.Denylist,
				SafeBins: append([]string{}, p.SafeBins...), SafeBinTrustedDirs: p.SafeBinTrustedDirs, SkillBins: p.Skills,
			}
			for _, e := range p.Allowlist {
				doc.Add(name, e)
			}
		}
		return nil
	})
	return func() { questions.Close(); run.Close(); rows.Close(); policies.Close() }, err
}

// labelledCase runs one case if it is allowed, also as a text for dash, and
// shows that nothing starts if it is not.
func (r *realRun) labelledCase(c corpus.Case, before map[string]string) error {
	shells := []string{""}
	if c.Argv == nil {
		shells = []string{"bash", "dash"}
	}
	allowed := false
	for _, shell := range shells {
		c := in(shell, c)
		plan := r.plan(c)
		says := sayings
		if !slices.ContainsFunc(plan.Segments, func(s approval.Segment) bool { return s.Fed }) {
			says = says[:1] // nobody takes words from them
		}
		for _, said := range says {
			if err := os.WriteFile(sayFile, []byte(said), 0o666); err != nil {
				return err
			}
			ok, err := r.once(c, &plan, said)
			allowed = allowed || ok
			if err != nil {
				return err
			}
			if !ok {
				break
			}
		}
	}
	if r.asked++; allowed {
		r.asked--
		r.ran++
	}
	return r.untouched(c.ID, before)
}

// in is a case as a text that a shell was asked to run.
func in(shell string, c corpus.Case) corpus.Case {
	if c.Argv == nil {
		c.Argv, c.Text = []string{shell, "-c", c.Text}, ""
	}
	return c
}

// once judges a case and really runs it. It reports whether it was allowed.
func (r *realRun) once(c corpus.Case, plan *approval.Plan, said string) (bool, error) {
	judged := r.judge(c, plan, r.rulesOf(c))
	req := approval.Request{
		Command: c.Argv, RawCommand: c.RawCommand, Env: c.Env, Cwd: r.cases.World.Cwd, Who: approval.Ours,
		AgentID: r.agents[policyKey(c)], SessionKey: c.SessionKey, Timeout: patience,
	}
	if plan.Root != nil && loops(plan.Root) {
		req.Timeout = loopsFor
	}
	_, here, err := r.gate.Judge().Explain(context.Background(), req)
	if err != nil {
		return false, err
	}
	if here.Verdict == approval.VerdictAllow && judged.Verdict != approval.VerdictAllow {
		r.wrongf("%s: %q is allowed on the real disk, and %s on the invented one: %s", c.ID, c.Argv, judged.Verdict, judged.Sentence)
	}
	result := r.gate.Run(context.Background(), req)
	ran, err := records()
	if err != nil {
		return false, err
	}
	r.programs += len(ran)
	if here.Verdict != approval.VerdictAllow {
		if result.Denied == nil || len(ran) > 0 {
			r.wrongf("%s: %q is not allowed and started %q, %+v", c.ID, c.Argv, ran, result.Denied)
		}
		return false, nil
	}
	for _, p := range ran {
		if why := r.vouch(c, plan, judged, p); why != "" {
			r.wrongf("%s: %q started %q: %s", c.ID, c.Argv, p, why)
		}
	}
	if len(result.Left) > 0 {
		r.wrongf("%s: %q left %v", c.ID, c.Argv, result.Left)
	}
	switch {
	case req.Timeout == loopsFor && (result.TimedOut || result.Denied != nil && result.Denied.Reason == approval.ReasonTooComplex):
		r.endless = append(r.endless, c.ID)
	case result.TimedOut:
		r.wrongf("%s: %q does not end", c.ID, c.Argv)
	case result.Denied != nil:
		r.denied++
		if said == "" && plan.Shell == "" {
			r.wrongf("%s: %q is allowed and was denied: %+v", c.ID, c.Argv, result.Denied)
		}
	default:
		return true, r.compare(c, plan, ran)
	}
	return true, nil
}

// vouch says why a program must not have started, or "".
func (r *realRun) vouch(c corpus.Case, plan *approval.Plan, j approval.Judgement, p started) string {
	for i, s := range plan.Segments {
		own := s.Builtin != "" && path.Base(p.exe) == s.Builtin && asks(p)
		if !own && (s.Program == nil || s.Program.File.Path != p.exe) || s.Via != 0 || s.Named {
			continue
		}
		if j.Segments[i].Verdict != approval.VerdictAllow || s.Dir != "" && s.Dir != p.dir {
			continue
		}
		if s.Words == nil {
			if slices.Equal(plainly(r, s.Argv[1:]), plainly(r, p.argv[1:])) {
				return ""
			}
			continue
		}
		if own {
			return ""
		}
		alone := c
		alone.Argv, alone.Text, alone.RawCommand = append([]string{s.Argv[0]}, p.argv[1:]...), "", ""
		final := r.analyzer.Analyze(context.Background(), &approval.Request{Command: alone.Argv, Env: c.Env, Who: approval.Ours, Cwd: p.dir, AgentID: testAgent}, approvaltest.Named(p.dir))
		if v := r.judge(alone, &final, r.rulesOf(c)); v.Verdict != approval.VerdictAllow {
			return "what it became is not allowed: " + v.Sentence
		}
		return ""
	}
	return "no part of it that is allowed is this"
}

// asks reports whether a program is one that conditions hang on, and that
// shells have built in.
func asks(p started) bool {
	return slices.Contains([]string{"/bin/[", "/bin/test", "/usr/bin/printf"}, p.exe)
}

// plainly writes words as our runner and a shell hand them to a wrapper: we put
// paths in the place of names, and say PATH again.
func plainly(r *realRun, words []string) (list []string) {
	for _, word := range words {
		if word == "PATH="+strings.Join(r.cases.World.Path, ":") {
			continue
		}
		for _, dir := range r.cases.World.Path {
			if file, err := r.cases.World.Look(dir + "/" + word); err == nil && file.Mode&0o111 != 0 && word != "" && !strings.Contains(word, "/") && file.Mode>>12 == 0o10 {
				word = dir + "/" + word
				break
			}
		}
		list = append(list, word)
	}
	return list
}

// compare runs the same in a shell: the same programs start with the same
// words in the same folders, in the same order if there is one.
func (r *realRun) compare(c corpus.Case, plan *approval.Plan, ours []started) error {
	argv := append([]string{"bash", "-c", `exec "$@"`, "bash"}, c.Argv...)
	if plan.Shell != "" {
		argv = []string{"bash", "-c", plan.Text}
		if plan.Shell == "sh" || plan.Shell == "dash" || plan.Shell == "ash" {
			argv[0] = "dash"
		}
		for _, option := range plan.Options {
			argv = slices.Insert(argv, 1, "-o", map[string]string{"e": "errexit", "u": "nounset", "pipefail": "pipefail"}[option])
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	name := argv[0]
	cmd := exec.CommandContext(ctx, hostFolder+"/ld.so", append([]string{"--argv0", name, "--library-path", hostFolder + "/lib", hostFolder + "/" + name}, argv[1:]...)...)
	cmd.Dir, cmd.Env = r.cases.World.Cwd, r.env.With(c.Env, "shell", r.cases.World.Cwd)
	if err := cmd.Run(); ctx.Err() != nil || cmd.ProcessState == nil {
		return fmt.Errorf("%q in %s: %w", c.Argv, name, errors.Join(err, ctx.Err()))
	}
	for { // what a shell did not wait for
		if pid, err := syscall.Wait4(-1, nil, 0, nil); pid <= 0 && err != syscall.EINTR {
			break
		}
	}
	theirs, err := records()
	if err != nil {
		return err
	}
	mine, other := r.lines(ours, plan), r.lines(theirs, plan)
	same := slices.Equal(mine, other)
	if plan.Root != nil && inBackground(plan.Root) { // what the end of the text ends, a shell leaves alone
		same = !slices.ContainsFunc(mine, func(line string) bool { return !slices.Contains(other, line) })
	}
	if !same {
		r.wrongf("%s: %q starts\n  here %q\n  %s %q", c.ID, c.Argv, mine, name, other)
	}
	r.compared[name]++
	return nil
}

// lines are programs in the order they ran, where it is one.
func (r *realRun) lines(list []started, plan *approval.Plan) (lines []string) {
	for _, p := range list {
		if !asks(p) {
			lines = append(lines, fmt.Sprintf("%s in %s %q", p.exe, p.dir, plainly(r, p.argv[1:])))
		}
	}
	if plan.Root != nil && together(plan.Root) {
		slices.Sort(lines)
	}
	return lines
}

// loops reports whether a part of a plan may go on for ever.
func loops(n *approval.Node) bool {
	return n.Op == approval.OpWhile || n.Op == approval.OpUntil || slices.ContainsFunc(n.Kids, func(kid approval.Node) bool { return loops(&kid) })
}

// inBackground reports whether a part of a plan runs in the background.
func inBackground(n *approval.Node) bool {
	return n.Op == approval.OpBackground || slices.ContainsFunc(n.Kids, func(kid approval.Node) bool { return inBackground(&kid) })
}

// together reports whether parts of a plan run at the same time.
func together(n *approval.Node) bool {
	return n.Op == approval.OpPipe || slices.ContainsFunc(n.Kids, func(kid approval.Node) bool { return together(&kid) })
}

// untouched makes sure that no file of the machine changed and that nobody
// lives on it.
func (r *realRun) untouched(what string, before map[string]string) error {
	after, err := listing()
	if err != nil {
		return err
	}
	if names := differences(before, after); len(names) > 0 {
		r.wrongf("%s: these files changed: %q", what, names)
	}
	left, err := others()
	if len(left) > 0 {
		r.wrongf("%s: this is left: %q", what, left)
	}
	return err
}

// policyKey is what tells policies apart.
func policyKey(c corpus.Case) string {
	more, _ := json.Marshal(c.Allow) // plain fields cannot fail
	return c.Base + "\x00" + string(more)
}

// joints join what is allowed (A) with what is not (B). A line end behind B ends
// its comments and here-documents.
var joints = []string{
	"A; B", "B\nA", "A\nB", "A && B", "A || B", "! A || B", "A | { B\n}", "{ B\n} | A", "A |& { B\n}", "A && { B\n}", "(A; B\n)", "{ B\nA; }",
	"echo \"$(B\n)\"; A", "A; echo $(B\n)", "x=$(B\n); A", "x=$(A; B\n)", "echo \"$(echo \"$(B\n)\")\"", "export X=$(B\n)",
	"for i in 1 2; do A; B\ndone", "for i in $(B\n); do A; done", "if A; then B\nfi", "if B\nthen A; fi", "if A; then A; elif A; then B\nelse A; fi",
	"while B\ndo A; done", "until B\ndo A; done", "while A; do B\ndone", "A; time -p B", "A; ! B", "set -e; A; B", "true && (cd . && B\n)",
	"A </dev/null; { B\n} 2>/dev/null", "{ A; B\n} 2>&1 | cat", "cat <<< x; B", "cat <<'E'\nA\nE\nB", "set -o pipefail; A | { B\n} | A",
}

// joins matches a text that is not whole: alone it asks for what it lacks, and
// what follows completes it.
var joins = regexp.MustCompile(`(&&|\|\|?|\\)\s*$`)

// moves matches a text that changes the folder.
var moves = regexp.MustCompile(`\b(cd|pushd|popd)\b`)

// mixtures runs texts in which one part must ask. Nothing of them starts.
func (r *realRun) mixtures(job machineJob, before map[string]string) error {
	var good, bad []corpus.Case
	for _, c := range r.cases.Cases {
		if c.Env != nil || c.SessionKey != "" || c.Argv == nil && strings.Trim(c.Text, " \t\n;") == "" {
			continue
		}
		if c.Argv != nil {
			c.Text, c.Argv, c.RawCommand = command.Quote(c.Argv), nil, ""
		}
		switch v := r.labelled(in("bash", c)).Verdict; {
		case v != approval.VerdictAllow:
			if !joins.MatchString(c.Text) {
				bad = append(bad, c)
			}
		case moves.MatchString(c.Text): // relative names behind it are others
		case !strings.ContainsAny(c.Text, "#\n"): // what follows would be a comment, or in a document
			good = append(good, c)
		}
	}
	rng := rand.New(rand.NewPCG(job.Seed, 1))
	alone, made, passed := 0, 0, 0
	for i := range job.Mixtures {
		a, b := good[rng.IntN(len(good))], bad[i%len(bad)]
		mixed := a
		mixed.Text = b.Text
		if r.labelled(in("bash", mixed)).Verdict == approval.VerdictAllow { // under the policy of the other one it passes
			alone++
			continue
		}
		joint := joints[rng.IntN(len(joints))]
		mixed.Text = strings.NewReplacer("A", a.Text, "B", b.Text).Replace(joint)
		mixed.ID = fmt.Sprintf("%s with %s as %q", a.ID, b.ID, joint)
		made++
		mixed = in("bash", mixed)
		plan := r.plan(mixed)
		ok, err := r.once(mixed, &plan, "")
		if err != nil {
			return err
		}
		if ok {
			passed++
			r.wrongf("%s: it passes, and its second part alone does not: %q", mixed.ID, mixed.Argv[2])
		}
	}
	r.logf("%d mixtures of %d cases that pass and %d that do not: %d were allowed; %d more would pass under the other's policy", made, len(good), len(bad), passed, alone)
	if made < job.Mixtures/2 {
		r.wrongf("too few mixtures to tell anything")
	}
	return r.untouched("mixtures", before)
}

// realMachine starts the machine in namespaces of its own and returns what it
// reports. Skip says why this cannot be done here.
func realMachine(folder string, job machineJob) (r report, skip string, err error) {
	if skip, err := prepareMachine(folder); skip != "" || err != nil {
		return r, skip, err
	}
	self, err := os.Executable()
	if err != nil {
		return r, "", err
	}
	words, err := json.Marshal(job)
	if err != nil {
		return r, "", err
	}
	var out, complaint bytes.Buffer
	cmd := &exec.Cmd{Path: self, Args: []string{"machine", string(words)}, Stdout: &out, Stderr: &complaint}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	if err := cmd.Start(); err != nil {
		return r, "no namespaces of our own here: " + err.Error(), nil
	}
	switch err := cmd.Wait(); {
	case cmd.ProcessState.ExitCode() == notPermitted:
		return r, complaint.String(), nil
	case err != nil:
		return r, "", fmt.Errorf("%w: %s%s", err, complaint.Bytes(), out.Bytes())
	}
	return r, "", json.Unmarshal(out.Bytes(), &r)
}

// prepareMachine gathers what the machine needs of this one: the recorder, and
// shells with their libraries.
func prepareMachine(folder string) (skip string, err error) {
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", filepath.Join(folder, "recorder"), "./testdata/recorder")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if said, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("the recorder cannot be built: %w: %s", err, said)
	}
	loader := ""
	for _, at := range []string{"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"} {
		if _, err := os.Stat(at); err == nil {
			loader = at
		}
	}
	files := map[string]string{"ld.so": loader}
	for _, name := range []string{"bash", "dash", "[", "test", "printf"} {
		at, err := exec.LookPath("/usr/bin/" + name)
		if err != nil || loader == "" {
			return "the C library's loader or one of bash, dash, [, test and printf is not here: " + fmt.Sprint(err), nil
		}
		files[name] = at
		said, err := exec.Command(loader, "--list", at).Output()
		if err != nil {
			return "", fmt.Errorf("what %s needs cannot be told: %w", at, err)
		}
		for line := range strings.Lines(string(said)) {
			if _, lib, ok := strings.Cut(line, " => "); ok {
				lib, _, _ = strings.Cut(lib, " ")
				files["lib/"+filepath.Base(lib)] = lib
			}
		}
	}
	for name, from := range files {
		real, err := filepath.EvalSymlinks(from)
		if err == nil {
			err = copyAll(real, filepath.Join(folder, "host", name))
		}
		if err != nil {
			return "", err
		}
	}
	return "", nil
}
