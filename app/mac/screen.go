package mac

// What is known of the screen, and what happens to it.
const (
	screenLocked    = 1 << iota
	screenElsewhere // another user's session is shown
	screenAsleep
)

const (
	heardLocked = iota
	heardUnlocked
	heardElsewhere
	heardBack
	heardAsleep
	heardAwake
)

// screenState is whether somebody else than the person may be in front of it.
type screenState int

// after returns the state after what was heard.
func (s screenState) after(heard int) screenState {
	switch heard {
	case heardLocked:
		return s | screenLocked
	case heardUnlocked:
		return s &^ screenLocked
	case heardElsewhere:
		return s | screenElsewhere
	case heardBack:
		return s &^ screenElsewhere
	case heardAsleep:
		return s | screenAsleep
	case heardAwake:
		return s &^ screenAsleep
	}
	return s
}

// screenWatch tells of the screen in the order of what is heard. It has one user.
type screenWatch struct {
	state screenState
	tell  func(away bool)
}

// begin tells how it is.
func (w *screenWatch) begin(state screenState) {
	w.state = state
	w.tell(state != 0)
}

// hear takes what happened, and tells only of a change.
func (w *screenWatch) hear(heard int) {
	before := w.state
	w.state = before.after(heard)
	if away := w.state != 0; away != (before != 0) {
		w.tell(away)
	}
}
