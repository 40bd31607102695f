package main

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// bundled has vite build the page, and prints the files that went into it.
//
//go:embed bundled.mjs
var bundled string

const ofPage = "What the page of its window is made of"

// inPage writes the terms of the packages in the page.
func inPage(root string) (string, error) {
	parts, err := packages(root)
	if err != nil {
		return "", err
	}
	return section(ofPage, parts, filepath.Join(root, "build/notices/kept"))
}

// packages returns each package of which a file is in the page.
func packages(root string) ([]part, error) {
	frontend, err := filepath.Abs(filepath.Join(root, "frontend"))
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("node", "--input-type=module", "-")
	cmd.Dir, cmd.Stdin, cmd.Stderr = frontend, strings.NewReader(bundled), os.Stderr
	cmd.Env = append(os.Environ(), "VITEST=", "NODE_ENV=production")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("vite cannot build the page (see make setup): %w", err)
	}
	var files []string
	if err := json.Unmarshal(out, &files); err != nil {
		return nil, err
	}
	if frontend, err = filepath.EvalSymlinks(frontend); err != nil {
		return nil, err
	}
	return partsOf(files, frontend, filepath.Join(frontend, "package-lock.json"))
}

const installed = "/node_modules/"

// partsOf returns the packages that files are of, with the versions of a lock
// file.
func partsOf(files []string, own, lock string) ([]part, error) {
	text, err := os.ReadFile(lock)
	if err != nil {
		return nil, err
	}
	var locked struct {
		Packages map[string]struct{ Version string }
	}
	if err := json.Unmarshal(text, &locked); err != nil {
		return nil, err
	}
	found := map[string]part{}
	for _, file := range files {
		file, _, _ = strings.Cut(filepath.ToSlash(file), "?")
		at := strings.LastIndex(file, installed)
		switch {
		case at < 0 && strings.HasPrefix(file, filepath.ToSlash(own)+"/"):
			continue
		case at < 0:
			return nil, fmt.Errorf("%q is in the page, and nobody knows whose it is", file)
		}
		words := strings.Split(file[at+len(installed):], "/")
		name := words[0]
		if strings.HasPrefix(name, "@") && len(words) > 1 {
			name += "/" + words[1]
		}
		root := file[:at] + installed + name
		key := root[strings.Index(root, installed)+1:] // a package may have packages of its own
		version := locked.Packages[key].Version
		if version == "" {
			return nil, fmt.Errorf("%s is in the page and not in package-lock.json", key)
		}
		p, known := found[key]
		if !known {
			if err := sameVersion(root, version); err != nil {
				return nil, err
			}
			p = part{name, version, filepath.FromSlash(root), map[string]bool{}}
			found[key] = p
		}
		p.dirs[filepath.Dir(filepath.FromSlash(file))] = true
	}
	return slices.Collect(maps.Values(found)), nil
}

// sameVersion tells that what is installed is what the lock file says.
func sameVersion(root, version string) error {
	text, err := os.ReadFile(filepath.Join(filepath.FromSlash(root), "package.json"))
	if err != nil {
		return err
	}
	var own struct{ Version string }
	if err := json.Unmarshal(text, &own); err != nil {
		return err
	}
	if own.Version != version {
		return fmt.Errorf("%s is installed in version %s, package-lock.json says %s: run make setup", filepath.Base(root), own.Version, version)
	}
	return nil
}
