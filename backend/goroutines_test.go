package backend_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// bare are the goroutines and callbacks that may go without a Catch of their own,
// by the function that starts them, and why.
var bare = map[string]string{
	"agents/mcp rest":                    "it waits for a group",
	"agents/proxy Receive":               "it waits for the end of one of two, and sets a deadline",
	"agents/proxy Start":                 "it waits for a child, whose output others read",
	"agents/proxy judge":                 "the timer closes a channel, once",
	"agents/proxy settle":                "it waits for a group",
	"cmd/countersign call":               "link.Conn.Serve catches its own",
	"cmd/countersign openPersonTerminal": "it ends the program",
	"cmd/countersign runBelow":           "it signals a child",
	"history Open":                       "attempt, which does all of the work, catches its own",
	"host Start":                         "follow waits; what it does then, changed, catches its own",
	"node New":                           "it is a function of the runtime",
	"node askThere":                      "link.Conn.Serve catches its own",
	"runner add":                         "watch counts, and has the kernel tell of signals",
	"runner open":                        "it waits; what it does then, reapSafely, catches its own",
	"sandbox first":                      "it is another process, of a box, and passes signals on",
	"store Open":                         "watch and writeUsage wait; what they do then, lookOutside and flushUsage, catch their own",
}

// TestGoroutines has every goroutine, and every callback that another goroutine
// runs, begin with rescue.Catch: a panic in one of them ends the whole program.
func TestGoroutines(t *testing.T) {
	used := map[string]bool{}
	for folder, files := range packages(t, ".", "../app") {
		safe := catching(files)
		for _, file := range files {
			for _, decl := range file.Decls {
				f, is := decl.(*ast.FuncDecl)
				if !is || f.Body == nil {
					continue
				}
				name := folder + " " + f.Name.Name
				for _, start := range starts(f.Body) {
					switch {
					case covered(start, safe):
					case bare[name] != "":
						used[name] = true
					default:
						t.Errorf("%s starts what a panic would end the program in: begin it with `defer rescue.Catch(…)`, or say in the list of this test why it cannot panic", name)
					}
				}
			}
		}
	}
	for name := range bare {
		if !used[name] {
			t.Errorf("%s starts nothing bare any more: take it off the list", name)
		}
	}
}

// packages are the files of each folder that are no tests.
func packages(t *testing.T, roots ...string) map[string][]*ast.File {
	t.Helper()
	list := map[string][]*ast.File{}
	for _, root := range roots {
		err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") {
				return err
			}
			folder := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../")
			if forTests(folder) || folder == "app/apptest" {
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			list[folder] = append(list[folder], file)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(list) < 30 {
		t.Fatalf("only %d folders found: is the test in the right folder?", len(list))
	}
	return list
}

// catching are the functions and methods of a package that begin with a Catch. A
// name that several have counts where all of them do.
func catching(files []*ast.File) map[string]bool {
	safe := map[string]bool{}
	for _, file := range files {
		for _, decl := range file.Decls {
			if f, is := decl.(*ast.FuncDecl); is && f.Body != nil {
				_, before := safe[f.Name.Name]
				safe[f.Name.Name] = catches(f.Body) && (!before || safe[f.Name.Name])
			}
		}
	}
	return safe
}

// starts are what a body has other goroutines do: by go, by the Go of a group,
// and by timers and contexts.
func starts(body *ast.BlockStmt) (list []ast.Expr) {
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			list = append(list, n.Call.Fun)
		case *ast.CallExpr:
			if at, is := map[string]int{"Go": 0, "AfterFunc": 1}[calls(n)]; is && len(n.Args) == at+1 {
				list = append(list, n.Args[at])
			}
		}
		return true
	})
	return list
}

// calls is the last name of what is called.
func calls(c *ast.CallExpr) string {
	switch f := c.Fun.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		return f.Sel.Name
	}
	return ""
}

// covered reports whether what is started stops its own panics. A function named
// cancel is one of context's.
func covered(start ast.Expr, safe map[string]bool) bool {
	switch f := start.(type) {
	case *ast.FuncLit:
		return catches(f.Body) || hands(f.Body, safe)
	case *ast.CallExpr: // rescue.Guarded(…)
		return ofRescue(f)
	case *ast.Ident:
		return f.Name == "cancel" || safe[f.Name]
	case *ast.SelectorExpr:
		room, is := f.X.(*ast.Ident)
		return is && room.Name == "rescue" || safe[f.Sel.Name]
	}
	return false
}

// hands reports whether a body is, but for its defers, nothing but a call of what
// stops its own panics.
func hands(body *ast.BlockStmt, safe map[string]bool) bool {
	rest := slices.DeleteFunc(slices.Clone(body.List), func(s ast.Stmt) bool {
		_, is := s.(*ast.DeferStmt)
		return is
	})
	if len(rest) != 1 {
		return false
	}
	x, is := rest[0].(*ast.ExprStmt)
	if !is {
		return false
	}
	call, is := x.X.(*ast.CallExpr)
	return is && covered(call.Fun, safe)
}

// catches reports whether a Catch is among the defers that a body begins with.
func catches(body *ast.BlockStmt) bool {
	for _, s := range body.List {
		d, is := s.(*ast.DeferStmt)
		if !is {
			return false
		}
		if ofRescue(d.Call) {
			return true
		}
	}
	return false
}

func ofRescue(c *ast.CallExpr) bool {
	f, is := c.Fun.(*ast.SelectorExpr)
	if !is {
		return false
	}
	room, is := f.X.(*ast.Ident)
	return is && room.Name == "rescue" && slices.Contains([]string{"Catch", "Guarded"}, f.Sel.Name)
}
