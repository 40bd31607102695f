package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image/png"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"text/template"
)

// bundle is what is in the app. Window is empty where it could not be compiled.
//
// The command line is not beside the window: on most disks of a Mac, their
// names are the same.
type bundle struct {
	Version         version
	Window, Command []byte
	Profiles        profiles
}

// file is one in the app.
type file struct {
	text []byte
	mode fs.FileMode
}

// sources are the templates and pictures, from the root of the project, and
// notices the licences of what the app is made of, which build/notices packs.
const (
	sources = "build/darwin"
	notices = "backend/cmd/countersign/notices.txt.gz"
)

// write writes the app.
func (b bundle) write(app string) error {
	plist, err := fill(filepath.Join(sources, "Info.plist"), struct{ Version, Build string }{b.Version.Short, b.Version.Build})
	if err != nil {
		return err
	}
	icons, err := readIcon("build/appicon.png")
	if err != nil {
		return err
	}
	licences, err := unpack(notices)
	if err != nil {
		return err
	}
	files, err := b.commandFiles()
	if err != nil {
		return err
	}
	maps.Copy(files, map[string]file{
		"Contents/Info.plist":                 {plist, 0o644},
		"Contents/PkgInfo":                    {[]byte("APPL????"), 0o644},
		"Contents/Resources/Countersign.icns": {icons, 0o644},
		"Contents/Resources/Notices.txt":      {licences, 0o644},
		"Contents/MacOS/Countersign":          {b.Window, 0o755},
	})
	for name, file := range files {
		if len(file.text) == 0 {
			continue
		}
		path := filepath.Join(app, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, file.text, file.mode); err != nil {
			return err
		}
	}
	if _, alone := files[commandLink]; alone {
		return nil
	}
	return os.Symlink("countersign.app/Contents/MacOS/countersign", filepath.Join(app, commandLink))
}

func unpack(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		return nil, err
	}
	return io.ReadAll(r)
}

func readIcon(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	picture, err := png.Decode(f)
	if err != nil {
		return nil, err
	}
	return icns(picture)
}

// fill fills in a template.
func fill(path string, with any) ([]byte, error) {
	t, err := template.New(filepath.Base(path)).Option("missingkey=error").ParseFiles(path)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = t.Execute(&out, with)
	return out.Bytes(), err
}

// archive packs the app, with the modes of its files, and returns the SHA-256
// of the archive.
func archive(app, to string) (sum string, err error) {
	f, err := os.Create(to)
	if err != nil {
		return "", err
	}
	defer f.Close()
	hash := sha256.New()
	w := zip.NewWriter(io.MultiWriter(f, hash))
	err = filepath.WalkDir(app, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		head, err := zip.FileInfoHeader(info)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(filepath.Dir(app), path)
		if err != nil {
			return err
		}
		head.Name, head.Method = filepath.ToSlash(name), zip.Deflate
		out, err := w.CreateHeader(head)
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			to, err := os.Readlink(path)
			if err == nil {
				_, err = io.WriteString(out, to)
			}
			return err
		}
		text, err := os.ReadFile(path)
		if err == nil {
			_, err = out.Write(text)
		}
		return err
	})
	if err == nil {
		err = w.Close()
	}
	if err == nil {
		err = f.Close()
	}
	return hex.EncodeToString(hash.Sum(nil)), err
}

func writeCask(path, version, sum string) error {
	text, err := fill(filepath.Join(sources, "cask.rb"), struct{ Version, SHA256 string }{version, sum})
	if err == nil {
		err = os.WriteFile(path, text, 0o644)
	}
	if err == nil {
		fmt.Println("made:", path)
	}
	return err
}
