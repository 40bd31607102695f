package main

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// part is something of others that is in what we give away.
type part struct {
	name, version string
	root          string          // its folder on this disk
	dirs          map[string]bool // the folders in it that we use
}

// terms are names of files that say under which terms something is given.
var terms = regexp.MustCompile(`(?i)^(licen[cs]e|unlicense|copying|copyright|notice|patents)([-._].*)?$`)

// code has such names, too.
var code = regexp.MustCompile(`\.(go|[cm]?[jt]s|h|m|s)$`)

// texts returns the terms of a part: those of its root, and those of the
// folders that lead from there to what we use. Names are from its root.
func (p part) texts(kept string) (map[string]string, error) {
	folders := map[string]bool{p.root: true}
	for dir := range p.dirs {
		for ; strings.HasPrefix(dir, p.root+string(filepath.Separator)); dir = filepath.Dir(dir) {
			folders[dir] = true
		}
	}
	found := map[string]string{}
	for dir := range folders {
		if err := read(dir, p.root, found); err != nil {
			return nil, err
		}
	}
	ofRoot := func(name string) bool { return !strings.Contains(name, "/") }
	if !slices.ContainsFunc(slices.Collect(maps.Keys(found)), ofRoot) {
		if err := read(filepath.Join(kept, p.name), filepath.Join(kept, p.name), found); err != nil {
			return nil, fmt.Errorf("%s comes without its terms, and has none in build/notices/kept", p.name)
		}
	}
	return found, nil
}

// read adds the terms of one folder.
func read(dir, root string, found map[string]string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if name := entry.Name(); entry.IsDir() || !terms.MatchString(name) || code.MatchString(name) {
			continue
		}
		name := filepath.Join(dir, entry.Name())
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		short, err := filepath.Rel(root, name)
		if err != nil {
			return err
		}
		found[filepath.ToSlash(short)] = tidy(text)
	}
	return nil
}

// blanks end a line without being seen.
var blanks = regexp.MustCompile(`[ \t\r]+\n`)

// tidy makes texts the same that differ in nothing that is seen.
func tidy(text []byte) string {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	return strings.Trim(blanks.ReplaceAllString(string(text)+"\n", "\n"), "\n")
}

const (
	thick = "================================================================================\n"
	thin  = "--------------------------------------------------------------------------------\n"
)

// section writes the terms of parts, each text once below the names of all that
// have it.
func section(title string, parts []part, kept string) (string, error) {
	names := map[string][]string{}
	for _, p := range parts {
		texts, err := p.texts(kept)
		if err != nil {
			return "", err
		}
		for file, text := range texts {
			if text == "" {
				return "", fmt.Errorf("%s: %s is empty", p.name, file)
			}
			names[text] = append(names[text], strings.TrimSpace(p.name+" "+p.version)+" ("+file+")")
		}
	}
	for text, list := range names {
		slices.Sort(list)
		names[text] = slices.Compact(list) // a package may be there twice
	}
	texts := slices.SortedFunc(maps.Keys(names), func(a, b string) int { return strings.Compare(names[a][0], names[b][0]) })
	var out strings.Builder
	out.WriteString(thick + title + "\n" + thick)
	for i, text := range texts {
		if i > 0 {
			out.WriteString(thin)
		}
		out.WriteString("\n" + strings.Join(names[text], "\n") + "\n\n" + text + "\n\n")
	}
	return out.String(), nil
}
