package command_test

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/command"
)

// tarEntry is one file of a tar with a header of which anything may be changed.
func tarEntry(name, body string, change func(b []byte)) string {
	b := make([]byte, 512)
	copy(b, name)
	copy(b[100:], "0000644\x000000000\x000000000\x00")
	copy(b[124:], fmt.Sprintf("%011o\x0000000000000\x00        0", len(body)))
	copy(b[257:], "ustar\x0000")
	if change != nil {
		change(b)
	}
	copy(b[148:], "        ")
	sum := 0
	for _, c := range b {
		sum += int(c)
	}
	copy(b[148:], fmt.Sprintf("%06o\x00 ", sum))
	return string(b) + body + strings.Repeat("\x00", (512-len(body)%512)%512)
}

// tarEnd is what stands behind the last file of a tar.
var tarEnd = strings.Repeat("\x00", 1024)

func ofKind(kind byte) func([]byte) { return func(b []byte) { b[156] = kind } }

// pax is an extended header with these records.
func pax(kind byte, records ...string) string {
	body := ""
	for _, r := range records {
		n := len(r) + 3
		for len(fmt.Sprint(n))+len(r)+2 != n {
			n++
		}
		body += fmt.Sprintf("%d %s\n", n, r)
	}
	return tarEntry("PaxHeaders/x", body, ofKind(kind))
}

// hostileTars are archives in which .vscode/tasks.json may arrive for some program.
func hostileTars(t testing.TB) map[string]string {
	evil := ".vscode/tasks.json"
	file := func(name string) string { return tarEntry(name, "x", nil) }
	return map[string]string{
		"zip-behind":       file("PKx") + file(evil) + tarEnd + zipOf(t, "ok.txt"),
		"zero-and-more":    file("ok") + tarEnd[:512] + file(evil) + tarEnd,
		"zeros-and-more":   file("ok") + tarEnd + file(evil) + tarEnd,
		"sparse-name":      pax('x', "GNU.sparse.major=1", "GNU.sparse.minor=0", "GNU.sparse.name="+evil, "GNU.sparse.realsize=1") + file("ok") + tarEnd,
		"sparse-name-only": pax('x', "GNU.sparse.name="+evil) + file("ok") + tarEnd,
		"pax-path":         pax('x', "path="+evil) + file("ok") + tarEnd,
		"pax-twice":        pax('x', "path="+evil) + pax('x', "path=a") + file("ok") + tarEnd,
		"pax-key-twice":    pax('x', "path="+evil, "path=a") + file("ok") + tarEnd,
		"pax-global":       pax('g', "path="+evil) + file("ok") + tarEnd,
		"pax-size":         pax('x', "size=512") + tarEntry("ok", "", nil) + file(evil) + tarEnd,
		"pax-charset":      pax('x', "hdrcharset=BINARY", "path=a") + file("ok") + tarEnd,
		"pax-link":         pax('x', "linkpath=/etc") + file("ok") + tarEnd,
		"pax-type":         pax('x', "SCHILY.filetype=symlink") + file("ok") + tarEnd,
		"pax-empty":        pax('x', "path=") + file(evil) + tarEnd,
		"pax-broken":       tarEntry("x", "99 path=a\n", ofKind('x')) + file(evil) + tarEnd,
		"long-name":        tarEntry("././@LongLink", evil+"\x00", ofKind('L')) + file("ok") + tarEnd,
		"long-and-pax":     tarEntry("././@LongLink", "a\x00", ofKind('L')) + pax('x', "path="+evil) + file("ok") + tarEnd,
		"long-last":        file("ok") + tarEntry("././@LongLink", evil+"\x00", ofKind('L')) + tarEnd,
		"prefix":           tarEntry("tasks.json", "x", func(b []byte) { copy(b[345:], ".vscode") }) + tarEnd,
		"prefix-of-gnu":    tarEntry("tasks.json", "x", func(b []byte) { copy(b[257:], "ustar  \x00"); copy(b[345:], ".vscode") }) + tarEnd,
		"prefix-of-star":   tarEntry("tasks.json", "x", func(b []byte) { copy(b[345:], ".vscode"); copy(b[508:], "tar\x00") }) + tarEnd,
		"no-magic":         tarEntry(evil, "x", func(b []byte) { copy(b[257:], tarEnd[:8]) }) + tarEnd,
		"hard-link":        tarEntry("a", "", func(b []byte) { b[156] = '1'; copy(b[157:], "b") }) + tarEnd,
		"link":             tarEntry("a", "", func(b []byte) { b[156] = '2'; copy(b[157:], "b") }) + tarEnd,
		"link-said":        tarEntry("a", "x", func(b []byte) { copy(b[157:], "b") }) + tarEnd,
		"device":           tarEntry("a", "", ofKind('3')) + tarEnd,
		"pipe":             tarEntry("a", "", ofKind('6')) + tarEnd,
		"unknown-kind":     tarEntry(evil, "x", ofKind('Q')) + tarEnd,
		"other-kind":       tarEntry("a", "x", ofKind('D')) + tarEnd,
		"folder-with-size": tarEntry("d/", strings.Repeat("x", 512), ofKind('5')) + tarEnd,
		"slash-with-size":  tarEntry("d/", strings.Repeat("x", 512), nil) + tarEnd,
		"control":          file(".vs\x01code/tasks.json") + tarEnd,
		"no-letters":       file(".vs\xffcode/tasks.json") + tarEnd,
		"backslash":        file(`.vscode\tasks.json`) + tarEnd,
		"dot-inside":       file("a/./.vscode/tasks.json") + tarEnd,
		"two-slashes":      file("a//.vscode/tasks.json") + tarEnd,
		"other-case":       file(".VSCODE/TASKS.JSON") + tarEnd,
		"absolute":         file("/a") + tarEnd,
		"up":               file("a/../b") + tarEnd,
		"up-last":          file("a/..") + tarEnd,
		"uuencoded":        file("begin 644 x") + tarEnd,
		"as-a-folder":      file(".vscode") + tarEnd,
		"git-file":         file("sub/.git") + tarEnd,
		"size-of-256":      tarEntry("a", "", func(b []byte) { copy(b[124:], "\x80\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00") }) + file(evil) + tarEnd,
		"no-size":          tarEntry("a", "", func(b []byte) { copy(b[124:], tarEnd[:12]) }) + tarEnd,
		"half":             file("ok")[:700],
		"gzip-and-tar":     gzipAndTar(evil),
		"behind-gzip":      tarOf(t, true, "ok") + file(evil) + tarEnd,
		"two-gzips":        tarOf(t, true, "ok") + tarOf(t, true, evil),
	}
}

// gzipAndTar is a tar to what looks at sums, and compressed with another one to what
// looks at the first bytes.
func gzipAndTar(evil string) string {
	tail := tarEntry(evil, "x", nil) + tarEnd
	begin := "\x1f\x8b\x08\x04\x00\x00\x00\x00\x00\x03" + string(binary.LittleEndian.AppendUint16(nil, uint16(512-12+len(tail))))
	inner := []byte(tarEntry("ok.txt", "x", nil) + tarEnd)
	var b bytes.Buffer
	w, _ := flate.NewWriter(&b, 9)
	w.Write(inner)
	w.Close()
	end := binary.LittleEndian.AppendUint32(nil, crc32.ChecksumIEEE(inner))
	return tarEntry(begin, "", nil) + tail + b.String() + string(binary.LittleEndian.AppendUint32(end, uint32(len(inner))))
}

// zipWith is an archive of one file with a header of which anything may be changed.
func zipWith(t testing.TB, name string, change func(h *zip.FileHeader)) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	h := &zip.FileHeader{Name: name, CreatorVersion: 3 << 8, ExternalAttrs: 0o100644 << 16}
	if change != nil {
		change(h)
	}
	if _, err := w.CreateRaw(h); err != nil {
		t.Fatal(err)
	}
	w.Close()
	return b.String()
}

// hostileZips are the same for unzip.
func hostileZips(t testing.TB) map[string]string {
	evil := ".vscode/tasks.json"
	attr := func(system, mode int) func(*zip.FileHeader) {
		return func(h *zip.FileHeader) { h.CreatorVersion, h.ExternalAttrs = uint16(system<<8), uint32(mode<<16) }
	}
	extra := func(id uint16, text string) func(*zip.FileHeader) {
		return func(h *zip.FileHeader) {
			h.Extra = append(binary.LittleEndian.AppendUint16(binary.LittleEndian.AppendUint16(nil, id), uint16(len(text))), text...)
		}
	}
	good, bad := zipOf(t, "aaaaaaa/tasks.json"), zipOf(t, evil)
	decoy := func() string { // a list of another archive, where programs that count from the beginning find it
		from := binary.LittleEndian.Uint32([]byte(bad[len(bad)-6:]))
		own := binary.LittleEndian.Uint32([]byte(good[len(good)-6:]))
		before := good[:own]
		if pad := int(from) - len(before); pad > 0 {
			before += strings.Repeat("\x00", pad)
		}
		return before + good[own:len(good)-22] + strings.Repeat("\x00", 50) + bad
	}
	at := strings.LastIndex(bad, evil)
	return map[string]string{
		"plain": bad, "tar-before": tarOf(t, false, "ok.txt") + bad, "bytes-before": "#!/bin/sh\n" + bad, "decoy": decoy(), "behind": bad + "x", "two": good + bad,
		"local-name": bad[:at] + "aaaaaaa" + bad[at+7:], "list-name": strings.Replace(bad, evil, "aaaaaaa/tasks.json", 1),
		"control": zipWith(t, ".vs\x01code/tasks.json", nil), "delete": zipWith(t, ".vs\x7fcode/tasks.json", nil), "version": zipWith(t, ".vscode/launch.json;1", nil),
		"no-version": zipWith(t, ".vscode/launch.json;", nil), "backslash": zipWith(t, `a\b`, nil), "link": zipWith(t, "a", attr(3, 0o120777)), "link-of-atari": zipWith(t, "a", attr(5, 0o120777)),
		"link-of-beos": zipWith(t, "a", attr(16, 0o120777)), "link-of-dos": zipWith(t, "a", attr(0, 0o120777)), "amiga": zipWith(t, "a", attr(1, 0)), "device": zipWith(t, "a", attr(3, 0o20644)),
		"other-letters": zipWith(t, ".g\xd5t/hooks/x", func(h *zip.FileHeader) { attr(0, 0)(h); h.NonUTF8 = true }), "unicode-path": zipWith(t, "a", extra(0x7075, "\x01\x00\x00\x00\x00"+evil)),
		"attributes": zipWith(t, "a", extra(0x6c78, "\x07\x00")), "asi-unix": zipWith(t, "a", extra(0x756e, "\x00\x00")), "broken-extra": zipWith(t, "a", func(h *zip.FileHeader) { h.Extra = []byte("UT\x09\x00\x01") }),
		"masked": zipWith(t, "a", func(h *zip.FileHeader) { h.Flags |= 1 << 13 }), "comment": zipComment(t, "PK\x05\x06 and more"), "up": zipWith(t, "../a", nil), "absolute": zipWith(t, "/a", nil), "case": zipWith(t, ".VsCode/Tasks.json", nil),
		"as-a-folder": zipWith(t, ".claude", nil), "dot-inside": zipWith(t, "a/./b", nil),
	}
}

func zipComment(t testing.TB, comment string) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	if err := w.SetComment(comment); err != nil {
		t.Fatal(err)
	}
	w.Create("a")
	w.Close()
	return b.String()
}

// asksOnArrival reports whether something is found in a text that arrives and asks.
func asksOnArrival(t testing.TB, a *command.Analyzer, text string) bool {
	t.Helper()
	for _, seg := range a.Analyze(t.Context(), bash(text), approvaltest.Named("/home/ann/p")).Segments {
		if slices.ContainsFunc(seg.Findings, func(f approval.Finding) bool { return f.Reason == approval.ReasonProtectedState }) {
			return true
		}
	}
	return false
}

// TestHostileNames: an archive that programs read in several ways asks.
func TestHostileNames(t *testing.T) {
	a := unpacking(t)
	world := a.World.(*approvaltest.World)
	try := func(kind, line string, all map[string]string) {
		for name, text := range all {
			world.Files["/home/ann/p/x"] = approvaltest.File{Mode: 0o644, UID: 500, Text: text}
			if !asksOnArrival(t, a, line) {
				t.Errorf("%s %s passes", kind, name)
			}
		}
	}
	try("tar", "tar xf x -C out", hostileTars(t))
	try("zip", "unzip -q x -d out", hostileZips(t))
	try("zip for tar", "bsdtar xf x -C out", hostileZips(t))
}

// TestOrdinaryArchives: what people and their tools make passes.
func TestOrdinaryArchives(t *testing.T) {
	approvaltest.Long(t)
	t.Parallel()
	file := func(name string) string { return tarEntry(name, "x", nil) }
	node := make([]string, 0, 8000)
	for i := range 8000 {
		node = append(node, fmt.Sprintf("node-v20/lib/node_modules/npm/m%d/f%d.js", i/6, i))
	}
	stamp := func(h *zip.FileHeader) {
		h.Extra = []byte("UT\x05\x00\x03\x00\x00\x00\x00ux\x0b\x00\x01\x04\x00\x00\x00\x00\x04\x00\x00\x00\x00")
	}
	tars := map[string]string{
		"git-archive": pax('g', "comment=0123456789012345678901234567890123456789") + file("a") + tarEnd, "npm": pax('x', "path=package/"+strings.Repeat("a", 120), "mtime=1", "NODETAR.x=1") + file("b") + tarEnd,
		"macos": pax('x', "LIBARCHIVE.xattr.com.apple.provenance=AQ", "SCHILY.xattr.com.apple.provenance=\x01\x02", "mtime=1.5") + file("b") + tarEnd, "long": tarEntry("././@LongLink", strings.Repeat("long/", 30)+"b\x00", ofKind('L')) + file("b") + tarEnd,
		"gnu": tarEntry("a", "x", func(b []byte) { copy(b[257:], "ustar  \x00") }) + tarEnd, "folders": tarEntry("./", "", ofKind('5')) + tarEntry("./.github/", "", ofKind('5')) + file("./.github/workflows/ci.yml") + tarEnd, "no-end": file("a"),
		"padded": file("a") + strings.Repeat(tarEnd, 9), "many": tarOf(t, false, node...), "accents": file("é/日本.txt") + tarEnd, "old": tarEntry("a", "x", func(b []byte) { b[156] = 0 }) + tarEnd,
	}
	zips := map[string]string{
		"github": zipComment(t, "0123456789012345678901234567890123456789"), "info-zip": zipWith(t, "a", stamp), "windows": zipWith(t, "a", func(h *zip.FileHeader) { h.CreatorVersion, h.ExternalAttrs = 10<<8, 0x20 }), "folder": zipOf(t, "a/", "a/b"),
		"accents": zipWith(t, "é.txt", nil), "streamed": zipOf(t, "a", "b/c"), "many": zipOf(t, node...), "empty": zipWith(t, "a", nil),
	}
	a := unpacking(t)
	world := a.World.(*approvaltest.World)
	for kind, all := range map[string]map[string]string{"tar xf x -C vendor": tars, "unzip -q x -d build": zips, "tar xzf x -C out": {"packed": packed(tars["many"])}} {
		for name, text := range all {
			world.Files["/home/ann/p/x"] = approvaltest.File{Mode: 0o644, UID: 500, Text: text}
			if plan := a.Analyze(t.Context(), bash(kind), approvaltest.Named("/home/ann/p")); len(reasonsOf(plan)) > 0 {
				t.Errorf("%s, %s: %s", kind, name, show(plan))
			}
		}
	}
}

func packed(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.String()
}
