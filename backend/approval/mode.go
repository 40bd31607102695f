package approval

// Mode is how people are told a pair of Security and Ask.
type Mode struct {
	ID, Title string
	Security  Security
	Ask       Ask
}

// Modes are the pairs that have a name.
var Modes = []Mode{
	{"deny", "Deny", SecurityDeny, AskOff},
	{"ask-always", "Ask always", SecurityList, AskAlways},
	{"ask-when-needed", "Ask when needed", SecurityList, AskOnMiss},
	{"only-listed", "Only listed", SecurityList, AskOff},
	{"allow-all", "Allow all", SecurityFull, AskOff},
}
