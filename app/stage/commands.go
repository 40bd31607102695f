package stage

// Command is one thing to do. Those of one event are done in their order, before
// the next event is told.
type Command any

type (
	// Show brings the window to the front in the middle of the screen, above others
	// if Top. Height is what the page wants, which only a Panel follows.
	Show struct {
		As     Form
		Height int
		Top    bool
	}
	// Front brings a window that is shown to the front where it is.
	Front struct{ Top bool }
	// Resize gives the panel, which is shown, another height.
	Resize struct{ Height int }
	Hide   struct{}
	// TakeKeyboard gives the window the keyboard: a person asked to see it.
	TakeKeyboard struct{}
	// TellShown has Shown told now, when the window is as it is to be.
	TellShown struct{}
	// Sound plays the sound of a question.
	Sound struct{}

	// TellScreen has the page ask what to show, and TellOpen show this question.
	TellScreen struct{}
	TellOpen   struct{ ID string }
	// AwaitSettings has SettingsReady told in a while, if the page does not say it.
	AwaitSettings struct{}
	// ExpectPage has a page that shows no question in time be taken for dead, or
	// no more.
	ExpectPage struct{ On bool }

	// Leave ends what Ask put on the panel, without an answer.
	Leave struct{ ID string }
	// End ends the window, and with it the app.
	End struct{}
)

// Form is what the window is.
type Form int

const (
	Panel Form = iota
	Settings
	FirstRun
)
