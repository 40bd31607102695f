package command

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/pathname"
)

// redirects reads the redirections of a command or a group: duplication among
// 1 and 2, /dev/null, input from a file of the working directory, texts without
// expansions, and files of the project and the temp folder that are written, which
// ask unless an entry covers that. Everything else asks; a network device never runs.
func (t *textJob) redirects(seg *approval.Segment, list []*syntax.Redirect) {
	for _, r := range list {
		if !t.spend(2) {
			return
		}
		got, why := t.redirect(seg, r)
		switch {
		case why.Allowed != "": // Findings gets it once all else is read
			seg.Outputs = append(seg.Outputs, why)
		case why.Reason != "":
			seg.Findings = append(seg.Findings, why)
		}
		if why.Reason == "" || why.Allowed != "" {
			seg.Redirects = append(seg.Redirects, got...)
			for _, one := range got {
				if one.To == approval.FromText {
					t.texts = append(t.texts, fedText{one.Text, seg.Dir})
				}
				t.fromFile = t.fromFile || one.To == approval.FromFile
			}
		}
	}
}

// target evaluates the word behind a redirection. It is known if it is final; v is what
// it becomes else, nothing if it is not understood.
func (t *textJob) target(word *syntax.Word, dir string) (name string, known bool, v value) {
	if word == nil {
		return "", false, v
	}
	v, ok := t.word(word, dir)
	if !ok {
		return "", false, value{}
	}
	if v.open != nil || len(v.final) != 1 || !v.literal {
		return "", false, v
	}
	return v.final[0], true, v
}

// aim returns what the word behind a redirection leads to: what it surely is, or
// else how it is written, with the home folder in the place of its names.
func (t *textJob) aim(word *syntax.Word, target string, known bool) string {
	if known || word == nil {
		return target
	}
	written := t.guess(word)[1]
	if name := homeWord().FindString(written); name != "" {
		return t.Home + written[len(name):]
	}
	return written
}

func (t *textJob) redirect(seg *approval.Segment, r *syntax.Redirect) ([]approval.Redirect, approval.Finding) {
	if r.Op == syntax.Hdoc || r.Op == syntax.DashHdoc || r.Op == syntax.WordHdoc {
		return t.fed(seg, r)
	}
	target, known, v := t.target(r.Word, seg.Dir)
	if r.Word != nil {
		written := t.guess(r.Word)[1]
		if strings.HasPrefix(written, "/dev/tcp/") || strings.HasPrefix(written, "/dev/udp/") || strings.HasPrefix(target, "/dev/tcp/") || strings.HasPrefix(target, "/dev/udp/") {
			seg.Floor = "it opens a network connection through a redirection"
			return nil, approval.Finding{}
		}
	}
	reads := r.Op == syntax.RdrIn || r.Op == syntax.DplIn
	if known && !reads && isDevice(seg.Dir, target) {
		seg.Floor = "it overwrites the device " + target
		return nil, approval.Finding{}
	}
	t.into(r.Op, target, known, seg.Dir)
	if why := t.protects(seg, r, t.aim(r.Word, target, known), reads); why.Reason != "" {
		return nil, why
	}
	fd, ok := descriptor(r)
	if !ok {
		return nil, finding(approval.ReasonApprovalRequired, "it uses descriptor %s", r.N.Value)
	}
	null := known && target == "/dev/null"
	adds := r.Op == syntax.AppOut || r.Op == syntax.AppAll
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob:
		if null && fd != 0 && (r.Op != syntax.RdrClob || t.who == approval.Ours) {
			return []approval.Redirect{{FD: or(fd, 1), To: approval.ToNull}}, approval.Finding{}
		}
		if fd != 0 {
			to, why := t.toFile(seg, v, target, known, adds)
			to.FD = or(fd, 1)
			return []approval.Redirect{to}, why
		}
	case syntax.RdrIn:
		if null && fd <= 0 {
			return []approval.Redirect{{FD: 0, To: approval.ToNull}}, approval.Finding{}
		}
		if !known && fd <= 0 && t.namesInputs(seg, v) {
			return t.openInput(seg, v)
		}
		return t.input(seg, target, known && fd <= 0)
	case syntax.DplOut:
		if known && (target == "1" || target == "2") && fd != 0 {
			return []approval.Redirect{{FD: or(fd, 1), To: int(target[0] - '0')}}, approval.Finding{}
		}
	case syntax.RdrAll, syntax.AppAll:
		if null && t.grammar == bash && t.who == approval.Ours {
			return []approval.Redirect{{FD: 1, To: approval.ToNull}, {FD: 2, To: approval.ToNull}}, approval.Finding{}
		}
		if t.grammar == bash {
			to, why := t.toFile(seg, v, target, known, adds)
			to.FD = 1
			return []approval.Redirect{to, {FD: 2, To: 1}}, why
		}
	}
	return nil, finding(approval.ReasonWritesFile, "it redirects to something else than /dev/null")
}

// protects finds what protected thing a redirection reads or writes.
func (t *textJob) protects(seg *approval.Segment, r *syntax.Redirect, at string, reads bool) approval.Finding {
	if r.Op == syntax.DplIn || r.Op == syntax.DplOut {
		return approval.Finding{}
	}
	switch what := t.protected(at, seg.Dir, seg); {
	case what == "", what == folderWithSecrets:
		return approval.Finding{}
	case reads:
		return finding(approval.ReasonProtectedState, "it reads %s", what)
	default:
		seg.Ours = seg.Ours || what == filesOfOurs
		return finding(approval.ReasonProtectedState, "it writes to %s", what)
	}
}

// into takes down what a redirection writes.
func (t *textJob) into(op syntax.RedirOperator, target string, known bool, dir string) {
	does := approval.TargetWrites
	switch op {
	case syntax.RdrOut, syntax.RdrAll, syntax.RdrClob, syntax.RdrAllClob:
	case syntax.AppOut, syntax.AppAll, syntax.RdrInOut, syntax.AppClob, syntax.AppAllClob:
		does = approval.TargetChanges
	default:
		return
	}
	if target != "/dev/null" || !known {
		t.plan.Targets = append(t.plan.Targets, targetAt(does, dir, target, known))
	}
}

// descriptor returns the number before a redirection, -1 for none.
func descriptor(r *syntax.Redirect) (int, bool) {
	if r.N == nil {
		return -1, true
	}
	if len(r.N.Value) != 1 || !strings.Contains("012", r.N.Value) {
		return 0, false
	}
	return int(r.N.Value[0] - '0'), true
}

// input reads `< FILE`: a file that is there, in the session's folder.
func (t *textJob) input(seg *approval.Segment, name string, known bool) ([]approval.Redirect, approval.Finding) {
	if !known || t.who == approval.Theirs || seg.Dir == "" {
		return nil, finding(approval.ReasonApprovalRequired, "it reads a file through a redirection")
	}
	file, why := t.readable(seg.Dir, name)
	if why.Reason != "" {
		return nil, why
	}
	return []approval.Redirect{{FD: 0, To: approval.FromFile, File: &file}}, approval.Finding{}
}

// readable is a file that is there, in the session's folder.
func (t *textJob) readable(dir, name string) (approval.File, approval.Finding) {
	file, err := t.look(join(dir, name))
	if err != nil || !file.IsRegular() || !t.plan.Folder.Holds(file.Path) || within(file.Path, "/proc") || within(file.Path, "/dev") {
		return file, finding(approval.ReasonOutsideFolder, "it reads %q, which is no file of the project", name)
	}
	return file, approval.Finding{}
}

// namesInputs reports whether the text holds all names of the file that a command reads
// through a redirection.
func (t *textJob) namesInputs(seg *approval.Segment, v value) bool {
	if t.who != approval.Ours || !t.ring2 || t.noShell || len(seg.Argv) == 0 || seg.Dir == "" {
		return false
	}
	if v.open == nil || !v.open.Known || v.open.Like || v.open.Many || len(v.words) != 1 || len(v.open.Maybe) == 0 || len(v.open.Maybe) > maxTried {
		return false
	}
	return !slices.ContainsFunc(v.words[0], func(p approval.Part) bool {
		return p.Text == approval.AllParameters && p.Kind == approval.PartVar || p.Kind != approval.PartText && (p.Kind != approval.PartVar || p.Form != nil || len(t.values[p.Text]) == 0)
	})
}

// openInput reads `< "$f"`: each of the names leads to a file that may be read, and the
// runner opens none but these.
func (t *textJob) openInput(seg *approval.Segment, v value) ([]approval.Redirect, approval.Finding) {
	r := approval.Redirect{FD: 0, To: approval.FromFile, From: seg.Dir, Word: v.words[0]}
	for _, name := range v.open.Maybe {
		if !t.spend(1) || !t.bytes(len(name)) {
			return nil, finding(approval.ReasonTooComplex, "it may read more files than can be looked at")
		}
		if _, err := t.look(join(seg.Dir, name)); errors.Is(err, fs.ErrNotExist) && pathname.Signs(name) {
			continue // a pattern of a loop, had it found nothing
		}
		file, why := t.readable(seg.Dir, name)
		if what := t.protected(name, seg.Dir, seg); why.Reason == "" && what != "" {
			why = finding(approval.ReasonProtectedState, "it reads %s", what)
		}
		if why.Reason != "" {
			return nil, why
		}
		r.Maybe, r.Files = append(r.Maybe, name), append(r.Files, file)
	}
	if len(r.Files) == 0 {
		return nil, finding(approval.ReasonOutsideFolder, "it reads %q, which is no file of the project", v.open.Maybe[0])
	}
	return []approval.Redirect{r}, approval.Finding{}
}

// takesAny reports whether it means nothing to a command which of some files it reads
// through a redirection, as it only prints.
func takesAny(seg *approval.Segment) bool {
	open := slices.ContainsFunc(seg.Redirects, func(r approval.Redirect) bool { return len(r.Files) > 0 })
	return !open || seg.Builtin == "" && seg.Kind == approval.KindReader && AlwaysReads(path.Base(seg.Argv[0]))
}

// fed reads a here-document or a here-string that nothing is expanded in.
func (t *textJob) fed(seg *approval.Segment, r *syntax.Redirect) ([]approval.Redirect, approval.Finding) {
	asks := finding(approval.ReasonApprovalRequired, "it feeds a text to the command that is known only when it runs")
	fd, ok := descriptor(r)
	if !ok || fd > 0 || t.who == approval.Theirs {
		return nil, asks
	}
	if r.Op == syntax.WordHdoc {
		parts, ok := t.one(r.Word, seg.Dir)
		if !ok || !literal(parts) {
			return nil, asks
		}
		text := "\n"
		if len(parts) == 1 {
			text = parts[0].Text + text
		}
		return []approval.Redirect{{FD: 0, To: approval.FromText, Text: text}}, approval.Finding{}
	}
	var b strings.Builder
	if r.Hdoc != nil {
		for _, part := range r.Hdoc.Parts {
			lit, ok := part.(*syntax.Lit)
			if !ok {
				return nil, asks
			}
			b.WriteString(lit.Value)
		}
	}
	text := b.String()
	if r.Op == syntax.DashHdoc {
		if strings.Contains(text, "\\\n\t") {
			return nil, asks // shells do not agree whether a joined line loses its tabs
		}
		lines := strings.SplitAfter(text, "\n")
		for i, line := range lines {
			lines[i] = strings.TrimLeft(line, "\t")
		}
		text = strings.Join(lines, "")
	}
	if !quotesDelimiter(t.text, r) {
		b.Reset()
		heredoc(&b, text)
		text = b.String()
	}
	return []approval.Redirect{{FD: 0, To: approval.FromText, Text: text}}, approval.Finding{}
}

// heredoc adds the text of a here-document that expands, where a backslash
// counts only before four characters.
func heredoc(b *strings.Builder, text string) {
	for i := 0; i < len(text); i++ {
		if text[i] == '\\' && i+1 < len(text) && strings.IndexByte("$`\\\n", text[i+1]) >= 0 {
			if i++; text[i] == '\n' {
				continue
			}
		}
		b.WriteByte(text[i])
	}
}

func or(fd, preset int) int {
	if fd < 0 {
		return preset
	}
	return fd
}

// tellProtected keeps what findings say of protected state for the whole text:
// those of what is no command would be lost.
func (t *textJob) tellProtected(found []approval.Finding) {
	for _, f := range found {
		if f.Reason == approval.ReasonProtectedState && !slices.Contains(t.plan.Findings, f) {
			t.plan.Findings = append(t.plan.Findings, f)
		}
	}
}

// code looks into the texts that a command is fed, where it runs them.
func (t *textJob) code(seg *approval.Segment, list []*syntax.Redirect) {
	for _, r := range list {
		fed := r.Hdoc
		if r.Op == syntax.WordHdoc {
			fed = r.Word
		}
		if fed == nil {
			continue
		}
		text := t.text[fed.Pos().Offset():fed.End().Offset()]
		if seg.Floor = codeOperates(seg, text); seg.Kind == approval.KindShell {
			if r.Op == syntax.WordHdoc {
				text = unquoter.Replace(text)
			}
			t.mention(text, seg)
		}
	}
}
