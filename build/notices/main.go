// Command notices writes under which terms others gave us what our programs are
// made of: Go, the modules that are linked into the app and into the command
// line, and the packages that are in the page of the window.
//
// It asks the tools that build us: go list for the modules, with the tags and
// for the systems that we build for, and vite for the packages. The texts come
// from the folders that were built from. What comes without a text has one in
// the folder kept.
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
)

// written is the packed text, from the root of the project. The command line
// embeds it, and build/bundle puts it into the app.
const written = "backend/cmd/countersign/notices.txt.gz"

func main() {
	if err := write("."); err != nil {
		fmt.Fprintln(os.Stderr, "notices:", err)
		os.Exit(1)
	}
}

func write(root string) error {
	programs, err := inPrograms(root)
	if err != nil {
		return err
	}
	page, err := inPage(root)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := w.Write([]byte(programs + page)); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(root, written), packed.Bytes(), 0o644)
}
