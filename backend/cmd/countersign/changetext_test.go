package main

import "testing"

// TestChangeText: a change in columns, in two lines each where there is little
// room, and in plain letters where the terminal knows no others.
func TestChangeText(t *testing.T) {
	const text = "Your rules would change in 3 lines.\n\nlooser\tcodex\tMode: Ask always → Allow all\ntighter\ta\tAdds denial: rm…\n\nundoes\tevery agent\tRemoves denial: curl\n\nAsked by x"
	for name, row := range map[string]struct {
		width int
		utf8  bool
		want  string
	}{
		"wide": {80, true, `Your rules would change in 3 lines.

  looser   codex        Mode: Ask always → Allow all
  tighter  a            Adds denial: rm…

  undoes   every agent  Removes denial: curl

Asked by x`},
		"narrow, without UTF-8": {59, false, `Your rules would change in 3 lines.

  looser   codex
    Mode: Ask always -> Allow all
  tighter  a
    Adds denial: rm...

  undoes   every agent
    Removes denial: curl

Asked by x`},
	} {
		if got := laidOut(text, row.width, row.utf8); got != row.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, row.want)
		}
	}
	for text, want := range map[string]string{
		text:                             "Passphrase to accept 2 changes: ",
		"looser\ta\tx":                   "Passphrase to accept 1 change: ",
		"  Ends the pause\n\nAsked by x": "Passphrase to accept this: ",
		"tighter\ta\tx\nlooser\ta\tb\tc": "Passphrase to accept this: ",
	} {
		if got := passphraseFor(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
	for env, want := range map[[3]string]bool{
		{"", "", "en_US.UTF-8"}: true, {"C", "", "en_US.UTF-8"}: false, {"", "de_DE.utf8", "C"}: true, {"", "", ""}: false,
	} {
		if got := knowsUTF8(func(name string) string {
			return env[map[string]int{"LC_ALL": 0, "LC_CTYPE": 1, "LANG": 2}[name]]
		}); got != want {
			t.Errorf("%q: %v", env, got)
		}
	}
}
