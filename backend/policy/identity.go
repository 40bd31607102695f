package policy

import (
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/paths"
)

// compare holds a program, and what interprets it, against what is recorded
// under an entry: a file that changed since is asked about. learn are the files
// of which the entry holds no record or an older one; changed is the first that
// is a reason to ask, "" for none. A file that only the system's package manager
// changes needs no record.
func (one *rule) compare(in Input, res *approval.Resolution) (learn []approval.Seen, changed string) {
	link, changed := one.led(res)
	if changed == "" && !one.satisfied(in, res) {
		changed = res.File.Path
	}
	for at := res; at != nil; at, link = at.Interpreter, "" {
		id, by := one.recorded(res, at), interpreterOf(at)
		known := id.SHA256 != "" && sum(in, at.File) == strings.ToLower(id.SHA256)
		needless := command.Kept(at.File) && id.SHA256 == "" && !one.unbound(at == res)
		switch {
		case changed != "":
		case id.SHA256 != "" && !known && !vouched(in, at.File, id):
			changed = at.File.Path
		case interpretedAnew(id, at):
			changed = by
		case link == "" && (known && id.Path == at.File.Path || needless) && (id.Interpreter == by || id.Interpreter == "" && followsSystem(at)):
			continue
		}
		learn = append(learn, approval.Seen{File: at.File, Was: strings.ToLower(id.SHA256), Interprets: at != res, By: by, Link: link})
	}
	return learn, changed
}

// interpretedAnew reports whether a script is recorded with another
// interpreter: env may find one in a folder of PATH that was not there, and a
// link may lead elsewhere. What the system's own name leads to is for the system
// to say, and a newer version of the same package is compared like any file.
func interpretedAnew(id approval.Identity, at *approval.Resolution) bool {
	by := at.Interpreter
	if by == nil || id.Interpreter == "" || id.Interpreter == by.File.Path || samePackage(id.Interpreter, by.File.Path) {
		return false
	}
	// A script that is the same names the same path, which only root leads elsewhere.
	upgraded := by.Kept && !by.Bare || paths.OfSystem(id.Interpreter) && paths.OfSystem(by.Path) && command.Kept(by.File)
	return !upgraded
}

// followsSystem reports whether only the system decides what interprets a file,
// so that it needs no record.
func followsSystem(at *approval.Resolution) bool {
	by := at.Interpreter
	return by == nil || !by.Bare && command.Kept(at.File) && paths.OfSystem(by.Path) && command.Kept(by.File)
}

// satisfied honours requireIdentity.
func (one *rule) satisfied(in Input, res *approval.Resolution) bool {
	id := one.recorded(res, res)
	switch one.RequireIdentity {
	case "":
		return true
	case "sha256":
		return id.SHA256 != "" && sum(in, res.File) == strings.ToLower(id.SHA256)
	case "signer":
		return id.Signer != "" && signer(in, res.File) == id.Signer
	}
	return false
}

// unbound tells that the entry is a link of which nobody recorded where it led,
// so that a later target would be covered too.
func (one *rule) unbound(program bool) bool {
	return program && one.target != "" && len(one.Identity) == 0
}

// recorded returns what the entry holds of a program, or of one of those that
// interpret it; empty if nothing. The next version of a package has a path of
// its own, and what is held is that of the last one.
func (one *rule) recorded(program, at *approval.Resolution) approval.Identity {
	list := one.Identity
	if at != program {
		list = one.Interpreters
	}
	if id := identityOf(list, at.File.Path); id.Path != "" {
		return id
	}
	for _, id := range slices.Backward(list) {
		if samePackage(id.Path, at.File.Path) {
			return id
		}
	}
	return approval.Identity{}
}

func identityOf(list []approval.Identity, path string) approval.Identity {
	i := slices.IndexFunc(list, func(id approval.Identity) bool { return id.Path == path })
	if i < 0 {
		return approval.Identity{}
	}
	return list[i]
}

// vouched reports whether somebody stands for the new content of a file: the
// package manager that alone can write it, or the same signer as before.
func vouched(in Input, f approval.File, was approval.Identity) bool {
	if command.Kept(f) || was.Signer != "" && signer(in, f) == was.Signer {
		return true
	}
	return in.Packaged != nil && in.Packaged(f)
}

// sum returns the hash of a file, or "" when it cannot be told, which equals
// no recorded hash.
func sum(in Input, f approval.File) string {
	if in.Hash == nil {
		return ""
	}
	got, err := in.Hash(f)
	if err != nil {
		return ""
	}
	return got
}

// signer returns who signed a file, or "" when nobody surely did.
func signer(in Input, f approval.File) string {
	if in.Signer == nil {
		return ""
	}
	return in.Signer(f)
}
