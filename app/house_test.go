package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// may says what each room of the app imports of ours, and of what draws
// windows and menus. All rooms may import floor 0 of the backend.
var may = map[string][]string{
	".":       {"app/mac", "app/menubar", "app/screen", "app/shown", "app/stage", "backend/", "frontend", "github.com/wailsapp/wails"},
	"shown":   {"backend/agents/setup", "backend/command", "backend/config", "backend/history", "backend/preview", "backend/store"},
	"menubar": {"github.com/godbus/dbus", "github.com/progrium/macdriver/core"}, // cocoa does not compile for Intel
	"mac":     {},
	"screen":  {"github.com/godbus/dbus"},
	"stage":   {},
	"apptest": {"github.com/godbus/dbus"},
}

var floor0 = []string{"approval", "descriptors", "display", "envnames", "glob", "paths", "proc", "rescue"}

func TestRooms(t *testing.T) {
	files := 0
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(name) != ".go" || strings.HasSuffix(name, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		files++
		room := filepath.ToSlash(filepath.Dir(name))
		allowed, known := may[room]
		if !known {
			t.Errorf("%s: room %q is not in the list: add it, if it is the right room", name, room)
		}
		for _, imp := range file.Imports {
			if at := strings.Trim(imp.Path.Value, `"`); !mayImport(room, allowed, at) {
				t.Errorf("%s imports %s", name, at)
			}
		}
		return nil
	})
	if err != nil || files < 15 {
		t.Errorf("%d files, %v", files, err)
	}
}

func mayImport(room string, allowed []string, at string) bool {
	if at == "C" { // cgo lives where the platform is spoken to
		return room == "menubar" || room == "mac"
	}
	local, ours := strings.CutPrefix(at, "github.com/countersign-app/countersign/")
	guarded := ours || strings.Contains(at, "wailsapp") || strings.Contains(at, "godbus") || strings.Contains(at, "macdriver")
	if !guarded {
		return true
	}
	if ours && path.Dir(local) == "backend" && slices.Contains(floor0, path.Base(local)) {
		return true
	}
	return slices.ContainsFunc(allowed, func(a string) bool {
		return local == a || strings.HasPrefix(local, a) && (strings.HasSuffix(a, "/") || !ours)
	})
}

// The page reaches these methods and no others: whatever is exported on a
// bound object can be called by whoever runs in the page.
func TestBoundMethods(t *testing.T) {
	want := map[string][]string{
		"Activity": {"Agents", "Export", "List", "Offered", "Rates", "Record", "Size", "Stops", "Suggestions"},
		"Approvals": {
			"AllowIfAsksAgain", "AllowOne", "AnswerChange", "AnswerFolder", "AnswerMany", "Decide", "DenyAlways", "DenyFor", "Dismiss", "Hold", "LeaveEdit", "Pause",
			"Ready", "Remember", "Replay", "Resume", "Screen", "StartFor", "StopEverything", "TakeOut", "TakeStartFor", "Together", "Undo", "WouldDo",
		},
		"Settings": {
			"AddDeny", "AddEntry", "AddSuggested", "AddTo", "Agents", "AllowProject", "AnswerEdit", "ApplyHook", "ChangeEntry", "Choose", "ChooseImport",
			"Entries", "ExportAllowlist", "Forget", "Hooks", "Host", "KeepOffered", "LeaveFirstRun", "Lists", "OpenPermission", "Permissions", "PlanHook", "Policy", "Preferences", "Preview", "ReadEnvironment", "Ready",
			"RemoveDeny", "RemoveEntry",
			"RemoveFrom", "RequestPermission", "Restart", "SetAnswersFrom", "SetMode", "SetPreferences", "SetWord", "Standing", "Start", "SwitchEntry", "TakeImport",
			"Try", "TryHook", "TurnDown", "Undo", "Warnings",
		},
	}
	for _, bound := range []any{&Activity{}, &Approvals{}, &Settings{}} {
		typ := reflect.TypeOf(bound)
		var methods []string
		for i := range typ.NumMethod() {
			methods = append(methods, typ.Method(i).Name)
		}
		if name := typ.Elem().Name(); !slices.Equal(methods, want[name]) {
			t.Errorf("the page can call of %s: %v", name, methods)
		}
	}
	text, err := os.ReadFile("window.go")
	if err != nil {
		t.Fatal(err)
	}
	if got := regexp.MustCompile(`Bind:\s*(.*),\n`).FindSubmatch(text); got == nil || string(got[1]) != "[]any{a.activity, a.approvals, a.settings}" {
		t.Errorf("bound to the page: %s", got)
	}
}

// The variables of WebKit's inspector are taken away before anything else.
func TestInspectorComesFirst(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "main.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Name.Name == "main" {
			call := f.Body.List[0].(*ast.ExprStmt).X.(*ast.CallExpr)
			if call.Fun.(*ast.Ident).Name != "closeInspector" {
				t.Error("main begins with something else")
			}
		}
	}
	for _, name := range []string{"WEBKIT_INSPECTOR_SERVER", "WEBKIT_INSPECTOR_HTTP_SERVER"} {
		t.Setenv(name, "127.0.0.1:1")
	}
	closeInspector()
	for _, kv := range os.Environ() {
		if strings.HasPrefix(kv, "WEBKIT_INSPECTOR") {
			t.Errorf("%s is still there", kv)
		}
	}
}

// TestPlatforms vets the app, as far as it is built without a window, for the
// other platforms.
func TestPlatforms(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: -short leaves the other platforms out")
	}
	for _, platform := range []string{"darwin/arm64", "windows/amd64", "linux/arm64"} {
		system, arch, _ := strings.Cut(platform, "/")
		cmd := exec.Command("go", "vet", "./...", "../frontend")
		cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", platform, err, out)
		}
	}
}
