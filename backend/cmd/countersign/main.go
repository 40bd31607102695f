// Command countersign is the headless exec host and the command line of
// Countersign. It parses words, calls the host over its socket (or the policy
// store where no host runs) and prints what comes back; it judges nothing.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/countersign-app/countersign/backend/descriptors"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/paths"
)

// version is set by the linker for releases.
var version = "dev"

// Exit codes beside those of the command that was run. 124 and 126 are those
// that timeout(1) and shells use for the same.
const (
	exitError       = 1
	exitUsage       = 2
	exitTimedOut    = 124
	exitInterrupted = 130
	exitNoHost      = 125
	exitDenied      = 126
)

// commands is the whole command line.
type commands struct {
	StateDir string `help:"State folder (default: $COUNTERSIGN_STATE_DIR, $OPENCLAW_STATE_DIR, ~/.openclaw)." placeholder:"DIR" name:"state-dir"`
	JSON     bool   `help:"Print JSON." name:"json"`
	Signer   string `help:"Have COMMAND sign what needs the person, in place of the passphrase that is typed here: it reads the change and prints the signature, as countersign operator sign does." placeholder:"COMMAND" name:"signer"`

	Host       hostCommands      `cmd:"" help:"The exec host."`
	Node       nodeCommands      `cmd:"" help:"The node service: joins a gateway."`
	Gateway    gatewayCommands   `cmd:"" help:"The gateway: leads the commands of agents to where they belong."`
	Run        runCommand        `cmd:"" help:"Run a command as an agent would: judged, asked, run by the host."`
	Approvals  approvalsCommands `cmd:"" help:"Entries of the policy, and waiting questions."`
	Policy     policyCommands    `cmd:"" help:"What holds for an agent, and why."`
	Projects   projectsCommands  `cmd:"" help:"Folders that are projects though they are no checkouts of git."`
	Charters   chartersCommands  `cmd:"" help:"What agents may never do, and are asked about each time."`
	Leases     leasesCommands    `cmd:"" help:"Entries that have an end."`
	Running    runningCommands   `cmd:"" help:"Commands that run now."`
	History    historyCommands   `cmd:"" help:"What was asked and what came of it."`
	Metrics    metricsCommand    `cmd:"" help:"Print what the host counted, in the text format of Prometheus."`
	Pause      pauseCommand      `cmd:"" help:"Let nothing start for a while; what runs goes on."`
	Resume     resumeCommand     `cmd:"" help:"End a pause."`
	Stop       stopCommand       `cmd:"" help:"Stop everything: deny all questions, end all that runs, take back leases."`
	Operator   operatorCommands  `cmd:"" help:"The passphrase that a host without a window asks its person for."`
	Link       linkCommands      `cmd:"" help:"Have other programs ask this machine's Countersign."`
	Hook       hookCommands      `cmd:"" help:"Be the hook of an agent, which asks before it makes a call."`
	MCP        mcpCommands       `cmd:"" name:"mcp" help:"Be an MCP server that runs commands, or stand before another one."`
	Doctor     doctorCommand     `cmd:"" help:"Check files, socket and host, and say how to repair them."`
	Completion completionCommand `cmd:"" help:"Print a script that completes the words of countersign in a shell."`
	Version    versionCommand    `cmd:"" help:"Print the version, or the licences of what Countersign is made of."`
}

// program is what every command needs: where things are, and where to print.
type program struct {
	ctx    context.Context
	state  paths.State
	home   string
	json   bool
	signer string // what signs in place of our own program, empty for that
	stdin  *os.File
	stdout io.Writer
	stderr io.Writer
}

// exit is an error with the code to end with; text is printed if not empty.
type exit struct {
	code int
	text string
}

func (e exit) Error() string { return e.text }

func main() {
	if code, ok := shortHook(os.Args[1:]); ok {
		os.Exit(code)
	}
	os.Exit(run(os.Args[1:]))
}

func run(args []string) int {
	if err := descriptors.Keep(); err != nil {
		fmt.Fprintln(os.Stderr, "countersign:", err)
		return 1
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var c commands
	parser, err := kong.New(&c,
		kong.Name("countersign"),
		kong.Description("Asks a person before an agent's command runs."),
		narrow(args))
	if err != nil {
		panic(err)
	}
	parsed, help, err := read(parser, args)
	p := &program{ctx: ctx, json: c.JSON, signer: c.Signer, stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	if err != nil {
		p.json = slices.Contains(args, "--json")
		code := p.end(exit{exitUsage, err.Error()})
		parser.Stdout = os.Stderr
		_ = parsed.PrintUsage(true)
		return code
	}
	if help {
		return p.end(parsed.PrintUsage(false))
	}
	if p.home, err = paths.Home(os.Getenv); err == nil {
		p.state, err = paths.Find(c.StateDir, os.Getenv)
	}
	if err == nil {
		err = parsed.Selected().Target.Addr().Interface().(action).Run(p)
	}
	return p.end(err)
}

// end prints an error and returns the exit code for it.
func (p *program) end(err error) int {
	if err == nil {
		return 0
	}
	var e exit
	if !errors.As(err, &e) {
		e = exit{exitError, err.Error()}
	}
	switch {
	case e.text == "":
	case p.json:
		_ = p.print(map[string]any{"ok": false, "error": map[string]string{"message": e.text}}, nil)
	default:
		fmt.Fprintln(p.stderr, "countersign: "+display.Escape(e.text))
	}
	return e.code
}
