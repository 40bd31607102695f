//go:build !darwin

package setup

// vscodeSettings are the folders of VS Code's settings in a home.
func vscodeSettings() []string {
	return []string{".config/Code/User", ".config/Code - Insiders/User"}
}
