package store

import (
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/paths"
)

// TestReadme: each field of the policy file and each file of the state folder
// has its words in the README.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	words := regexp.MustCompile(`[\w.-]+`).FindAllString(strings.ToLower(string(text)), -1)
	says := func(name string) {
		t.Helper()
		if !slices.Contains(words, strings.ToLower(name)) {
			t.Errorf("README.md does not know %s", name)
		}
	}
	for _, name := range slices.Concat(ruleNames, topNames, fieldNames{"version", "socket", "defaults", "agents", "displayName", "color", "acceptAnswersFrom"}) {
		says(name)
	}
	for _, one := range []any{approval.Entry{}, approval.Identity{}, approval.Link{}, approval.DenyRule{}, approval.Skill{}, approval.Project{}, approval.Approver{}, PolicySource{}} {
		typ := reflect.TypeOf(one)
		for i := range typ.NumField() {
			if name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ","); name != "-" {
				says(name)
			}
		}
	}
	state := reflect.ValueOf(paths.At("/state"))
	for i := range state.NumMethod() {
		if at, ok := state.Method(i).Call(nil)[0].Interface().(string); ok {
			says(filepath.Base(at))
		}
	}
}
