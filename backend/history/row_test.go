package history

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestSchemaAndRowHaveTheSameColumns(t *testing.T) {
	d := open(t, Options{Path: path(t)})
	if err := d.Sync(within(t)); err != nil {
		t.Fatal(err)
	}
	found, err := d.file.reader.Query("SELECT name FROM pragma_table_info('runs')")
	if err != nil {
		t.Fatal(err)
	}
	defer found.Close()
	var inSchema []string
	for found.Next() {
		var name string
		if err := found.Scan(&name); err != nil {
			t.Fatal(err)
		}
		inSchema = append(inSchema, name)
	}
	names := columnNames()
	first, later := names[:len(names)-4], names[len(names)-4:] // those of schemas 3 and 5
	want := slices.Concat([]string{"n", "queued"}, first, []string{"link", "chain"}, later)
	if !slices.Equal(inSchema, want) {
		t.Errorf("the schema has\n%s\nRow.columns has\n%s", inSchema, want)
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
