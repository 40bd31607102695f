package hook

import "testing"

// FuzzRead: hostile input is an error or a sound call, for every agent, and no
// answer to it lets something run that was not allowed.
func FuzzRead(f *testing.F) {
	for i, a := range Agents() {
		for _, g := range goldens(f, a.Name) {
			f.Add(byte(i), g.input())
		}
		for _, text := range []string{"", "{", "null", "[]", `{"tool_input":{"command":1}}`, `{"a":1,"a":2}`, "{}{}"} {
			f.Add(byte(i), []byte(text))
		}
	}
	agents := Agents()
	f.Fuzz(func(t *testing.T, which byte, input []byte) {
		a := agents[int(which)%len(agents)]
		if err := sound(a, input); err != nil {
			t.Errorf("%s: %v\n%.2000q", a.Name, err, input)
		}
	})
}
