package shown

// Permissions is the page of what macOS lets the app and its commands do.
type Permissions struct {
	// List is empty where nothing of that is needed.
	List []Permission `json:"list"`
	// AdHoc tells that nobody signed the app, Translocated that it runs from a
	// place that changes: macOS forgets what was granted.
	AdHoc        bool `json:"adHoc,omitempty"`
	Translocated bool `json:"translocated,omitempty"`
}

// Permission is one of them.
type Permission struct {
	ID      string `json:"id"`
	Title   string `json:"title"`
	Purpose string `json:"purpose"`
	// State is "granted", "denied", "missing", "undecided", "restricted" or
	// "unknown".
	State string `json:"state"`
	// Asks tells that macOS can ask the person for it.
	Asks bool `json:"asks,omitempty"`
	// Stale tells that System Settings still shows it as granted, to an earlier
	// build.
	Stale bool `json:"stale,omitempty"`
}
