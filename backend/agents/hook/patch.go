package hook

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// maxPatched bounds how many files one patch names.
const maxPatched = 1000

// codexPatch takes the files out of a patch, which is what its command is. The
// text stays, as the patch.
func (n *native) codexPatch() error {
	text, err := n.Args.text("command")
	if err != nil {
		return err
	}
	files, deletes, err := patchFiles(text)
	if err != nil {
		return err
	}
	if _, both := n.Args["paths"]; both {
		return errors.New("the arguments hold both a patch and paths")
	}
	if err := n.Args.rename("command", "patch"); err != nil {
		return err
	}
	n.Args.set("paths", files)
	n.Tool = fileEdit
	if deletes {
		n.Tool = fileDelete
	}
	return nil
}

// patchFiles returns the files that a patch changes, and whether it does nothing
// but delete them.
func patchFiles(text string) (files []string, deletes bool, err error) {
	lines, err := patchLines(text)
	if err != nil {
		return nil, false, err
	}
	deletes = true
	updates := false // the line may be one of the file that is updated
	for _, line := range lines {
		if updates && line != "" && strings.Contains(" +-@", line[:1]) && markerOf(line) == "" {
			continue
		}
		file, err := patchedFile(line)
		if err != nil {
			return nil, false, err
		}
		if file == "" {
			continue
		}
		marker := markerOf(line)
		deletes, updates = deletes && marker == deleteFile, marker == updateFile || marker == moveTo
		if !slices.Contains(files, file) {
			files = append(files, file)
		}
		if len(files) > maxPatched {
			return nil, false, fmt.Errorf("the patch names more than %d files", maxPatched)
		}
	}
	if len(files) == 0 {
		return nil, false, errors.New("the patch names no file")
	}
	return files, deletes, nil
}

// patchLines returns the lines between the first and the last one of a patch.
func patchLines(text string) ([]string, error) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if last := len(lines) - 1; last >= 3 && strings.HasPrefix(lines[0], "<<") && strings.HasSuffix(lines[last], "EOF") {
		lines = lines[1:last]
	}
	last := len(lines) - 1
	if last < 1 || strings.TrimSpace(lines[0]) != "*** Begin Patch" || strings.TrimSpace(lines[last]) != "*** End Patch" {
		return nil, errors.New("the patch has no *** Begin Patch and *** End Patch around it")
	}
	return lines[1:last], nil
}

// The markers that name a file.
const (
	addFile    = "*** Add File: "
	updateFile = "*** Update File: "
	moveTo     = "*** Move to: "
	deleteFile = "*** Delete File: "
)

// markerOf returns the marker of a line that names a file, "" for another line.
// The parsers of Codex take blanks before a marker, but not all of them
// everywhere; here they never matter, so that a line of a file which looks like a
// marker is one file too many.
func markerOf(line string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(line), ": ")
	switch word += ": "; word {
	case addFile, updateFile, moveTo, deleteFile:
		return word
	}
	return ""
}

// patchedFile returns the file that a line of a patch names, "" for a line that
// names none. A marker that is not known, such as the one for another machine, is
// an error.
func patchedFile(line string) (string, error) {
	text := strings.TrimSpace(line)
	if markerOf(line) == "" {
		if strings.HasPrefix(text, "***") && text != "*** End of File" {
			return "", fmt.Errorf("the patch holds a line that is not understood: %.60q", text)
		}
		return "", nil
	}
	_, name, _ := strings.Cut(strings.TrimSuffix(line, "\r"), ": ")
	if name == "" || name != strings.TrimSpace(name) || len(name) > maxPath || hasControl(name) {
		return "", errors.New("the patch names a file that has no readable name")
	}
	return name, nil
}
