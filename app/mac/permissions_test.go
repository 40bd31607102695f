package mac

import (
	"encoding/xml"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestPermissions holds the table against the property list of the app: a usage
// string for each that needs one, and no other.
func TestPermissions(t *testing.T) {
	usage := usageStrings(t)
	seen := map[string]bool{}
	for _, p := range Permissions {
		if p.ID == "" || seen[p.ID] || p.Title == "" || p.Purpose == "" || !strings.HasPrefix(URL(p.ID), "x-apple.systempreferences:com.apple.") {
			t.Errorf("%+v %s", p, URL(p.ID))
		}
		seen[p.ID] = true
		for _, key := range p.Usage {
			if usage[key] == "" {
				t.Errorf("%s: %s is not in Info.plist", p.ID, key)
			}
			delete(usage, key)
		}
	}
	for key := range usage {
		t.Errorf("Info.plist has %s, which is no permission of the table", key)
	}
	if find(ScreenRecording) == nil || len(Permissions) != 20 {
		t.Error(len(Permissions), "permissions")
	}
	for _, id := range []string{"", "no-such", "Camera"} {
		if Look(id) != Unknown || URL(id) != "" || Request(id) == nil || OpenSettings(id) == nil {
			t.Errorf("%q is known", id)
		}
	}
}

// usageStrings are the keys of Info.plist that say what something is for.
func usageStrings(t *testing.T) map[string]string {
	t.Helper()
	f, err := os.Open("../../build/darwin/Info.plist")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	found, key, in := map[string]string{}, "", ""
	for d := xml.NewDecoder(f); ; {
		token, err := d.Token()
		if err == io.EOF {
			return found
		}
		if err != nil {
			t.Fatal(err)
		}
		switch x := token.(type) {
		case xml.StartElement:
			in = x.Name.Local
		case xml.EndElement:
			in = ""
		case xml.CharData:
			if in == "key" {
				key = string(x)
			}
			if in == "string" && strings.HasSuffix(key, "UsageDescription") {
				found[key] += string(x)
			}
		}
	}
}

// TestStates is what the codes of macOS mean (their headers).
func TestStates(t *testing.T) {
	for _, row := range []struct {
		what string
		of   func(int) State
		want map[int]State
	}{
		{"yes or no", yesNo, map[int]State{0: Missing, 1: Granted}},
		{"authorization", status, map[int]State{0: Undecided, 1: Restricted, 2: Denied, 3: Granted, 4: Granted, 5: Unknown, -1: Unknown}},
		{"events", events, map[int]State{0: Undecided, 1: Restricted, 2: Denied, 3: Granted, 4: Missing, 5: Unknown}},
		{"notifications", notifying, map[int]State{0: Undecided, 1: Denied, 2: Granted, 3: Granted, 4: Granted, 5: Unknown, -1: Unknown}},
		{"automation", automating, map[int]State{0: Granted, -1743: Denied, -1744: Undecided, -600: Unknown, 1: Unknown}},
	} {
		for code, want := range row.want {
			if got := row.of(code); got != want {
				t.Errorf("%s %d: %s, want %s", row.what, code, got, want)
			}
		}
	}
}

// Each permission that macOS can be asked about is in the table of the file that
// asks, and in both places of the one that is asked.
func TestEachIsAsked(t *testing.T) {
	goFile, err := os.ReadFile("permissions_darwin.go")
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile("permissions_darwin.m")
	if err != nil {
		t.Fatal(err)
	}
	table := map[string]string{}
	for _, row := range regexp.MustCompile(`(?m)^\t("[a-z-]+"|ScreenRecording): +\{C\.(CS\w+), \w+\},$`).FindAllStringSubmatch(string(goFile), -1) {
		id := strings.Trim(row[1], `"`)
		if id == "ScreenRecording" {
			id = ScreenRecording
		}
		table[id] = row[2]
	}
	for _, p := range Permissions {
		name, asked := table[p.ID]
		if asked != p.Asks {
			t.Errorf("%s: asked about in permissions_darwin.go: %v, it can be: %v", p.ID, asked, p.Asks)
		}
		if n := strings.Count(string(file), "case "+name+":"); asked && n != 2 {
			t.Errorf("%s: %d cases in permissions_darwin.m, want its state and its request", p.ID, n)
		}
		delete(table, p.ID)
	}
	if len(table) > 0 {
		t.Errorf("nobody shows %v", table)
	}
}

func TestAtLogin(t *testing.T) {
	on, off := true, false
	for status, want := range map[int]*bool{0: &off, 1: &on, 2: &off, 3: &off, 4: nil, -1: nil} {
		if atLogin(status, "/opt/Countersign") != nil {
			t.Errorf("%d without a bundle: it could open at login", status)
		}
		if got := atLogin(status, "/Applications/Countersign.app/Contents/MacOS/Countersign"); (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%d: %v", status, got)
		}
	}
	if approval(true, 2) == nil || approval(true, 1) != nil || approval(false, 2) != nil || approval(false, 0) != nil {
		t.Error("who is to approve what?")
	}
}
