package command

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

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

// arrival returns a file that arrives and asks, or "", and why nobody can tell. What
// the program was told it takes from its profile alone.
func (j *job) arrival(seg *approval.Segment, read *arguments) (found string, err error) {
	if read == nil {
		return j.unknownArrival(seg)
	}
	switch read.sub {
	case "tar", "unzip", "patch", "git apply", "git am":
		seg.Looked = true // at a file that an earlier command may write
	}
	switch read.sub {
	case "tar":
		return j.untarred(seg, read)
	case "unzip":
		return j.unzipped(seg, read)
	case "7z x", "7z e":
		if len(read.given("-so")) == 0 {
			return "", errUnseen
		}
	case "patch":
		return j.patches(seg, read)
	case "git apply", "git am":
		return j.gitPatches(seg, read)
	case "git mv":
		list := operandsOf(read, nil)
		if i := slices.IndexFunc(list, func(name string) bool { return j.above(path.Clean(join(read.dir, name))) }); i >= 0 {
			return list[i], nil
		}
		return j.moves(read)
	case "mv", "cp", "rsync", "install":
		return j.moves(read)
	}
	if strings.HasPrefix(read.sub, "git ") {
		return j.gitBrings(read)
	}
	return "", nil
}

// unknownArrival says no to a program without a profile that unpacks, unless its
// first word tells that it does not.
func (j *job) unknownArrival(seg *approval.Segment) (found string, err error) {
	name, words := strings.ToLower(path.Base(seg.Program.Path)), seg.Argv[1:]
	if quiet, is := unpackers()[name]; is && !(quiet != nil && len(words) > 0 && quiet().MatchString(words[0])) {
		return "", errUnseen
	}
	if !copiers()[name] {
		return "", nil
	}
	list := slices.DeleteFunc(slices.Clone(words), func(word string) bool { return strings.HasPrefix(word, "-") })
	if len(list) < 2 {
		return "", nil
	}
	return j.moved(seg.Dir, list[:len(list)-1], list[len(list)-1], true, name != "rsync")
}

// unpackers are programs that unpack or patch, with what their first word is when
// they surely do not. Some have a profile where they are what they are called.
var unpackers = sync.OnceValue(func() map[string]func() *regexp.Regexp {
	list := map[string]func() *regexp.Regexp{
		"jar":  expression(`^(-?[ctui][^x]*|--(create|list|update|describe-module|version|help).*)$`),
		"cpio": expression(`^(-o[^ip]*|-[iv]*t[^p]*|--create|--list)$`),
		"ar":   expression(`^-?[^x-]*$`), "ditto": expression(`^-c`),
		"rar": expression(`^[^xe-][a-z]*$`), "unrar": expression(`^[^xe-][a-z]*$`),
		"quilt": expression(`^(new|add|refresh|series|applied|unapplied|top|next|previous|files|diff|header|graph)$`),
		"stg":   expression(`^(new|refresh|series|show|diff|top|id|files|log|next|prev)$`), "cabextract": expression(`^-l`), "unsquashfs": expression(`^-(l|ll|s|stat)$`),
	}
	for _, name := range strings.Fields("tar gtar bsdtar star unzip bsdunzip 7z 7za 7zz 7zr 7zzs pax bsdcpio unar unlzx unace unarj lha arj dpkg-deb patch gpatch atool aunpack unp dtrx ouch") {
		list[name] = nil
	}
	return list
})

var copiers = words("mv gmv cp gcp rsync install ginstall")

// untarred judges what tar unpacks: into one folder, told before the names of what
// is wanted, as not every tar reads options behind these.
func (j *job) untarred(seg *approval.Segment, read *arguments) (found string, err error) {
	if !read.gave("-x", "--extract", "--get") || len(read.given("-O", "--to-stdout")) > 0 {
		return "", nil
	}
	file, one := read.once("-f", "--file")
	_, into := read.once("-C", "--directory")
	strip, sure := read.once("--strip-components")
	first := slices.IndexFunc(read.said, func(s said) bool { return s.option == "" })
	if !one || !into || !sure || first >= 0 && slices.ContainsFunc(read.said[first:], func(s said) bool { return s.option != "" }) {
		return "", errUnseen
	}
	parts := 0
	if strip != "" {
		if parts, err = strconv.Atoi(strip); err != nil || parts < 0 || parts > maxNesting {
			return "", errUnseen
		}
	}
	if file == "" || file == "-" {
		file = fromFile(seg)
	} else {
		file = join(seg.Dir, file)
	}
	return j.unpacks(file, read.dir, false, func(name string) []string { return stripped(name, parts) })
}

// unzipped judges what unzip unpacks. It puts an end to a name that leads to no
// archive, and reads patterns of names.
func (j *job) unzipped(seg *approval.Segment, read *arguments) (found string, err error) {
	list := operandsOf(read, nil)
	if len(read.given("-l", "-t", "-p", "-c", "-v", "-z")) > 0 || len(read.said) > 0 && read.said[0].option == "-Z" || len(list) == 0 {
		return "", nil
	}
	if _, into := read.once("-d"); !into || strings.ContainsAny(list[0], `*?[\`) {
		return "", errUnseen
	}
	file := join(seg.Dir, list[0])
	if _, err := j.look(file); err != nil {
		file += ".zip"
	}
	return j.unpacks(file, read.dir, len(read.given("-o", "-n")) == 0, func(name string) []string {
		if len(read.given("-j")) > 0 && !strings.HasSuffix(name, "/") {
			return []string{path.Base(name)}
		}
		return []string{name}
	})
}

// fed is what a program reads as its input, as far as that is known: of several
// redirections the last one counts.
func fed(seg *approval.Segment) (r approval.Redirect) {
	for _, one := range seg.Redirects {
		if one.FD == 0 {
			r = one
		}
	}
	return r
}

// fromFile is the file that a program is fed, "" for none that is known.
func fromFile(seg *approval.Segment) string {
	if r := fed(seg); r.To == approval.FromFile && r.File != nil {
		return r.File.Path
	}
	return ""
}

// bytesOf returns what a file holds, if that is not too much.
func (j *job) bytesOf(at string, most int64) ([]byte, error) {
	if at == "" {
		return nil, errUnseen
	}
	file, err := j.look(at)
	if err != nil || !file.IsRegular() || file.Size > most || !j.spend(reading+int(file.Size/perReading)) {
		return nil, errUnseen
	}
	data, err := j.World.Head(file, int(most)+1)
	if err != nil || int64(len(data)) > most {
		return nil, errUnseen
	}
	return data, nil
}

// unpacks judges the names in an archive that is unpacked in a folder, each after
// what the options make of it. renames tells that the program takes another name
// from its input for what is there already.
func (j *job) unpacks(file, dir string, renames bool, as func(string) []string) (found string, err error) {
	data, err := j.bytesOf(file, maxArchive)
	if err != nil || dir == "" {
		return "", errUnseen
	}
	names, out, err := archived(data)
	if !j.spend(int(out/perReading)) && err == nil {
		err = errUnseen
	}
	if err != nil {
		return "", err
	}
	l, seen := j.landing(), map[string]bool{}
	for _, name := range names {
		list := as(name)
		if found, err = l.names(dir, list); found != "" || err != nil {
			return found, err
		}
		for _, name := range list {
			if renames && !strings.HasSuffix(name, "/") {
				if at := path.Join(dir, name); seen[protected.Fold(at)] || l.there(at) {
					return "", errRenames
				}
				seen[protected.Fold(path.Join(dir, name))] = true
			}
		}
	}
	return "", nil
}

// gitBrings judges what git brings and removes as a whole.
func (j *job) gitBrings(read *arguments) (found string, err error) {
	command, _, _ := strings.Cut(strings.TrimPrefix(read.sub, "git "), " ")
	list := operandsOf(read, nil)
	switch command {
	case "rm":
		if len(read.given("--cached", "-n", "--dry-run")) > 0 {
			return "", nil
		}
	case "clone":
		for _, name := range list {
			list = append(list, strings.TrimSuffix(path.Base(name), ".git"))
		}
	case "submodule", "worktree", "checkout", "restore":
	default:
		return "", nil
	}
	back := command == "rm" || command == "checkout" || command == "restore" // its names are judged elsewhere
	for _, name := range list {
		at := path.Clean(join(read.dir, name))
		for _, at := range []string{at, j.real(at)} {
			if j.above(at) || !back && j.kinds(at, j.look).Has(protected.Startup) {
				return name, nil
			}
		}
	}
	return "", nil
}
