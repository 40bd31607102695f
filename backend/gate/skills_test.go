//go:build linux || darwin

package gate_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/store"
)

// skill makes a program and what a policy says of it as it is now; without a hash
// if accepted is false.
func (b *bench) skill(name, text string, accepted bool) approval.Skill {
	b.t.Helper()
	k := approval.Skill{Name: name, Path: b.script(name, text)}
	if accepted {
		k.SHA256 = b.hash(k.Path)
	}
	return k
}

func (b *bench) hash(at string) string {
	b.t.Helper()
	text, err := os.ReadFile(at)
	if err != nil {
		b.t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// skills gives agents the skills that run without a question; of "" every agent.
func (b *bench) skills(byAgent map[string][]approval.Skill) {
	b.edit(func(d *store.Document) error {
		d.Defaults.AutoAllowSkills = new(bool)
		*d.Defaults.AutoAllowSkills = true
		for id, list := range byAgent {
			if id == "" {
				d.Defaults.SkillBins = list
			} else {
				d.Agent(id).SkillBins = list
			}
		}
		return nil
	})
}

// TestSkills: a skill runs without a question while its file is the one that was
// accepted, and says why it asks else.
func TestSkills(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	talk := b.skill("talk", "echo talk", true)
	shout := b.skill("shout", "echo shout", true)
	fresh := b.skill("fresh", "echo fresh", false)
	node := b.script("mynode", "echo $2")
	byOther := approval.Skill{Name: "walk", Path: b.path("bin/walk")}
	if err := writeProgram(byOther.Path, []byte("#!"+node+"\n")); err != nil {
		t.Fatal(err)
	}
	byOther.SHA256 = b.hash(byOther.Path)
	b.skills(map[string][]approval.Skill{"": {talk, shout, fresh, byOther}})
	b.script("shout", "echo louder")
	for _, c := range []struct {
		name, want, why string
		skill           bool // always accepts a file, and writes no entry
	}{
		{"talk", "allow ", "", false},
		{"shout", "ask binary-changed", "the skill shout changed since it was accepted", true},
		{"fresh", "ask allowlist-miss", "the skill fresh was not accepted yet", true},
		{"walk", "ask allowlist-miss", "the skill walk is run by " + node + ", which is not the system's: it needs an entry", false},
	} {
		_, j, err := b.Explain(context.Background(), b.request(c.name))
		if got := string(j.Verdict) + " " + string(j.Reason); err != nil || got != c.want || j.Sentence != c.why {
			t.Errorf("%s: %s %q %v, want %s", c.name, got, j.Sentence, err, c.want)
		}
		if j.Verdict != approval.VerdictAsk {
			continue
		}
		name, is := "", false
		if len(j.Writes) == 1 {
			name, is = j.Writes[0].AcceptsSkill()
		}
		if is != c.skill || is && (name != c.name || len(j.Offers) > 0) || !slices.Contains(j.Choices, approval.AllowAlways) {
			t.Errorf("%s: always would write %+v or %+v", c.name, j.Writes, j.Offers)
		}
	}
	b.edit(func(d *store.Document) error { d.Deny("", approval.DenyRule{Pattern: "talk"}); return nil })
	b.want([]string{"talk"}, "denied denylisted")
	b.edit(func(d *store.Document) error { return d.Set("", "autoAllowSkills", "false") })
	if _, j, _ := b.Explain(context.Background(), b.request("shout")); j.Reason != approval.ReasonAllowlistMiss || !strings.HasPrefix(j.Sentence, "no entry covers") {
		t.Errorf("with skills off: %s %s", j.Reason, j.Sentence)
	}
}

// TestAlwaysAcceptsSkill: a yes for good accepts the file of that skill, as it was
// shown, for the agent that asked, and writes no entry.
func TestAlwaysAcceptsSkill(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	talk, shout := b.skill("talk", "echo one", true), b.skill("shout", "echo one", true)
	fresh := b.skill("fresh", "echo fresh", false)
	stale := talk.SHA256
	b.skills(map[string][]approval.Skill{"": {shout}, "main": {talk, fresh}, "other": {talk}})
	b.script("talk", "echo two")
	b.script("shout", "echo two")
	b.person(always, nil)
	b.want([]string{"talk"}, `code 0 "two\n"`)
	b.want([]string{"fresh"}, `code 0 "fresh\n"`)
	if b.asked.Load() != 2 {
		t.Errorf("asked %d times", b.asked.Load())
	}
	b.want([]string{"bash", "-c", "talk && fresh | wc -l"}, `code 0 "two\n1\n"`)
	if b.asked.Load() != 2 {
		t.Error("what was accepted is asked about again")
	}
	now := b.store.Current()
	if list := now.Policy("main").Allowlist; len(list) > 0 {
		t.Errorf("entries were written: %+v", list)
	}
	for _, c := range []struct{ agent, name, want string }{
		{"main", "talk", b.hash(talk.Path)}, {"main", "fresh", b.hash(fresh.Path)}, {"main", "shout", shout.SHA256}, {"other", "talk", stale},
	} {
		list := now.Policy(c.agent).Skills
		i := slices.IndexFunc(list, func(k approval.Skill) bool { return k.Name == c.name })
		if i < 0 || list[i].SHA256 != c.want {
			t.Errorf("%s of %s: %+v, want %s", c.name, c.agent, list, c.want)
		}
	}
	// Both at once, each in its own place.
	b.script("talk", "echo three")
	b.want([]string{"bash", "-c", "talk; shout; talk"}, `code 0 "three\ntwo\nthree\n"`)
	if b.asked.Load() != 3 {
		t.Errorf("asked %d times", b.asked.Load())
	}
	b.edit(func(d *store.Document) error { d.Agent("main").Ask = approval.AskOff; return nil })
	b.want([]string{"bash", "-c", "talk; shout; fresh"}, `code 0 "three\ntwo\nfresh\n"`)
}

// TestSkillDrifts: what changes between question and answer is not accepted.
func TestSkillDrifts(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	talk := b.skill("talk", "echo one", true)
	b.skills(map[string][]approval.Skill{"main": {talk}})
	b.script("talk", "echo two")
	b.person(always, func() { b.script("talk", "echo evil") })
	b.want([]string{"talk"}, "denied drifted")
	if got := b.store.Current().Policy("main").Skills[0].SHA256; got != talk.SHA256 {
		t.Errorf("accepted: %s", got)
	}
	// A skill that somebody dropped meanwhile is not made anew.
	gone := newBench(t)
	talk = gone.skill("talk", "echo one", true)
	gone.skills(map[string][]approval.Skill{"main": {talk}})
	gone.script("talk", "echo two")
	gone.person(always, func() {
		gone.edit(func(d *store.Document) error { return d.DropSkill("main", "talk", gone.dir) })
	})
	if got := outcome(gone.Run(context.Background(), gone.request("talk"))); strings.HasPrefix(got, "code") {
		t.Error(got)
	}
	if list := gone.store.Current().Policy("main"); len(list.Skills)+len(list.Allowlist) > 0 {
		t.Errorf("%+v", list)
	}
}

// TestSkillsOf: whose skills are added and dropped.
func TestSkillsOf(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	home := b.dir
	k := func(sum string) approval.Skill {
		return approval.Skill{Name: "talk", Path: home + "/bin/talk", SHA256: sum}
	}
	b.edit(func(d *store.Document) error {
		d.AddSkill(store.Every, k("1"), home)
		d.AddSkill("main", k("2"), home) // one that holds for it is there
		d.AddSkill("main", approval.Skill{Name: "walk", Path: home + "/bin/walk"}, home)
		d.AddSkill("main", approval.Skill{Name: "run", Path: home + "/bin/walk"}, home) // the same program by another name
		if got := d.Defaults.SkillBins; len(got) != 1 || got[0] != k("2") {
			t.Errorf("%+v", got)
		}
		if got := d.Agent("main").SkillBins; len(got) != 1 || got[0].Name != "run" {
			t.Errorf("%+v", got)
		}
		return errors.Join(d.DropSkill("main", home+"/bin/walk", home), d.DropSkill(store.Every, "talk", home))
	})
	if _, err := b.store.Update("", func(d *store.Document) error { return d.DropSkill("main", "talk", home) }); err == nil {
		t.Error("what is not there was dropped")
	}
}
