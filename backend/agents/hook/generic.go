package hook

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

// generic is the contract for programs that have no adapter of their own. They
// start `countersign hook generic`, write one JSON object and close its input:
//
//	version     1
//	tool        the tool, by our name where there is one: bash_execute{command},
//	            file_read{path}, file_write{path, content}, file_edit{path or
//	            paths}, file_delete{path or paths}, file_list{path},
//	            file_search{path, pattern, glob}, web_fetch{url}, web_search{query}
//	server      the MCP server that has the tool; optional
//	args        its arguments, an object
//	cwd         the folder that it would run in, absolute
//	session     what belongs together; optional, at most 200 bytes
//	agent       for whom it is; optional, "generic" without it
//	canRunOurs  true if the program can run another command line instead of a
//	            bash_execute; optional
//	timeoutMs   how long it waits; optional
//
// and read one back:
//
//	version   1
//	decision  "allow": it may run. "deny": it must not. "none": nobody could be
//	          asked, so the program asks by itself or does not run it
//	reason    the code of why, such as "user-denied"; "" where there is none
//	message   the same in words, for a model
//	command   the command line to run instead of the one that was asked about,
//	          where canRunOurs was said; running the old one is not allowed then
//	receipt   what was judged and why; not there for none
//
// The exit code is 0, and 2 for input that is not of this contract: then the
// decision is deny. Every other end, and every other output, means deny.
func generic() Agent {
	return Agent{
		Name: "generic", Title: "Other programs",
		Capability: Capability{
			Blocking: true, AsksOnlyWhenNeeded: true, FailMode: FailsClosed, Timeout: 600 * time.Second,
			CanRewriteInput: true, DenialTextReachesModel: true,
		},
		Read: readGeneric,
		Refuse: func(err error) Answer {
			text := unread(err)
			a := printed(genericAnswer{Version: 1, Decision: "deny", Reason: approval.ReasonInvalid, Message: plain(text)})
			a.Stderr, a.Code = blocked(text).Stderr, 2
			return a
		},
	}
}

// genericAnswer is what is printed.
type genericAnswer struct {
	Version  int               `json:"version"`
	Decision string            `json:"decision"`
	Reason   approval.Reason   `json:"reason"`
	Message  string            `json:"message"`
	Command  string            `json:"command,omitempty"`
	Receipt  *approval.Receipt `json:"receipt,omitempty"`
}

// maxTimeout is more than anybody waits.
const maxTimeout = 24 * time.Hour

func readGeneric(input []byte) (Event, error) {
	fields, err := parse(input)
	if err != nil {
		return Event{}, err
	}
	if err := checkGeneric(fields); err != nil {
		return Event{}, err
	}
	words, err := fields.words("tool", "server", "cwd", "session", "agent")
	if err != nil {
		return Event{}, err
	}
	args, err := fields.object("args")
	if err != nil {
		return Event{}, err
	}
	n := native{Agent: "generic", Tool: words[0], Server: words[1], Args: copyOf(args), Cwd: words[2], Session: words[3]}
	if words[4] != "" {
		n.Agent = words[4]
	}
	if err := named("the agent", n.Agent, true); err != nil {
		return Event{}, err
	}
	call, err := n.call()
	if err != nil {
		return Event{}, err
	}
	return genericEvent(fields, call)
}

// checkGeneric refuses what this version of the contract does not have.
func checkGeneric(fields object) error {
	if string(fields["version"]) != "1" {
		return errors.New("version must be 1")
	}
	if !fields.has("args") {
		return errors.New("args is missing")
	}
	known := []string{"version", "tool", "server", "args", "cwd", "session", "agent", "canRunOurs", "timeoutMs"}
	for name := range fields {
		if !slices.Contains(known, name) {
			return fmt.Errorf("%.40q is not a field of version 1", name)
		}
	}
	return nil
}

func genericEvent(fields object, call approval.ToolCall) (Event, error) {
	ours, err := fields.boolean("canRunOurs")
	if err != nil {
		return Event{}, err
	}
	if ours && call.Tool == bashExecute && call.Server == "" {
		call.Who = approval.Ours
	}
	e := Event{
		Name: "tool", Call: call, Silent: genericSilent,
		Reply: func(o approval.Outcome, rewritten string) Answer { return genericReply(call.Who, o, rewritten) },
	}
	if !fields.has("timeoutMs") {
		return e, nil
	}
	ms, err := fields.number("timeoutMs", 1, maxTimeout.Milliseconds())
	e.Timeout = time.Duration(ms) * time.Millisecond
	return e, err
}

func genericReply(who approval.Who, o approval.Outcome, rewritten string) Answer {
	a := genericAnswer{Version: 1, Decision: "deny", Reason: o.Receipt.Reason, Message: reason(o), Receipt: &o.Receipt}
	switch {
	case o.Unanswered():
		a.Decision = "none"
	case o.Verdict != approval.VerdictAllow:
	case who == approval.Ours && rewritten == "":
		a.Reason, a.Message = approval.ReasonInvalid, notRewritten
	default:
		a.Decision, a.Message = "allow", plain(o.Receipt.Message)
		if who == approval.Ours {
			a.Command = rewritten
		}
	}
	escape(a.Receipt)
	return printed(a)
}

// escape makes the texts of a receipt safe to print.
func escape(r *approval.Receipt) {
	for _, text := range []*string{&r.RunID, &r.Sentence, &r.Segment, &r.Rule, &r.By, &r.Note, &r.Instead, &r.Message} {
		*text = plain(*text)
	}
}

func genericSilent(why string) Answer {
	return printed(genericAnswer{
		Version: 1, Decision: "none", Reason: approval.ReasonCompanion, Message: unasked(strings.TrimSuffix(why, ".")),
	})
}
