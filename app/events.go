package main

// Events tell the page that something changed; it then asks for what is there
// now. Only wailsWindow sends them.
const (
	eventScreen = "screen" // the questions, or what the window is for
	eventPolicy = "policy" // the policy, its use, or the host
	eventOpen   = "open"   // show the question with this id
)
