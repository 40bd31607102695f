package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/host"
)

// writePrompt shows one question and what can be typed.
func writePrompt(w io.Writer, p approval.Prompt, waiting int, now time.Time) {
	writeQuestion(w, p)
	ends := time.UnixMilli(p.Expires)
	left := max(0, ends.Sub(now).Round(time.Second))
	fmt.Fprintf(w, "  %s left, until %s; %d waiting\n", left, ends.Format(time.TimeOnly), waiting)
	fmt.Fprintf(w, "%s > ", choiceKeys(p))
}

// writeFolder shows what counts as inside, where that is not the folder that is
// shown already.
func writeFolder(w io.Writer, plan approval.Plan) {
	switch f := plan.Folder; {
	case f.Path != "" && f.Path != plan.Cwd.Path:
		fmt.Fprintf(w, "  project  %s\n", display.Escape(f.Path))
	case f.Declined:
		fmt.Fprintf(w, "  project  none: %s was named as no project\n", display.Escape(f.Offer))
	case f.Offer != "":
		fmt.Fprintf(w, "  project  none: if this is one, name it: countersign projects add %s\n", display.Escape(command.Quote([]string{f.Offer})))
	case f.Never != "":
		fmt.Fprintf(w, "  project  none: %s\n", display.Escape(f.Never))
	}
}

// writeQuestion shows who asks, what would run, where, what changes in the
// environment, why it is asked, and what always would write. Nothing is cut.
func writeQuestion(w io.Writer, p approval.Prompt) {
	esc := display.Escape
	fmt.Fprintf(w, "\n%s wants to run", esc(cmp.Or(p.AgentID, "An agent without a name")))
	if p.Count > 1 {
		fmt.Fprintf(w, " (×%d)", p.Count)
	}
	fmt.Fprintf(w, ":\n\n    %s\n\n", esc(p.Plan.Text))
	if p.Plan.Outer != nil {
		fmt.Fprintf(w, "  shell    %s\n", esc(p.Plan.Outer.File.Path))
	}
	writeSegments(w, p.Plan, p.Judgement)
	fmt.Fprintf(w, "  folder   %s\n", esc(p.Plan.Cwd.Path))
	writeFolder(w, p.Plan)
	for _, e := range p.Env {
		fmt.Fprintf(w, "  sets     %s\n", envLine(e))
	}
	fmt.Fprintf(w, "  because  %s (%s)\n", esc(p.Judgement.Sentence), p.Judgement.Reason)
	fmt.Fprintf(w, "  risk     %s\n", riskLine(p.Judgement.Risk))
	fmt.Fprintf(w, "  asked by %s, process %d", esc(cmp.Or(p.Peer.Exe, "an unknown program")), p.Peer.PID)
	if p.Peer.Signer != "" {
		fmt.Fprintf(w, ", signed by %s", esc(p.Peer.Signer))
	}
	if p.SessionKey != "" {
		fmt.Fprintf(w, ", session %s", esc(p.SessionKey))
	}
	fmt.Fprintln(w)
	if p.Who == approval.Theirs {
		fmt.Fprintln(w, "  The caller runs this itself, not Countersign.")
	}
	if said := strings.Join(p.Claim.Said(), " "); said != "" {
		fmt.Fprintf(w, "  says the caller: %s\n", esc(said))
	}
	for _, e := range p.Judgement.Writes {
		fmt.Fprintf(w, "  always would %s\n", esc(writes(e)))
	}
	writeOffers(w, p.Judgement)
}

// writeOffers shows the ways to remember a yes, which one the panel would have
// chosen, and what asks again whatever is remembered.
func writeOffers(w io.Writer, j approval.Judgement) {
	for _, o := range j.Offers {
		for _, e := range o.Writes {
			fmt.Fprintf(w, "  --width %-8s would %s\n", o.Width, display.Escape(writes(e)))
		}
		notes := wideWords[o.Wide]
		if o.Suggested {
			with := ""
			if o.Here {
				with = ", with --here"
			}
			notes = append([]string{"suggested" + with}, notes...)
		}
		if len(notes) > 0 {
			fmt.Fprintf(w, "  %16s %s\n", "", strings.Join(notes, "; "))
		}
	}
	if len(j.StillAsks) == 0 {
		return
	}
	said := "asks again all the same: "
	if len(j.Offers) == 0 {
		said = "asked every time: "
	}
	for i, f := range j.StillAsks {
		said += []string{"", "; "}[min(i, 1)] + display.Escape(f.Sentence)
	}
	fmt.Fprintf(w, "  %s\n", said)
}

// riskLine is how high a risk is, and why. One that is not known is high.
func riskLine(r approval.Weighed) string {
	level := r.Level
	if level.High() {
		level = approval.RiskHigh
	}
	text := string(level)
	for i, f := range r.Reasons {
		text += []string{": ", "; "}[min(i, 1)] + display.Escape(f.Sentence)
	}
	return text
}

// writes says what an answer of always would write.
func writes(e approval.Entry) string {
	if e.ID == "" {
		text := "save: " + host.EntryWords(e)
		for _, id := range e.Identity {
			if id.Path != e.Pattern {
				text += ", which leads to " + id.Path
			}
		}
		return text
	}
	var files []string
	for _, id := range slices.Concat(e.Identity, e.Interpreters) {
		files = append(files, id.Path)
	}
	return "accept, under " + e.Pattern + ", what changed: " + strings.Join(files, ", ")
}

var wideWords = map[approval.Wide][]string{
	approval.WideProject: {"runs whatever the project's files say"},
	approval.WideChanges: {"wide: also for what deletes work or publishes it"},
	approval.WideUnknown: {"wide: nothing is known of what its arguments do"},
}

var effectWords = map[approval.Effect]string{
	approval.EffectProject:    "starts what the project names",
	approval.EffectDeletes:    "deletes or overwrites files here",
	approval.EffectNetwork:    "uses the network",
	approval.EffectUnseen:     "reads folders with more files than were looked at for secrets",
	approval.EffectBackground: "in the background until the whole command is over",
}

func writeSegments(w io.Writer, plan approval.Plan, j approval.Judgement) {
	for i, s := range plan.Segments {
		if s.Named {
			continue
		}
		leads := "nothing that was found"
		switch {
		case s.Program != nil:
			leads = leadsTo(s.Program)
		case s.Builtin != "":
			leads = "done without a program"
		}
		if plan.Tool != nil && !plan.Tool.Command {
			fmt.Fprintf(w, "  %-8s %s", "calls", display.Escape(strings.Join(s.Argv, " ")))
		} else {
			fmt.Fprintf(w, "  %-8s %s → %s", "runs", display.Escape(strings.Join(s.Argv, " ")), display.Escape(leads))
		}
		if i < len(j.Segments) {
			v := j.Segments[i]
			fmt.Fprintf(w, " [%s", v.Verdict)
			if v.Reason != "" {
				fmt.Fprintf(w, ": %s", display.Escape(v.Sentence))
			} else if v.Entry != "" {
				fmt.Fprintf(w, ": %s", display.Escape(v.Entry))
			}
			fmt.Fprint(w, "]")
		}
		if s.Dir != plan.Cwd.Path && s.Dir != "" {
			fmt.Fprintf(w, ", in %s", display.Escape(s.Dir))
		}
		for _, e := range s.Effects {
			fmt.Fprintf(w, ", %s", effectWords[e])
		}
		fmt.Fprintln(w)
	}
}

// leadsTo tells which file starts, by which link, and what interprets it.
func leadsTo(res *approval.Resolution) string {
	text := res.File.Path
	if res.Link != "" {
		text = res.Link + " → " + text
	}
	for by := res.Interpreter; by != nil; by = by.Interpreter {
		text += ", run by " + by.File.Path
	}
	return text
}

func envLine(e approval.EnvChange) string {
	value := display.Escape(e.Value)
	if e.Secret {
		value = "(hidden)"
	}
	line := display.Escape(e.Name) + "=" + value
	if e.Was && !e.Secret {
		line += " (was " + display.Escape(e.Old) + ")"
	}
	return line
}

// choiceKeys lists what can be typed. Deny is what an empty line means. Where the
// risk is high no single letter is a yes.
func choiceKeys(p approval.Prompt) string {
	keys := []string{"[d]eny (or just Enter)"}
	once, always := "[o]nce", "[a]lways"
	if p.Judgement.Risk.Level.High() {
		once, always = "once", "always"
	}
	for _, c := range p.Judgement.Choices {
		switch c {
		case approval.AllowOnce:
			keys = append(keys, once)
		case approval.AllowAlways:
			keys = append(keys, always)
		}
	}
	return strings.Join(keys, "  ")
}
