package setup

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"mvdan.cc/sh/v3/shell"
	"mvdan.cc/sh/v3/syntax"

	"github.com/countersign-app/countersign/backend/agents/hook"
)

const (
	// endless is how long an agent waits that can be made to wait for ever. More
	// than 24 days would overflow the timers of agents that count milliseconds
	// in 32 bits, and a question lives for minutes.
	endless = 24 * time.Hour
	// early is how long before the agent's own end the hook gives its answer.
	early = 5 * time.Second
	// maxLine bounds a command line of a settings file that is taken apart.
	maxLine = 64 << 10
)

// call returns what the hook of an agent starts.
func (e Env) call(t target, c hook.Capability) (call, error) {
	if err := e.check(); err != nil {
		return call{}, err
	}
	wait := waits(c)
	argv := []string{e.Program, "hook", t.agent, "--timeout", (wait - min(early, wait/10)).String(), "--state-dir", e.State.Dir}
	if !startsUs(argv, t.agent) {
		return call{}, fmt.Errorf("a hook is found again by the name of what it starts: call the program countersign, and not %q", filepath.Base(e.Program))
	}
	line, err := quote(argv)
	return call{argv, line, wait}, err
}

// waits is how long an agent is made to wait for its hook: as long as it can
// be.
func waits(c hook.Capability) time.Duration {
	if c.TimeoutMax <= 0 {
		return endless
	}
	return min(c.TimeoutMax, endless).Truncate(time.Second)
}

// quote makes a command line for a shell.
func quote(argv []string) (string, error) {
	words := make([]string, len(argv))
	for i, word := range argv {
		quoted, err := syntax.Quote(word, syntax.LangPOSIX)
		if err != nil {
			return "", fmt.Errorf("%q cannot stand in a command line: %w", word, err)
		}
		words[i] = quoted
	}
	return strings.Join(words, " "), nil
}

// unquote returns the words of a command line; none where it is more than one
// simple command.
func unquote(line string) []string {
	if len(line) > maxLine {
		return nil
	}
	words, err := shell.Fields(line, func(string) string { return "" })
	if err != nil {
		return nil
	}
	return words
}

// startsUs reports whether words start a countersign executable, wherever it
// lies, as the hook of this agent.
func startsUs(argv []string, agent string) bool {
	if len(argv) < 3 {
		return false
	}
	name := strings.TrimSuffix(strings.ToLower(filepath.Base(argv[0])), ".exe")
	rest := argv[1:]
	for len(rest) > 2 && strings.HasPrefix(rest[0], "--state-dir") {
		if rest[0] == "--state-dir" {
			rest = rest[1:]
		}
		rest = rest[1:]
	}
	return name == "countersign" && len(rest) >= 2 && rest[0] == "hook" && rest[1] == agent
}
