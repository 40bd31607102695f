package main

import (
	"reflect"
	"strings"

	"github.com/alecthomas/kong"
)

// narrow leaves out the commands that the words do not begin with: to learn all
// of them takes kong longer than most commands take. Where the first word is an
// option or a mistake, all of them are there.
func narrow(words []string) kong.Option {
	var others []string
	found := false
	for field := range reflect.TypeFor[commands]().Fields() {
		if _, command := field.Tag.Lookup("cmd"); !command {
			continue
		}
		if len(words) > 0 && words[0] == strings.ToLower(field.Name) {
			found = true
		} else {
			others = append(others, field.Name)
		}
	}
	if !found {
		return kong.IgnoreFields()
	}
	return kong.IgnoreFields(`^commands\.(` + strings.Join(others, "|") + `)$`)
}
