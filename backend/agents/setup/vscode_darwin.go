package setup

// vscodeSettings are the folders of VS Code's settings in a home.
func vscodeSettings() []string {
	return []string{"Library/Application Support/Code/User", "Library/Application Support/Code - Insiders/User"}
}
