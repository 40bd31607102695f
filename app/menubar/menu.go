// Package menubar is the status item of the desktop: what its menu says, the
// same on every platform, and the back ends that show it.
//
// Build makes the menu from facts and touches nothing; a Bar shows it.
package menubar

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Facts are what the menu shows; whoever holds them makes them new for every
// change.
type Facts struct {
	Paused  bool
	Until   time.Time  // of a pause; zero: until somebody resumes
	Waiting []Question // questions somebody waits for, oldest first
	Agents  []Agent
	Running []Run
	Leases  []Lease  // what is allowed for a while, that which ends first in front
	Recent  []Recent // the last requests, the latest first
	// Hooks say what is wrong with our hooks in the settings of other agents.
	Hooks []string
	// Touched tells that something was done to the local socket, its lock or the
	// state folder while the app ran.
	Touched bool
	// Login tells whether the app opens at login; nil where it cannot.
	Login *bool
	// Replaced tells that another version has taken the place of the app.
	Replaced bool
	Now      time.Time
}

// Question waits for an answer until it expires.
type Question struct {
	ID, Agent, Command string
	Expires            time.Time // zero: no time is shown
}

// Agent is one that asked, or that the policy names. Mode is the ID of one of
// Modes, or else "custom" with what it consists of, such as "allowlist/off",
// in Custom.
type Agent struct {
	ID, Name string
	Mode     string
	Custom   string
}

// Run is a command that runs now.
type Run struct {
	ID, Agent, Command string
	Started            time.Time
}

// Lease is what an agent may do until it ends: at a time, after a number of
// uses, or with its session.
type Lease struct {
	ID, Agent, Command string
	Ends               time.Time // zero: not at a time
	Uses               int       // that are left; -1: any number
}

// Recent is a request that was decided. Verdict says how, in words.
type Recent struct {
	ID, Agent, Command, Verdict string
	CanUndo                     bool // its answer for always
}

// Icon names one of the three pictures of the status item.
type Icon string

// The states of the icon. Paused wins, because then nothing is answered.
const (
	Quiet   Icon = "quiet"
	Waiting Icon = "waiting"
	Paused  Icon = "paused"
)

// Menu is all that a back end shows. It is not changed once it is handed on.
type Menu struct {
	Icon    Icon
	Count   int    // questions that wait
	Tooltip string // what icon and count say, in words
	Items   []Item
}

// Kind says what an item is.
type Kind string

// The kinds of items. A row with children opens them.
const (
	Row       Kind = "row"
	Heading   Kind = "heading"
	Separator Kind = "separator"
)

// Item is one line of the menu. Its ID says what pressing it means, see Parse;
// its title is one line, safe to show.
type Item struct {
	ID, Title string
	Kind      Kind
	Checked   bool
	Enabled   bool
	// Key presses it together with the platform's key for commands, where the
	// platform has that: one lower-case character, or none.
	Key      string
	Children []Item
}

// pressable tells whether a press of the row means something.
func (it Item) pressable() bool { return it.Kind == Row && it.Enabled }

// Mode is one of the ways to treat an agent that a person can choose.
type Mode struct{ ID, Title string }

// Modes are all that can be chosen, from strict to open.
var Modes = []Mode{
	{"deny", "Deny"},
	{"ask-always", "Ask always"},
	{"ask-when-needed", "Ask when needed"},
	{"only-listed", "Only listed"},
	{"allow-all", "Allow all"},
}

// maxWaiting is how many questions get a row.
const maxWaiting = 5

// Build makes the menu.
func Build(f Facts) Menu {
	m := Menu{Icon: Quiet, Count: len(f.Waiting), Tooltip: tooltip(f)}
	if len(f.Waiting) > 0 {
		m.Icon = Waiting
	}
	if f.Paused {
		m.Icon = Paused
	}
	groups := [][]Item{
		waiting(f), touched(f), hooks(f), agents(f), append(pause(f), stopEverything()), slices.Concat(running(f), leases(f), recent(f)), app(f), {keyed(row("quit", "Quit Countersign"), "q")},
	}
	for _, group := range groups {
		if len(m.Items) > 0 && len(group) > 0 {
			m.Items = append(m.Items, Item{Kind: Separator})
		}
		m.Items = append(m.Items, group...)
	}
	return m
}

// Parse takes the ID of an item apart:
//
//	question:<id>           show that question
//	hooks                   show the hooks in the settings
//	agent:<id>              opens the modes of the agent
//	mode:<agent>:<mode>     give the agent that mode
//	pause                   opens how long
//	pause:<length>          pause so long: one of Pauses
//	resume                  end the pause
//	stop-everything         opens that it is meant
//	stop-everything:now     stop everything
//	running                 opens what runs
//	run:<id>                says what runs
//	stop:<id>               end that run
//	leases                  opens what is allowed for a while
//	lease:<id>              says what one allows
//	end-lease:<id>          take it back
//	recent                  opens the last requests
//	request:<id>            says what became of one
//	undo:<id>               take its answer for always back
//	login                   open at login, or not any more
//	restart                 end, and start the version that is there now
//	settings, quit
//
// The rest have no ID or cannot be pressed. IDs of others may hold colons;
// modes have none.
func Parse(id string) (verb, subject, detail string) {
	verb, subject, _ = strings.Cut(id, ":")
	if verb != "mode" {
		return verb, subject, ""
	}
	if i := strings.LastIndexByte(subject, ':'); i >= 0 {
		subject, detail = subject[:i], subject[i+1:]
	}
	return verb, subject, detail
}

func row(id, title string) Item {
	return Item{ID: id, Title: title, Kind: Row, Enabled: true}
}

func keyed(it Item, key string) Item {
	it.Key = key
	return it
}

// note is a row that only says something.
func note(id, title string) Item {
	return Item{ID: id, Title: title, Kind: Row}
}

func heading(title string) Item {
	return Item{Title: title, Kind: Heading}
}

func tooltip(f Facts) string {
	var parts []string
	if f.Paused {
		parts = append(parts, "paused")
	}
	switch n := len(f.Waiting); n {
	case 0:
	case 1:
		parts = append(parts, "1 question waits")
	default:
		parts = append(parts, fmt.Sprintf("%d questions wait", n))
	}
	if len(parts) == 0 {
		return "Countersign"
	}
	return "Countersign: " + strings.Join(parts, ", ")
}

func waiting(f Facts) []Item {
	if len(f.Waiting) == 0 {
		return nil
	}
	items := []Item{heading("Waiting")}
	for _, q := range f.Waiting[:min(len(f.Waiting), maxWaiting)] {
		title := commandTitle(q.Agent, q.Command)
		if !q.Expires.IsZero() {
			title += " — " + left(q.Expires.Sub(f.Now))
		}
		items = append(items, row("question:"+q.ID, title))
	}
	if more := len(f.Waiting) - maxWaiting; more > 0 {
		items = append(items, note("more", fmt.Sprintf("and %d more", more)))
	}
	return items
}

func touched(f Facts) (items []Item) {
	if f.Touched {
		items = append(items, note("touched", "The local socket was removed or moved: see doctor"))
	}
	return items
}

// maxHooks is how much about hooks gets a row.
const maxHooks = 3

func hooks(f Facts) (items []Item) {
	for _, what := range f.Hooks[:min(len(f.Hooks), maxHooks)] {
		items = append(items, row("hooks", cut(line(what), maxTitle)+"…"))
	}
	if more := len(f.Hooks) - maxHooks; more > 0 {
		items = append(items, note("more-hooks", fmt.Sprintf("and %d more", more)))
	}
	return items
}

func agents(f Facts) []Item {
	if len(f.Agents) == 0 {
		return nil
	}
	items := []Item{heading("Agents")}
	for _, a := range f.Agents {
		items = append(items, agentItem(a))
	}
	return items
}

func agentItem(a Agent) Item {
	holds := ""
	var modes []Item
	for _, m := range Modes {
		item := row("mode:"+a.ID+":"+m.ID, m.Title)
		if item.Checked = m.ID == a.Mode; item.Checked {
			holds = m.Title
		}
		modes = append(modes, item)
	}
	if holds == "" {
		holds = "Custom"
		if a.Custom != "" {
			holds += ": " + cut(line(a.Custom), maxName)
		}
		custom := note("mode:"+a.ID+":custom", holds)
		custom.Checked = true
		modes = append(modes, custom)
	}
	item := row("agent:"+a.ID, name(a.Name, maxTitle)+" — "+holds)
	item.Children = modes
	return item
}

func running(f Facts) []Item {
	if len(f.Running) == 0 {
		return nil
	}
	item := row("running", "Running now")
	for _, r := range f.Running {
		title := commandTitle(r.Agent, r.Command) + " · " + elapsed(f.Now.Sub(r.Started))
		item.Children = append(item.Children, note("run:"+r.ID, title), row("stop:"+r.ID, "Stop"))
	}
	return []Item{item}
}

// Pause is how long a pause can be. Length 0 is until somebody resumes.
type Pause struct {
	ID, Title string
	Length    time.Duration
}

// Pauses are all that can be chosen.
var Pauses = []Pause{
	{"15m", "15 minutes", 15 * time.Minute},
	{"1h", "1 hour", time.Hour},
	{"resumed", "Until resumed", 0},
}

func pause(f Facts) []Item {
	if f.Paused {
		return []Item{note("paused", "Paused until "+until(f.Until, f.Now)), row("resume", "Resume")}
	}
	item := row("pause", "Pause")
	for _, p := range Pauses {
		item.Children = append(item.Children, row("pause:"+p.ID, p.Title))
	}
	return []Item{item}
}

// stopEverything takes two presses, because nothing of it comes back.
func stopEverything() Item {
	item := row("stop-everything", "Stop everything…")
	item.Children = []Item{
		note("stop-everything:what", "Denies what waits, ends what runs, takes leases back"),
		row("stop-everything:now", "Stop everything now"),
	}
	return item
}

// maxLeases is how many leases get a row.
const maxLeases = 10

func leases(f Facts) []Item {
	if len(f.Leases) == 0 {
		return nil
	}
	item := row("leases", "Allowed for a while")
	for _, l := range f.Leases[:min(len(f.Leases), maxLeases)] {
		ends := "this session"
		switch {
		case l.Uses >= 0:
			ends = fmt.Sprintf("%d uses left", l.Uses)
		case !l.Ends.IsZero():
			ends = lasts(l.Ends.Sub(f.Now))
		}
		item.Children = append(item.Children, note("lease:"+l.ID, commandTitle(l.Agent, l.Command)+" — "+ends), row("end-lease:"+l.ID, "Take back"))
	}
	if more := len(f.Leases) - maxLeases; more > 0 {
		item.Children = append(item.Children, note("more-leases", fmt.Sprintf("and %d more, in the settings", more)))
	}
	return []Item{item}
}

func recent(f Facts) []Item {
	if len(f.Recent) == 0 {
		return nil
	}
	item := row("recent", "Recent")
	for _, r := range f.Recent {
		item.Children = append(item.Children, note("request:"+r.ID, commandTitle(r.Agent, r.Command)+" — "+r.Verdict))
		if r.CanUndo {
			item.Children = append(item.Children, row("undo:"+r.ID, "Undo"))
		}
	}
	return []Item{item}
}

func app(f Facts) (items []Item) {
	if f.Replaced {
		items = append(items, row("restart", "Restart to Finish the Update"))
	}
	items = append(items, keyed(row("settings", "Settings…"), ","))
	if f.Login != nil {
		login := row("login", "Open at login")
		login.Checked = *f.Login
		items = append(items, login)
	}
	return items
}
