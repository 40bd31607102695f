package hook

// TODO: to be written by its owner today.
func opencode() Agent { return Agent{Name: "opencode"} }
