package stage

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"
	"time"
)

// orders is how many orders of events are tried, each of so many events.
const orders, events = 3000, 60

// Whatever happens in whichever order: the window is where the stage believes it to
// be, nothing counts that is out of sight or has just come, one thing at most counts
// at a time, each comes to the front once, and nothing comes after the end.
func TestAnyOrder(t *testing.T) {
	seed, err := strconv.ParseUint(os.Getenv("COUNTERSIGN_RANDOM_SEED"), 10, 64)
	if err != nil {
		seed = rand.Uint64()
	}
	t.Logf("COUNTERSIGN_RANDOM_SEED=%d", seed)
	raised := 0
	for order := range orders {
		r := rand.New(rand.NewPCG(seed, uint64(order)))
		o := &ordered{s: &Stage{}, n: Now{Time: time.Unix(1_800_000_000, 0), Window: order%4 > 0}, may: map[string]bool{}}
		for range events {
			o.happens(r)
			if o.wrong != "" {
				t.Fatalf("order %d: %s\n%v", order, o.wrong, o.trace)
			}
		}
		raised += o.raised
	}
	if raised < orders {
		t.Errorf("in %d orders something came to the front %d times: the test tries too little", orders, raised)
	}
}

// ordered is a stage, and a window that does what it says.
type ordered struct {
	s      *Stage
	n      Now
	shown  bool
	came   time.Time       // when the window came to be as it is
	may    map[string]bool // what came to the front, and whether it may do so again
	raised int
	paused bool // as the stage was told
	asked  string
	ended  bool
	trace  []string
	wrong  string
}

func (o *ordered) happens(r *rand.Rand) {
	one := func(list ...string) string { return list[r.IntN(len(list))] }
	some := one(names...)
	var e Event
	switch r.IntN(20) {
	case 0:
		o.n.Window = true
		e = Opened{}
	case 1, 2:
		waiting := [][]string{{}, {"q"}, {"q", "r"}, {"q", "r gone"}, {"q gone", "r"}, {"r gone"}}
		asked(waiting[r.IntN(len(waiting))]...)(&o.n)
		e = Changed{}
	case 3:
		o.n.Edit = one("", "edit:a", "edit:b")
		e = Changed{}
	case 4:
		o.n.Paused = r.IntN(3) == 0
		e = Changed{}
	case 5:
		if id := one("change:a", "folder:a"); o.s.Ask(item(id)) != nil {
			o.s.Over(id)
		}
		e = Changed{}
	case 6, 7, 8:
		e = ready(o.first())
	case 9:
		e = ready(some)
	case 10:
		e = Wanted{some}
		if o.n.Window {
			o.asked, o.may[some] = some, true
		}
	case 11:
		e = SettingsWanted{}
	case 12:
		e = SettingsReady{}
	case 13:
		e = HooksOffered{r.IntN(2) == 0}
	case 14:
		e = Closed{}
	case 15:
		e = EditLeft{}
	case 16:
		e = ScreenAway{r.IntN(2) == 0}
	case 17:
		e = PageSilent{}
	case 18:
		later(Guard / 2)(&o.n)
		e = Changed{}
	case 19:
		if r.IntN(20) > 0 {
			return
		}
		e = Quit{}
	}
	o.trace = append(o.trace, fmt.Sprintf("%#v", e))
	o.follow(e)
}

// first is what an honest page has on the panel.
func (o *ordered) first() string {
	v := o.s.View(o.n)
	if v.Top == "" && len(v.Waiting) > 0 {
		return v.Waiting[0].ID
	}
	return cmp.Or(v.Top, v.Edit, "q")
}

// follow does what the stage says, and holds it against what may be.
func (o *ordered) follow(e Event) {
	fails := func(bad bool, format string, args ...any) {
		if bad && o.wrong == "" {
			o.wrong = fmt.Sprintf(format, args...)
		}
	}
	if _, is := e.(Changed); is {
		o.paused = o.n.Paused
	}
	for _, c := range o.s.On(o.n, e) {
		o.trace = append(o.trace, fmt.Sprintf("  %#v", c))
		_, leaves := c.(Leave)
		fails(!o.n.Window && !leaves, "%#v without a window", c)
		switch c := c.(type) {
		case Show:
			fails(c.As == Panel && o.s.open || c.As != Panel && !o.s.open, "%#v while the settings are open: %v", c, o.s.open)
			o.shown, o.came = true, o.n.Time
		case Front:
			fails(!o.shown, "a hidden window is only brought to the front")
		case Resize:
			fails(!o.shown || o.s.open, "%#v while the window is shown: %v", c, o.shown)
		case Hide:
			o.shown = false
		case TellShown:
			later(time.Millisecond)(&o.n)
			o.s.On(o.n, Shown{})
			o.came = o.n.Time
		case Sound:
			o.front(e.(Ready).ID, fails)
		case End:
			fails(o.ended, "it ends twice")
			o.ended = true
		}
	}
	o.remember()
	fails(o.shown != o.s.View(o.n).Visible, "the window is shown: %v", o.shown)
	counting := 0
	for _, id := range names {
		if o.s.Looked(id, o.n.Time) {
			counting++
			fails(!o.shown || o.n.Time.Sub(o.came) < Guard, "%s counts: shown %v, for %v", id, o.shown, o.n.Time.Sub(o.came))
		}
	}
	if o.s.Edits() {
		counting++
		fails(!o.shown || !o.s.open, "the settings count out of sight")
	}
	fails(counting > 1, "%d things count", counting)
}

// front notes that something comes to the front, which it does once.
func (o *ordered) front(id string, fails func(bool, string, ...any)) {
	o.raised++
	came, known := o.may[id]
	fails(known && !came, "%s comes to the front twice", id)
	fails(item(id).Kind == Question && o.paused && o.asked != id, "%s comes to the front in a pause", id)
	o.may[id] = false
}

// remember lets what is over come to the front anew.
func (o *ordered) remember() {
	for id := range o.may {
		if !waits(o.n.Waiting, id) && id != o.s.PanelEdit(o.n) && id != o.s.change && id != o.s.folder {
			delete(o.may, id)
		}
	}
}
