package history

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestSchemaAndRowHaveTheSameColumns(t *testing.T) {
	var inSchema []string
	for line := range strings.Lines(schema) {
		if words := strings.Fields(line); strings.HasPrefix(line, "\t") {
			inSchema = append(inSchema, words[0])
		}
	}
	want := slices.Concat([]string{"n", "queued"}, columnNames())
	if !slices.Equal(inSchema, want) {
		t.Errorf("schema.sql has\n%s\nRow.columns has\n%s", inSchema, want)
	}
}

func TestStateIsClosed(t *testing.T) {
	for text, ok := range map[string]bool{
		`"waiting"`: true, `"running"`: true, `"done"`: true, `"denied"`: true,
		`""`: false, `"Done"`: false, `"done "`: false, `"allowed"`: false, `7`: false,
	} {
		var s State
		if err := json.Unmarshal([]byte(text), &s); (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
	}
}
