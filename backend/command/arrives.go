package command

import (
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/protected"
)

// arrives marks a program that brings whole folders: by what is in the archive,
// the patch or the folder. Files from which programs start ask, and what cannot be
// looked at.
func (j *job) arrives(seg *approval.Segment, read *arguments) {
	found, err := j.arrival(seg, read)
	name := path.Base(seg.Argv[0])
	switch {
	case err != nil:
		seg.Findings = append(seg.Findings, finding(approval.ReasonProtectedState, "%s brings files from what %v", name, err))
	case found != "":
		seg.Findings = append(seg.Findings, finding(approval.ReasonProtectedState, "%s brings or moves %s, from which programs start, or which holds secrets", name, found))
	}
}

// arrival returns a file that arrives and asks, or "", and why nobody can tell.
func (j *job) arrival(seg *approval.Segment, read *arguments) (found string, err error) {
	words := seg.Argv[1:]
	switch name := strings.ToLower(path.Base(seg.Program.Path)); name {
	case "tar", "gtar", "bsdtar":
		return j.untarred(seg, read, words)
	case "unzip":
		if read != nil && read.has["gathers"] || read == nil && hasFlag(words, "lZtpcvz") {
			return "", nil
		}
		list := operandsOf(read, words)
		if len(list) == 0 {
			return "", nil
		}
		into := func(at string) string { return at }
		if hasFlag(words, "j") {
			into = path.Base
		}
		file := list[0]
		if _, err := j.look(join(seg.Dir, file)); err != nil {
			file += ".zip"
		}
		return j.unpacks(seg, join(seg.Dir, file), j.worksIn(seg, read), into)
	case "cpio", "pax", "jar", "unrar", "unar", "unlzx", "ar", "7z", "7za", "7zz", "7zr":
		unpacks := hasFlag(words, "ir", "--extract") || len(words) > 0 && strings.HasPrefix(strings.TrimPrefix(words[0], "-"), "x") || name == "unar" || len(words) > 0 && words[0] == "e"
		if unpacks && !slices.Contains(words, "-so") && !(name == "cpio" && hasFlag(words, "t", "--list")) && name != "ar" {
			return "", errUnseen
		}
	case "patch", "gpatch":
		if hasFlag(words, "", "--dry-run") {
			return "", nil
		}
		list := append(operandsOf(read, words)[min(1, len(operandsOf(read, words))):], valuesAfter(words, "-i", "--input")...)
		return j.patches(seg, list)
	case "git":
		return j.gitBrings(seg, read, words)
	case "mv", "gmv", "cp", "gcp", "rsync", "install", "ginstall", "ln", "gln", "ditto":
		if name == "ln" || name == "gln" {
			return "", nil // its profile judges the name of the link
		}
		list := operandsOf(read, words)
		if to := valuesAfter(words, "-t", "--target-directory"); (name == "mv" || name == "gmv") && len(to) > 0 {
			list = append(slices.DeleteFunc(list, func(word string) bool { return word == to[0] }), to[0])
		}
		return j.moves(seg, list, name == "rsync")
	}
	return "", nil
}

// worksIn is the folder that a program works in, as its profile has read it.
func (j *job) worksIn(seg *approval.Segment, read *arguments) string {
	if read != nil {
		return read.dir
	}
	return seg.Dir
}

// untarred judges what tar unpacks.
func (j *job) untarred(seg *approval.Segment, read *arguments, words []string) (found string, err error) {
	first := first(words)
	bundle := !strings.HasPrefix(first, "-")
	extracts := bundle && strings.Contains(first, "x") || hasFlag(words, "x", "--extract", "--get")
	if !extracts || hasFlag(words, "O", "--to-stdout") || bundle && strings.Contains(first, "O") {
		return "", nil
	}
	if hasFlag(words, "iP", "--ignore-zeros", "--absolute-names") {
		return "", errUnseen
	}
	file := ""
	for i, word := range words {
		letters, value := strings.TrimPrefix(word, "-"), ""
		switch at := strings.IndexByte(letters, 'f'); {
		case strings.HasPrefix(word, "--file="):
			file = word[len("--file="):]
		case word == "--file" && i+1 < len(words):
			file = words[i+1]
		case strings.HasPrefix(word, "--") || at < 0 || !strings.HasPrefix(word, "-") && i > 0:
		case bundle && i == 0 && strings.ContainsAny(letters, "bCTXgHKLNV"):
			return "", errUnseen // which of the next words is which
		case bundle && i == 0 && len(words) > 1:
			file = words[1]
		case at == len(letters)-1 && i+1 < len(words):
			file = words[i+1]
		default:
			if value = letters[at+1:]; !strings.ContainsAny(letters[:at], "bCTXgHKLNV") {
				file = value
			}
		}
	}
	strip := 0
	for _, value := range valuesAfter(words, "--strip-components") {
		if strip, err = strconv.Atoi(value); err != nil || strip < 0 || strip > maxNesting {
			return "", errUnseen
		}
	}
	dir := j.worksIn(seg, read)
	if at := fromFile(seg); (file == "" || file == "-") && at != "" {
		file = at
	}
	if file == "" || file == "-" {
		return "", errUnseen
	}
	return j.unpacks(seg, join(seg.Dir, file), dir, func(at string) string { return stripped(at, strip) })
}

// fromFile is the file that a program is fed, "" for none that is known.
func fromFile(seg *approval.Segment) string {
	for _, r := range seg.Redirects {
		if r.FD == 0 && r.To == approval.FromFile && r.File != nil {
			return r.File.Path
		}
	}
	return ""
}

// bytesOf returns what a file holds, if that is not too much.
func (j *job) bytesOf(at string, most int64) ([]byte, error) {
	file, err := j.look(at)
	if err != nil || file.Mode&modeType != modeRegular || file.Size > most || !j.spend(reading) {
		return nil, errUnseen
	}
	data, err := j.World.Head(file, int(most)+1)
	if err != nil || int64(len(data)) > most {
		return nil, errUnseen
	}
	return data, nil
}

// unpacks judges the names in an archive that is unpacked in a folder, each after
// what the options make of it.
func (j *job) unpacks(seg *approval.Segment, file, dir string, as func(string) string) (found string, err error) {
	data, err := j.bytesOf(file, maxArchive)
	if err != nil {
		return "", err
	}
	names, err := archived(data)
	if err != nil {
		return "", err
	}
	for _, name := range names {
		if name = as(name); name != "" && name != "." && j.startsFrom(path.Join(join(seg.Dir, dir), name)) {
			return name, nil
		}
	}
	return "", nil
}

// startsFrom reports whether what arrives under a name is a file from which
// programs start, or takes the place of one with secrets.
func (j *job) startsFrom(at string) bool {
	k := j.kinds(at, j.look)
	if k.Has(protected.Startup) || j.ofOurs(at, true) {
		return true
	}
	if !k.Has(protected.Secret | protected.Private) {
		return false
	}
	_, err := j.World.Look(at)
	return err == nil
}

// patches judges the names in patches; without one, in what the program is fed.
func (j *job) patches(seg *approval.Segment, files []string) (found string, err error) {
	var texts [][]byte
	for _, name := range files {
		data, err := j.bytesOf(join(seg.Dir, name), maxPatch)
		if err != nil {
			return "", err
		}
		texts = append(texts, data)
	}
	if len(files) == 0 {
		for _, r := range seg.Redirects {
			if r.FD == 0 && r.To == approval.FromText {
				texts = append(texts, []byte(r.Text))
			}
		}
		if at := fromFile(seg); at != "" {
			data, err := j.bytesOf(at, maxPatch)
			if err != nil {
				return "", err
			}
			texts = append(texts, data)
		}
		if len(texts) == 0 {
			return "", errUnseen
		}
	}
	for _, text := range texts {
		names, err := patched(text)
		if err != nil {
			return "", err
		}
		for _, name := range names {
			if name == "/dev/null" {
				continue
			}
			if leads(name) {
				return "", errLeads
			}
			for rest, ok := name, true; ok; _, rest, ok = strings.Cut(rest, "/") { // whatever -p takes away
				if j.startsFrom(path.Join(seg.Dir, rest)) {
					return rest, nil
				}
			}
		}
	}
	return "", nil
}

// gitBrings judges what git moves, unpacks and removes as a whole.
func (j *job) gitBrings(seg *approval.Segment, read *arguments, words []string) (found string, err error) {
	if read == nil || len(words) == 0 {
		return "", nil
	}
	i := slices.IndexFunc(words, func(word string) bool { return slices.Contains(gitBringing, word) })
	if i < 0 || slices.ContainsFunc(words[:i], func(word string) bool { return !strings.HasPrefix(word, "-") }) && !slices.Contains(words[:i], "-C") {
		return "", nil
	}
	list, dir := operandsOf(read, nil), j.worksIn(seg, read)
	at := *seg
	at.Dir = dir
	switch words[i] {
	case "apply":
		for _, only := range []string{"--check", "--stat", "--numstat", "--summary", "--cached"} {
			if slices.Contains(words, only) && !slices.Contains(words, "--apply") {
				return "", nil
			}
		}
		if slices.ContainsFunc(words, func(word string) bool { return strings.HasPrefix(word, "--dir") }) {
			for _, name := range append(valuesOf(words, "--directory"), valuesAfter(words, "--directory")...) {
				if j.above(path.Join(dir, name)) || j.startsFrom(path.Join(dir, name)) {
					return name, nil
				}
			}
		}
		return j.patches(&at, list)
	case "am":
		for _, word := range words {
			if slices.Contains([]string{"--abort", "--continue", "--skip", "--quit", "--resolved", "-r", "--retry"}, word) || strings.HasPrefix(word, "--show-current-patch") {
				return "", nil
			}
		}
		return j.patches(&at, list)
	case "mv":
		if i := slices.IndexFunc(list, func(name string) bool { return j.above(path.Clean(join(dir, name))) }); i >= 0 {
			return list[i], nil
		}
		return j.moves(&at, list, false)
	case "rm":
		if slices.Contains(words, "--cached") || slices.Contains(words, "-n") || slices.Contains(words, "--dry-run") {
			return "", nil
		}
	case "clone":
		for _, name := range list {
			list = append(list, strings.TrimSuffix(path.Base(name), ".git"))
		}
	}
	for _, name := range list {
		if at := path.Clean(join(dir, name)); j.above(at) || j.kinds(at, j.look).Has(protected.Startup) && !slices.Contains([]string{"rm", "checkout", "restore"}, words[i]) {
			return name, nil
		}
	}
	return "", nil
}

// gitBringing are commands of git that bring, move or remove whole folders.
var gitBringing = []string{"apply", "am", "mv", "rm", "clone", "submodule", "worktree", "checkout-index", "checkout", "restore"}

// moves judges what arrives where folders are moved or copied. into tells that
// what a folder holds arrives if a slash stands behind its name.
func (j *job) moves(seg *approval.Segment, list []string, into bool) (found string, err error) {
	if len(list) < 2 || seg.Dir == "" {
		return "", nil
	}
	to := join(seg.Dir, list[len(list)-1])
	folder, err := j.look(to)
	inside := err == nil && isDir(folder)
	for _, name := range list[:len(list)-1] {
		from, err := j.look(join(seg.Dir, name))
		if err != nil {
			continue // there is nothing, or it asks by its name
		}
		at, base := path.Clean(to), path.Base(path.Clean(name))
		if held := strings.HasSuffix(name, "/") && into || base == "." || base == ".."; (inside || into && isDir(from)) && !held {
			at = path.Join(to, base)
		}
		if !isDir(from) {
			if j.startsFrom(at) {
				return at, nil
			}
			continue
		}
		if j.above(at) {
			return at, nil
		}
		if found, err = j.startsIn(from.Path, at); found != "" || err != nil {
			return found, err
		}
	}
	return "", nil
}

// startsIn returns a file of a folder that would be one from which programs start
// when the folder is at another place, or "".
func (j *job) startsIn(folder, as string) (found string, err error) {
	for _, rel := range j.leadsBelow(as) {
		if _, err := j.look(path.Join(folder, rel)); err == nil {
			return rel, nil
		}
	}
	folders := []string{""}
	for len(folders) > 0 {
		rel := folders[len(folders)-1]
		folders = folders[:len(folders)-1]
		names, err := j.World.List(path.Join(folder, rel))
		if err != nil {
			continue
		}
		in := protected.In(path.Join(as, rel), j.Home)
		for _, name := range names {
			if !j.walk() {
				return "", errors.New("has more names than are looked at")
			}
			k := in.Of(name)
			if k.Has(protected.Startup) || k.Has(protected.Secret) && j.startsFrom(path.Join(as, rel, name)) {
				return path.Join(rel, name), nil
			}
			if j.isFolder(path.Join(folder, rel, name)) {
				folders = append(folders, path.Join(rel, name))
			}
		}
	}
	return "", nil
}
