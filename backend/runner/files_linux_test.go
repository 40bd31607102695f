package runner

import (
	"os"
	"path/filepath"
	"testing"
)

// However a folder is named, its path is the one that the kernel knows.
func TestOpenFolderKnowsItsRealPath(t *testing.T) {
	top := scratch(t)
	folder := filepath.Join(top, "real")
	must(t, os.MkdirAll(filepath.Join(folder, "sub"), 0o755))
	must(t, os.Symlink(folder, filepath.Join(top, "link")))
	must(t, os.WriteFile(filepath.Join(top, "file"), nil, 0o755))
	from, err := openFolder(nil, top)
	must(t, err)
	defer from.close()
	for name, want := range map[string]string{
		folder: folder, folder + "/": folder, folder + "/.": folder, folder + "/sub/..": folder, "/": "/", "//": "/",
		filepath.Join(top, "link"): folder, filepath.Join(top, "link", "sub"): filepath.Join(folder, "sub"),
		"real": folder, "link": folder, ".": top, "link/..": top, "link/sub": filepath.Join(folder, "sub"),
		filepath.Join(top, "file"): "", "file": "", "nope": "", filepath.Join(top, "nope"): "", "": "",
	} {
		got, err := openFolder(from, name)
		if want == "" {
			if err == nil {
				t.Errorf("%q: opened as %q", name, got.path)
				got.close()
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", name, err)
			continue
		}
		if kernel, err := realPath(got.fd); err != nil || got.path != kernel || got.path != want {
			t.Errorf("%q: %q, want %q; the kernel says %q (%v)", name, got.path, want, kernel, err)
		}
		got.close()
	}
}

func BenchmarkOpenFolder(b *testing.B) {
	dir := scratch(b)
	b.ReportAllocs()
	for b.Loop() {
		f, err := openFolder(nil, dir)
		if err != nil {
			b.Fatal(err)
		}
		f.close()
	}
}
