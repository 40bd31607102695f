package main

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

// version is that of the program: Short is three numbers, Build the number of
// commits, and Full what the program says of itself.
type version struct{ Short, Build, Full string }

var released = regexp.MustCompile(`^v?([0-9]+\.[0-9]+\.[0-9]+)`)

// versionOf reads the version from git. Before the first release it is 0.0.0.
func versionOf(folder string) (v version, err error) {
	git := func(words ...string) string {
		cmd := exec.Command("git", words...)
		cmd.Dir, cmd.Stderr = folder, os.Stderr
		out, failed := cmd.Output()
		err = errors.Join(err, failed)
		return strings.TrimSpace(string(out))
	}
	v = version{"0.0.0", git("rev-list", "--count", "HEAD"), git("describe", "--tags", "--always", "--dirty")}
	if tag := released.FindStringSubmatch(v.Full); tag != nil {
		v.Short = tag[1]
	}
	return v, err
}

// minimum is the oldest macOS that the app starts on. Info.plist says the same.
const minimum = "13.0"

// forMinimum has C compiled and linked for the oldest macOS. Its variable
// MACOSX_DEPLOYMENT_TARGET would not do: Go does not tell apart what it
// compiled under another value, and takes that from its cache. The first two
// flags are Go's own default.
var forMinimum = []string{"CGO_CFLAGS=-O2 -g -mmacosx-version-min=" + minimum, "CGO_LDFLAGS=-O2 -g -mmacosx-version-min=" + minimum}

// both are the kinds of Mac.
var both = []string{"arm64", "amd64"}

// compile compiles a program for kinds of Mac, as one file.
func compile(pkg string, v version, window bool, kinds []string) ([]byte, error) {
	dir, err := os.MkdirTemp("", "bundle")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var programs [][]byte
	for _, arch := range kinds {
		out := filepath.Join(dir, arch)
		words := []string{"build", "-trimpath", "-ldflags", "-s -w -X main.version=" + v.Full, "-o", out}
		cgo, tags := "0", "nethttpomithttp2"
		if hasApple { // both reach the Keychain
			cgo = "1"
		}
		if window {
			cgo, tags = "1", "desktop,production"
		}
		cmd := exec.Command("go", append(words, "-tags", tags, pkg)...)
		cmd.Env = append(append(os.Environ(), "GOOS=darwin", "GOARCH="+arch, "CGO_ENABLED="+cgo), forMinimum...)
		cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
		if err := cmd.Run(); err != nil {
			return nil, fmt.Errorf("cannot compile %s for %s: %w", pkg, arch, err)
		}
		text, err := os.ReadFile(out)
		if err != nil {
			return nil, err
		}
		programs = append(programs, text)
	}
	if len(programs) == 1 {
		return programs[0], nil
	}
	return fat(programs...)
}

// fat joins programs of one word size and byte order in one file (mach-o/fat.h).
func fat(programs ...[]byte) ([]byte, error) {
	const (
		magic       = 0xcafebabe
		align       = 14 // pages of 16 KiB, which arm64 wants
		thin        = 0xfeedfacf
		entry, head = 20, 8
	)
	var out bytes.Buffer
	at := uint32(head + entry*len(programs))
	words := []uint32{magic, uint32(len(programs))}
	for _, p := range programs {
		if len(p) < 32 || binary.LittleEndian.Uint32(p) != thin {
			return nil, errors.New("what was compiled is no program of macOS with 64 bits")
		}
		at = (at + 1<<align - 1) &^ (1<<align - 1)
		words = append(words, binary.LittleEndian.Uint32(p[4:]), binary.LittleEndian.Uint32(p[8:]), at, uint32(len(p)), align)
		at += uint32(len(p))
	}
	for _, w := range words {
		_ = binary.Write(&out, binary.BigEndian, w) // a buffer takes everything
	}
	for i, p := range programs {
		out.Write(bytes.Repeat([]byte{0}, int(words[2+5*i+2])-out.Len()))
		out.Write(p)
	}
	return out.Bytes(), nil
}
