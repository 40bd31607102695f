package policy

import (
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
)

// compare holds a program, and what interprets it, against what is recorded
// under an entry (judgement.md, step 7, changed file). learn are the files of
// which the entry holds no record or an older one; same tells that none of them
// is a reason to ask. A file that only the system's package manager changes
// needs no record.
func (one *rule) compare(in Input, res *approval.Resolution) (learn []approval.Seen, same bool) {
	same = one.satisfied(in, res.File)
	for at := res; at != nil; at = at.Interpreter {
		id := one.recorded(res, at)
		known := id.SHA256 != "" && sum(in, at.File) == strings.ToLower(id.SHA256)
		switch needless := command.Kept(at.File) && id.SHA256 == "" && !one.unbound(at == res); {
		case known && same, needless && same:
			continue
		case id.SHA256 != "" && !known && !vouched(in, at.File, id):
			same = false
		}
		learn = append(learn, approval.Seen{File: at.File, Was: strings.ToLower(id.SHA256), Interprets: at != res})
	}
	return learn, same
}

// satisfied honours requireIdentity.
func (one *rule) satisfied(in Input, f approval.File) bool {
	id := identityOf(one.Identity, f.Path)
	switch one.RequireIdentity {
	case "":
		return true
	case "sha256":
		return id.SHA256 != "" && sum(in, f) == strings.ToLower(id.SHA256)
	case "signer":
		return id.Signer != "" && signer(in, f) == id.Signer
	}
	return false
}

// unbound tells that the entry is a link of which nobody recorded where it led,
// so that a later target would be covered too.
func (one *rule) unbound(program bool) bool {
	return program && one.target != "" && len(one.Identity) == 0
}

// recorded returns what the entry holds of a program, or of one of those that
// interpret it; empty if nothing.
func (one *rule) recorded(program, at *approval.Resolution) approval.Identity {
	if at == program {
		return identityOf(one.Identity, at.File.Path)
	}
	return identityOf(one.Interpreters, at.File.Path)
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
