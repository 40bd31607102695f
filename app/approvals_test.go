//go:build linux || darwin

package main

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/ipc"
	"github.com/countersign-app/countersign/backend/pending"
	"github.com/countersign-app/countersign/backend/store"
)

func TestAnswers(t *testing.T) {
	tests := []struct {
		decision, note string
		runs           bool
		says           string
	}{
		{"allow-once", "", true, ""},
		{"deny", "use the other folder", false, "They say: use the other folder."},
	}
	for _, test := range tests {
		t.Run(test.decision, func(t *testing.T) {
			a := newTestApp(t, askMe)
			proof := filepath.Join(a.project, "proof")
			answers := a.agent(t.Context(), "main", "touch", proof)
			q := a.question()
			a.look(q.ID)
			if got := a.approvals.Decide(q.ID, q.Seen, test.decision, test.note); !got.OK {
				t.Fatalf("the answer was refused: %s", got.Message)
			}
			answer := a.answer(answers)
			_, err := os.Stat(proof)
			if ran := err == nil; ran != test.runs || answer.Success != test.runs {
				t.Errorf("ran: %v, answer %+v", ran, answer)
			}
			if answer.Refused != nil && !strings.Contains(answer.Refused.Message, test.says) {
				t.Errorf("the agent is told: %s", answer.Refused.Message)
			}
			a.eventually("the window is given back", func() bool { visible, _, _ := a.window.is(); return !visible })
		})
	}
}

// A page that is slow or lying can only deny.
func TestBadAnswers(t *testing.T) {
	a := newTestApp(t, askMe)
	proof := filepath.Join(a.project, "proof")
	answers := a.agent(t.Context(), "", "touch", proof) // without a name: never always
	q := a.question()
	other := strings.Replace(q.Seen, ":1:", ":7:", 1)

	if got := a.approvals.Decide(q.ID, q.Seen, "allow-once", ""); got.OK || got.Message != tooEarly {
		t.Errorf("before the page showed it: %+v", got)
	}
	a.approvals.Ready(q.ID, 500)
	if got := a.approvals.Decide(q.ID, q.Seen, "allow-once", ""); got.OK || got.Message != tooEarly {
		t.Errorf("at once: %+v", got)
	}
	a.look(q.ID)
	a.look("another")
	if got := a.approvals.Decide(q.ID, q.Seen, "allow-once", ""); got.OK || got.Message != tooEarly {
		t.Errorf("while the page shows another one: %+v", got)
	}
	a.look(q.ID)
	tests := []struct{ name, id, seen, decision string }{
		{"an unknown id", "x", q.Seen, "allow-once"},
		{"an unknown answer", q.ID, q.Seen, "allow"},
		{"no answer", q.ID, q.Seen, ""},
		{"an answer in other letters", q.ID, q.Seen, "Allow-Once"},
		{"an answer that was not offered", q.ID, q.Seen, "allow-always"},
		{"another question", q.ID, string(q.Seen[0]^1) + q.Seen[1:], "allow-once"}, // another digit
		{"no question", q.ID, "", "allow-once"},
		{"a digest alone", q.ID, q.Seen[:64], "allow-once"},
		{"fewer requests", q.ID, strings.Replace(q.Seen, ":1:", ":0:", 1), "allow-once"},
		{"a number that is none", q.ID, strings.Replace(q.Seen, ":1:", ":x:", 1), "allow-once"},
		{"another name of the agent", q.ID, q.Seen[:len(q.Seen)-1] + "z", "allow-once"},
	}
	for _, test := range tests {
		if got := a.approvals.Decide(test.id, test.seen, test.decision, ""); got.OK || got.Message == "" {
			t.Errorf("%s: %+v", test.name, got)
		}
	}
	a.keepOpen()
	if got := a.approvals.Decide(q.ID, q.Seen, "allow-once", ""); got.OK || got.Message != tooEarly {
		t.Errorf("while the window is hidden: %+v", got)
	}
	a.show(q.ID)
	a.approvals.Ready(q.ID, 500)
	if got := a.approvals.Decide(q.ID, q.Seen, "allow-once", ""); got.OK || got.Message != tooEarly {
		t.Errorf("right after the window came back: %+v", got)
	}
	a.look(q.ID)
	a.openSettings()
	if got := a.approvals.Decide(q.ID, q.Seen, "allow-once", ""); got.OK || got.Message != tooEarly {
		t.Errorf("right after the buttons moved: %+v", got)
	}
	if _, err := os.Stat(proof); err == nil {
		t.Fatal("it ran")
	}
	a.look(q.ID)
	if got := a.approvals.Decide(q.ID, other, "deny", strings.Repeat("ü", maxNote)); !got.OK {
		t.Errorf("a denial counts whatever was seen: %+v", got)
	}
	if got := a.approvals.Decide(q.ID, q.Seen, "allow-once", ""); got.OK {
		t.Error("a second answer counted")
	}
	if answer := a.answer(answers); answer.Refused == nil || answer.Refused.Reason != approval.ReasonUserDenied {
		t.Errorf("%+v", answer)
	}
}

// The caller hangs up: the panel says so, and an answer runs nothing.
func TestCallerHangsUp(t *testing.T) {
	a := newTestApp(t, askMe)
	proof := filepath.Join(a.project, "proof")
	ctx, hangUp := context.WithCancel(t.Context())
	answers := a.agent(ctx, "main", "touch", proof)
	q := a.question()
	a.look(q.ID)
	hangUp()
	a.answer(answers)
	a.eventually("the question has ended", func() bool {
		list := a.approvals.Screen("").Waiting
		return len(list) == 1 && list[0].Ended != nil && list[0].Ended.Reason == approval.ReasonApprovalCancelled
	})
	if visible, _, _ := a.window.is(); !visible {
		t.Error("the window went away before it could be read")
	}
	if got := a.approvals.Decide(q.ID, q.Seen, "allow-once", ""); got.OK || !strings.Contains(strings.ToLower(got.Message), pending.ErrGone.Error()) {
		t.Errorf("%+v", got)
	}
	if _, err := os.Stat(proof); err == nil {
		t.Error("it ran")
	}
}

func TestDismiss(t *testing.T) {
	a := newTestApp(t, askMe)
	ctx, hangUp := context.WithCancel(t.Context())
	answers := a.agent(ctx, "main", "touch", "gone")
	q := a.question()
	a.look(q.ID)
	a.approvals.Dismiss(q.ID)
	if len(a.approvals.Screen("").Waiting) != 1 {
		t.Fatal("a question that somebody waits for was dismissed")
	}
	hangUp()
	a.answer(answers)
	a.eventually("it has ended", func() bool { l := a.approvals.Screen("").Waiting; return len(l) == 1 && l[0].Ended != nil })
	a.approvals.Dismiss(q.ID)
	a.eventually("the window is given back", func() bool {
		visible, _, _ := a.window.is()
		return !visible && len(a.approvals.Screen("").Waiting) == 0
	})
}

// The window is the panel while a question waits, comes to the front once for
// each, and keeps the settings below it.
func TestWindow(t *testing.T) {
	a := newTestApp(t, askMe)
	if visible, _, _ := a.window.is(); visible {
		t.Fatal("it did not start hidden")
	}
	answers := a.agent(t.Context(), "main", "touch", "one")
	q := a.question()
	if visible, _, _ := a.window.is(); visible {
		t.Error("it was shown before the page was ready")
	}
	a.approvals.Ready(q.ID, 100_000)
	if visible, s, shows := a.window.is(); !visible || s != (size{560, 720}) || shows != 1 {
		t.Errorf("visible %v, %v, shown %d times", visible, s, shows)
	}
	a.approvals.Ready(q.ID, -5)
	if _, s, shows := a.window.is(); s != (size{560, 480}) || shows != 1 {
		t.Errorf("after a change of height: %v, shown %d times", s, shows)
	}
	if !a.keepOpen() {
		t.Error("its close button ends the app")
	}
	a.approvals.Ready(q.ID, 500)
	if visible, _, _ := a.window.is(); visible {
		t.Error("the page brought back a window that a person closed")
	}
	a.show(q.ID)
	a.approvals.Ready(q.ID, 500)
	if visible, _, _ := a.window.is(); !visible || !a.window.told(eventOpen) {
		t.Error("the menu does not bring it back")
	}
	a.openSettings()
	if _, s, _ := a.window.is(); s != settingsSize || !a.approvals.Screen("").Settings {
		t.Errorf("the settings are %v", s)
	}
	a.window.Resize(size{1400, 900}) // by hand
	a.look(q.ID)
	a.approvals.Decide(q.ID, q.Seen, "deny", "")
	a.answer(answers)
	a.eventually("the settings have it again", func() bool {
		visible, s, _ := a.window.is()
		a.window.mu.Lock()
		defer a.window.mu.Unlock()
		return visible && s == size{1400, 900} && !a.window.top
	})
	a.keepOpen()
	if visible, _, _ := a.window.is(); visible || a.approvals.Screen("").Settings {
		t.Error("closed settings are shown")
	}
	a.openSettings()
	if visible, _, _ := a.window.is(); visible {
		t.Error("they are shown before they are on the page")
	}
	a.settings.Ready()
	if visible, s, _ := a.window.is(); !visible || s != settingsSize {
		t.Errorf("the settings: visible %v, %v", visible, s)
	}
	a.keepOpen()
	a.openSettings()
	a.eventually("they come without the page, too", func() bool { visible, _, _ := a.window.is(); return visible })
	a.quit()
	if a.keepOpen() {
		t.Error("it does not end when it is told to")
	}
}

// Many long questions are not all sent each time, and what is sent of the
// others is short.
func TestManyQuestions(t *testing.T) {
	a := newTestApp(t, askMe)
	for i := range 15 {
		a.agent(t.Context(), "main", "echo", strings.Repeat("x ", 20_000), strconv.Itoa(i))
	}
	a.eventually("all wait", func() bool { return len(a.host.Waiting()) == 15 })
	last := a.host.Waiting()[14].ID
	s := a.approvals.Screen(last)
	text, err := json.Marshal(s)
	if err != nil || len(text) > 4_000_000 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	for i, q := range s.Waiting {
		if q.Partial == (q.ID == last) || q.ID == "" || q.Agent.ID != "main" || q.Partial && (q.Seen != "" || len(q.Command.Lines) > 0) {
			t.Errorf("%d: %.300v", i, q)
		}
	}
	// All of it together is bounded, whoever asks.
	var answers []<-chan ipc.ExecAnswer
	for i := range 40 {
		answers = append(answers, a.agent(t.Context(), "agent"+strconv.Itoa(i), "echo", strings.Repeat("y ", 30_000), strconv.Itoa(i)))
	}
	a.eventually("some are refused", func() bool {
		for _, one := range answers {
			select {
			case answer := <-one:
				if answer.Refused == nil || answer.Refused.Reason != approval.ReasonRateLimited {
					t.Errorf("%.300v", answer)
				}
				return true
			default:
			}
		}
		return false
	})
}

// A page that shows nothing is replaced, with the whole app.
func TestDeadPage(t *testing.T) {
	a := newTestApp(t, askMe)
	a.agent(t.Context(), "main", "touch", "x")
	q := a.question()
	a.eventually("the page is expected", func() bool { a.app.mu.Lock(); defer a.app.mu.Unlock(); return a.dead != nil })
	a.approvals.Ready(q.ID, 500)
	a.app.mu.Lock()
	waits := a.dead != nil
	a.app.mu.Unlock()
	if waits {
		t.Error("it is expected after it came")
	}
	t.Setenv(startedAgain, strconv.FormatInt(time.Now().Unix(), 10))
	a.pageIsDead()
	if a.anew || a.window.quit {
		t.Error("it starts anew twice in a minute")
	}
	t.Setenv(startedAgain, "1") // also takes back what follows
	a.pageIsDead()
	if !a.anew || !a.window.quit {
		t.Error("it does not start anew")
	}
	if os.Getenv(startedAgain) == "1" {
		t.Error("the next start does not know of this one")
	}
}

// Nobody is remembered for others: who calls itself by the name for all
// agents is refused, and the old name of "main" is "main".
func TestAgentNames(t *testing.T) {
	a := newTestApp(t, askMe)
	star := a.answer(a.agent(t.Context(), "*", "touch", "x"))
	if star.Refused == nil || star.Refused.Code != approval.CodeInvalid {
		t.Errorf("%+v", star)
	}
	answers := a.agent(t.Context(), "default", tool(a)...)
	q := a.question()
	if q.Agent.Name != "main" {
		t.Errorf("the question names %q", q.Agent.Name)
	}
	a.look(q.ID)
	if got := a.approvals.Decide(q.ID, q.Seen, "allow-always", ""); !got.OK {
		t.Fatal(got.Message)
	}
	a.answer(answers)
	if d := a.file(); len(d.Agents) != 1 || len(d.Agents["main"].Allowlist) != 1 {
		t.Errorf("%+v", d.Agents)
	}
}

// The name of who asks belongs to what was shown: with another one, a yes
// does not count.
func TestRenamedAgent(t *testing.T) {
	a := newTestApp(t, askMe)
	answers := a.agent(t.Context(), "evil", "touch", filepath.Join(a.project, "proof"))
	q := a.question()
	a.look(q.ID)
	if _, err := a.host.Update(func(d *store.Document) error { d.Agent("evil").DisplayName = "main"; return nil }); err != nil {
		t.Fatal(err)
	}
	if got := a.approvals.Decide(q.ID, q.Seen, "allow-once", ""); got.OK {
		t.Error("a yes to evil counted for main")
	}
	now := a.question()
	if now.Seen == q.Seen || now.Agent.Full == "" {
		t.Errorf("%+v", now.Agent)
	}
	if got := a.approvals.Decide(q.ID, now.Seen, "allow-once", ""); !got.OK {
		t.Error(got.Message)
	}
	a.answer(answers)
}

// repository makes the home folder of an app one that git knows: a file that
// it has as it is, one with changes, one that is new, and a folder.
func repository(t *testing.T, folder string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("skipped: git is not installed, and its index is what is read")
	}
	write := func(name, text string) {
		name = filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git := func(args ...string) {
		cmd := exec.Command("git", args...)
		cmd.Dir = folder
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q")
	write("same.txt", "same")
	write("changed.txt", "before")
	write("build/kept.o", strings.Repeat("x", 1500))
	git("add", "same.txt", "changed.txt", "build")
	write("changed.txt", "afterwards")
	write("new.txt", "new")
	write("build/new.o", strings.Repeat("x", 500))
}

func (a *testApp) wouldDo(id string) string {
	a.t.Helper()
	said := ""
	a.eventually("the disk answers in time", func() bool {
		var list []string
		for _, l := range a.approvals.WouldDo(id).Lines {
			list = append(list, strings.Join(strings.Fields(l.Text+" "+l.Path+" "+l.Rest), " "))
		}
		said = strings.Join(list, ". ")
		return !strings.Contains(said, "Could not")
	})
	return said
}

// What a question would do is looked up on the disk, changes nothing there and
// nothing about the question.
func TestWouldDo(t *testing.T) {
	a := newTestApp(t, askMe)
	repository(t, a.project)
	answers := a.agent(t.Context(), "main", "rm", "-r", "build", "new.txt", "changed.txt", "none")
	q := a.question()
	want := "Deletes 4 files, 2 KB; 2 of them not in git, 1 with changes that are not in git; 1 more not there"
	if got := a.wouldDo(q.ID); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, name := range []string{"build/kept.o", "build/new.o", "new.txt", "changed.txt"} {
		if _, err := os.Stat(filepath.Join(a.project, name)); err != nil {
			t.Error(err)
		}
	}
	if again := a.question(); again.Seen != q.Seen {
		t.Error("the question is another one after it was looked at")
	}
	if got := a.approvals.WouldDo("another"); len(got.Lines) != 0 || got.Lines == nil {
		t.Errorf("a question that does not wait: %+v", got)
	}
	a.look(q.ID)
	a.approvals.Decide(q.ID, q.Seen, "deny", "")
	a.answer(answers)

	answers = a.agent(t.Context(), "main", "mv", "same.txt", "changed.txt")
	q = a.question()
	want = "Overwrites changed.txt (10 bytes, with changes that are not in git). Moves same.txt (4 bytes, in git as it is)"
	if got := a.wouldDo(q.ID); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	a.look(q.ID)
	a.approvals.Decide(q.ID, q.Seen, "deny", "")
	a.answer(answers)
}
