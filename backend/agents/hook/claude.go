package hook

// TODO: to be written by its owner today.
func claudeCode() Agent { return Agent{Name: "claude-code"} }
