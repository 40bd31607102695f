package hook

// TODO: to be written by its owner today.
func vscode() Agent { return Agent{Name: "vscode"} }
