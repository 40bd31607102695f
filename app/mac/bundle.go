package mac

import "strings"

// bundleOf is the app that a program is the window of, "" for none.
func bundleOf(program string) string {
	app, name, inside := cutLast(program, ".app/Contents/MacOS/")
	if !inside || name == "" || strings.Contains(name, "/") {
		return ""
	}
	return app + ".app"
}

func cutLast(s, sep string) (before, after string, found bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}
