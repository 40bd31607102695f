package approval

// Privileged reports whether a program of this name gives a command more than
// the person's own rights: an entry for it counts only if it names arguments
// (judgement.md, step 4).
func Privileged(name string) bool { return name == "sudo" || name == "doas" }
