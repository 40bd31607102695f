package main

import (
	"archive/zip"
	"bytes"
	"debug/macho"
	"encoding/binary"
	"encoding/xml"
	"image"
	"image/png"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// program is a program of macOS without anything in it.
func program(cpu uint32) []byte {
	var text []byte
	for _, word := range []uint32{0xfeedfacf, cpu, 0, uint32(macho.TypeExec), 0, 0, 0, 0} {
		text = binary.LittleEndian.AppendUint32(text, word)
	}
	return append(text, "its code"...)
}

const arm64, amd64 = 0x0100000c, 0x01000007

// TestLayout writes an app and looks at it as macOS does.
func TestLayout(t *testing.T) {
	t.Chdir("../..")
	app := filepath.Join(t.TempDir(), "Countersign.app")
	both, err := fat(program(arm64), program(amd64))
	must(t, err)
	b := bundle{Version: version{"1.2.3", "45", "v1.2.3-6-gabc"}, Window: both, Command: both}
	must(t, b.write(app))
	want := map[string]fs.FileMode{
		"Contents/Info.plist": 0o644, "Contents/PkgInfo": 0o644, "Contents/Resources/Countersign.icns": 0o644, "Contents/Resources/Notices.txt": 0o644, "Contents/MacOS/Countersign": 0o755, "Contents/Helpers/countersign": 0o755,
	}
	sum, err := archive(app, app+".zip")
	must(t, err)
	if len(sum) != 64 {
		t.Error(sum)
	}
	packed, err := zip.OpenReader(app + ".zip")
	must(t, err)
	defer packed.Close()
	if len(packed.File) != len(want) {
		t.Error(len(packed.File), "files are packed")
	}
	for _, f := range packed.File {
		name, inside := strings.CutPrefix(f.Name, "Countersign.app/")
		info, err := os.Stat(filepath.Join(app, name))
		if err != nil || !inside || f.Mode().Perm() != want[name] || info.Mode().Perm() != want[name] {
			t.Errorf("%s: %v packed, %v", f.Name, f.Mode(), err)
		}
	}
	values := readPlist(t, filepath.Join(app, "Contents/Info.plist"))
	for key, want := range map[string]string{
		"CFBundleExecutable": "Countersign", "CFBundleIdentifier": "app.countersign.Countersign", "CFBundleIconFile": "Countersign", "CFBundlePackageType": "APPL",
		"CFBundleShortVersionString": "1.2.3", "CFBundleVersion": "45", "LSMinimumSystemVersion": minimum, "LSUIElement": "true",
	} {
		if values[key] != want {
			t.Errorf("%s is %q", key, values[key])
		}
	}
	licences, err := os.ReadFile(filepath.Join(app, "Contents/Resources/Notices.txt"))
	must(t, err)
	for _, name := range []string{"Go", "github.com/wailsapp/wails/v2", "github.com/progrium/macdriver", "modernc.org/sqlite", "svelte"} {
		if !bytes.Contains(licences, []byte("\n"+name+" ")) {
			t.Errorf("Notices.txt says nothing of %s", name)
		}
	}
	// Without the window there is no file in its place.
	b.Window = nil
	must(t, os.RemoveAll(app))
	must(t, b.write(app))
	if _, err := os.Stat(filepath.Join(app, "Contents/MacOS")); err == nil {
		t.Error("an empty window was written")
	}
}

// What is in the app is what it says to the program file, too.
func TestFileKnowsThem(t *testing.T) {
	tool, err := exec.LookPath("file")
	if err != nil {
		t.Skip("skipped: there is no program file")
	}
	t.Chdir("../..")
	app := filepath.Join(t.TempDir(), "Countersign.app")
	both, err := fat(program(arm64), program(amd64))
	must(t, err)
	must(t, bundle{Version: version{"1.2.3", "45", "x"}, Window: both, Command: both}.write(app))
	_, err = archive(app, app+".zip")
	must(t, err)
	for name, want := range map[string]string{
		"/Contents/MacOS/Countersign": "Mach-O universal binary with 2 architectures", "/Contents/Helpers/countersign": "Mach-O universal binary with 2 architectures",
		"/Contents/Resources/Countersign.icns": "Mac OS X icon", "/Contents/Info.plist": "XML 1.0 document", ".zip": "Zip archive data",
	} {
		out, err := exec.Command(tool, "-b", app+name).Output()
		if err != nil || !strings.Contains(string(out), want) {
			t.Errorf("%s: %q, %v, want %q", name, out, err, want)
		}
	}
}

// readPlist reads the values of a property list with one level.
func readPlist(t *testing.T, path string) map[string]string {
	t.Helper()
	f, err := os.Open(path)
	must(t, err)
	defer f.Close()
	values, key, in := map[string]string{}, "", ""
	for d := xml.NewDecoder(f); ; {
		token, err := d.Token()
		if err == io.EOF {
			return values
		}
		must(t, err)
		switch x := token.(type) {
		case xml.StartElement:
			if in = x.Name.Local; in == "true" || in == "false" {
				values[key] = in
			}
		case xml.EndElement:
			in = ""
		case xml.CharData:
			switch text := string(x); in {
			case "key":
				if key = text; values[key] != "" {
					t.Errorf("%s comes twice", key)
				}
			case "string":
				values[key] += text
			}
		}
	}
}

// TestEntitlements names just what the usage strings are about.
func TestEntitlements(t *testing.T) {
	plist, rights := readPlist(t, "../darwin/Info.plist"), readPlist(t, "../darwin/entitlements.plist")
	for right, usage := range map[string]string{
		"com.apple.security.automation.apple-events": "NSAppleEventsUsageDescription", "com.apple.security.device.audio-input": "NSMicrophoneUsageDescription",
		"com.apple.security.device.camera": "NSCameraUsageDescription", "com.apple.security.personal-information.addressbook": "NSContactsUsageDescription",
		"com.apple.security.personal-information.calendars": "NSCalendarsUsageDescription", "com.apple.security.personal-information.photos-library": "NSPhotoLibraryUsageDescription",
		"com.apple.security.personal-information.location": "NSLocationUsageDescription",
	} {
		if rights[right] != "true" || plist[usage] == "" {
			t.Errorf("%s is %q, %s is %q", right, rights[right], usage, plist[usage])
		}
		delete(rights, right)
	}
	if len(rights) > 0 {
		t.Error("there are more rights:", rights)
	}
}

func TestFat(t *testing.T) {
	text, err := fat(program(arm64), program(amd64))
	must(t, err)
	f, err := macho.NewFatFile(bytes.NewReader(text))
	must(t, err)
	var cpus []macho.Cpu
	for _, a := range f.Arches {
		cpus = append(cpus, a.Cpu)
		if a.Offset%(16<<10) != 0 {
			t.Errorf("%s begins at %d", a.Cpu, a.Offset)
		}
	}
	if !slices.Equal(cpus, []macho.Cpu{macho.CpuArm64, macho.CpuAmd64}) {
		t.Error(cpus)
	}
	for _, bad := range [][]byte{nil, []byte("#!/bin/sh\n"), bytes.Repeat([]byte{0xca}, 100), text} {
		if _, err := fat(bad); err == nil {
			t.Errorf("%.10q is taken for a program", bad)
		}
	}
}

func TestIcns(t *testing.T) {
	text, err := readIcon("../appicon.png")
	must(t, err)
	if string(text[:4]) != "icns" || int(binary.BigEndian.Uint32(text[4:])) != len(text) {
		t.Fatalf("%q", text[:8])
	}
	sizes := map[string]int{}
	for at := 8; at < len(text); {
		size := int(binary.BigEndian.Uint32(text[at+4:]))
		picture, err := png.DecodeConfig(bytes.NewReader(text[at+8 : at+size]))
		must(t, err)
		if picture.Width != picture.Height {
			t.Error(picture.Width, picture.Height)
		}
		sizes[string(text[at:at+4])] = picture.Width
		at += size
	}
	for kind, want := range map[string]int{"ic10": 1024, "ic09": 512, "ic14": 512, "ic08": 256, "ic13": 256, "ic07": 128, "ic12": 64, "icp5": 32, "ic11": 32, "icp4": 16} {
		if sizes[kind] != want {
			t.Errorf("%s has %d pixels", kind, sizes[kind])
		}
		delete(sizes, kind)
	}
	if len(sizes) > 0 {
		t.Error(sizes)
	}
	if _, err := icns(image.NewNRGBA(image.Rect(0, 0, 512, 512))); err == nil {
		t.Error("a picture that is too small is taken")
	}
}

// Every place that names the oldest macOS names the same, and the flags that
// compile for it begin with those that Go gives by itself.
func TestMinimum(t *testing.T) {
	for _, name := range []string{"Info.plist", "command.plist"} {
		if got := readPlist(t, filepath.Join("../darwin", name))["LSMinimumSystemVersion"]; got != minimum {
			t.Errorf("%s says %s", name, got)
		}
	}
	for _, flag := range forMinimum {
		name, value, _ := strings.Cut(flag, "=")
		cmd := exec.Command("go", "env", name)
		cmd.Env = append(os.Environ(), name+"=", "GOENV=off")
		out, err := cmd.Output()
		must(t, err)
		if want := strings.TrimSpace(string(out)) + " -mmacosx-version-min=" + minimum; value != want {
			t.Errorf("%s is %q, want %q", name, value, want)
		}
	}
}

func TestVersion(t *testing.T) {
	for text, want := range map[string]string{"v1.2.3": "1.2.3", "v10.0.1-5-gabc-dirty": "10.0.1", "abc1234": "", "1.2": ""} {
		got := ""
		if m := released.FindStringSubmatch(text); m != nil {
			got = m[1]
		}
		if got != want {
			t.Errorf("%s: %q", text, got)
		}
	}
}

// With profiles the command line is a bundle of its own, which a link leads to,
// and both programs are entitled to one access group.
func TestProfiles(t *testing.T) {
	t.Chdir("../..")
	dir := t.TempDir()
	for name, text := range map[string]string{"app": "profile of the app", "command": "profile of the command"} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, c := range map[string]struct{ identity, app, command, want string }{
		"none":          {"Developer ID Application: Dana (AB12CD34EF)", "", "", ""},
		"both":          {"Developer ID Application: Dana (AB12CD34EF)", at("app"), at("command"), "AB12CD34EF"},
		"one":           {"Developer ID Application: Dana (AB12CD34EF)", at("app"), "", "error"},
		"no team":       {"Dana", at("app"), at("command"), "error"},
		"ad hoc":        {"", at("app"), at("command"), "error"},
		"one not there": {"Developer ID Application: Dana (AB12CD34EF)", at("app"), at("nothing"), "error"},
	} {
		p, err := readProfiles(c.identity, c.app, c.command)
		if got := p.team; err == nil && got != c.want || (err != nil) != (c.want == "error") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	p, err := readProfiles("Dana (AB12CD34EF)", at("app"), at("command"))
	must(t, err)
	app := at("Countersign.app")
	must(t, bundle{version{"1.2.3", "4", "x"}, program(arm64), program(arm64), p}.write(app))
	for name, want := range map[string]string{profileName: "profile of the app", commandBundle + "/" + profileName: "profile of the command", commandLink: string(program(arm64))} {
		if text, err := os.ReadFile(filepath.Join(app, name)); err != nil || string(text) != want {
			t.Errorf("%s: %.20q, %v", name, text, err)
		}
	}
	if to, err := os.Readlink(filepath.Join(app, commandLink)); err != nil || filepath.IsAbs(to) {
		t.Errorf("the link leads to %q: %v", to, err)
	}
	if got := readPlist(t, filepath.Join(app, commandBundle, "Contents/Info.plist")); got["CFBundleIdentifier"] != commandID || got["CFBundleExecutable"] != "countersign" || got["CFBundleVersion"] != "4" {
		t.Errorf("%v", got)
	}
	base, err := os.ReadFile(filepath.Join(sources, "entitlements.plist"))
	must(t, err)
	for id, from := range map[string][]byte{appID: base, commandID: noEntitlements} {
		path := at("entitlements")
		must(t, os.WriteFile(path, p.entitlements(from, id), 0o600))
		got := readPlist(t, path)
		if got["com.apple.application-identifier"] != "AB12CD34EF."+id || !strings.Contains(got["keychain-access-groups"], "AB12CD34EF.app.countersign") {
			t.Errorf("%s: %v", id, got)
		}
		if text := (profiles{}).entitlements(from, id); !bytes.Equal(text, from) {
			t.Errorf("%s without a profile: %s", id, text)
		}
	}
}
