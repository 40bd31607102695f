package command

import (
	"path"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// gitPatches judges what git apply and git am write.
func (j *job) gitPatches(seg *approval.Segment, read *arguments) (found string, err error) {
	by := byGit
	switch {
	case read.sub == "git am":
		if by = byMail; len(read.given("--abort", "--continue", "--skip", "--quit", "--resolved", "-r", "--retry", "--show-current-patch")) > 0 {
			return "", nil
		}
	case len(read.given("--check", "--stat", "--numstat", "--summary")) > 0 && !read.gave("--apply"):
		return "", nil
	}
	// Names are from the folder on, or from the top of the checkout.
	bases := []string{read.dir}
	for at := read.dir; at != "" && at != j.plan.Folder.Path && j.plan.Folder.Holds(path.Dir(at)); {
		at = path.Dir(at)
		bases = append(bases, at)
	}
	if under := read.given("--directory"); len(under) > 0 {
		var below []string
		for _, base := range bases {
			for _, name := range under {
				below = append(below, join(base, name))
			}
		}
		bases = below
	}
	return j.patched(seg, read, by, operandsOf(read, nil), bases)
}

// patches judges what patch writes.
func (j *job) patches(seg *approval.Segment, read *arguments) (found string, err error) {
	if len(read.given("--dry-run")) > 0 {
		return "", nil
	}
	list := operandsOf(read, nil)
	named := len(list) > 0
	list = list[min(1, len(list)):] // the first one is the file that is patched
	for _, s := range read.said {
		if s.may([]string{"-i", "--input"}) {
			list = append(list, s.value.text)
		}
	}
	by := byPatch
	if named {
		by = byPatchOf
	}
	return j.patched(seg, read, by, list, []string{read.dir})
}

// patched judges the names in patches; without one, in what the program is fed.
func (j *job) patched(seg *approval.Segment, read *arguments, by patchReader, files, bases []string) (found string, err error) {
	if read.dir == "" {
		return "", errUnseen
	}
	if len(files) == 0 {
		files = []string{"-"}
	}
	l := j.landing()
	for _, name := range files {
		var text []byte
		if name == "-" {
			text, err = j.fedBytes(seg)
		} else {
			text, err = j.bytesOf(join(read.dir, name), maxPatch)
		}
		if err != nil {
			return "", err
		}
		names, err := patched(text, by)
		if err != nil {
			return "", err
		}
		for _, name := range names {
			if found, err = l.patches(bases, name); found != "" || err != nil {
				return found, err
			}
		}
	}
	return "", nil
}

// patches judges one name of a patch, whatever -p takes away.
func (l *landing) patches(bases []string, name string) (found string, err error) {
	if name == "/dev/null" {
		return "", nil
	}
	if leads(name) || strings.Count(name, "/") > maxNesting {
		return "", errLeads
	}
	for rest, ok := name, true; ok; _, rest, ok = strings.Cut(rest, "/") {
		for _, base := range bases {
			if found, err = l.names(base, []string{rest}); found != "" || err != nil {
				return found, err
			}
			if at := path.Join(base, rest); l.link(at) || !l.plan.Folder.Holds(l.real(at)) {
				return "", errLeads
			}
		}
	}
	return "", nil
}

// fedBytes returns what a program is fed, if that is known.
func (j *job) fedBytes(seg *approval.Segment) ([]byte, error) {
	if at := fromFile(seg); at != "" {
		return j.bytesOf(at, maxPatch)
	}
	if r := fed(seg); r.To == approval.FromText {
		return []byte(r.Text), nil
	}
	return nil, errUnseen
}
