package ipc

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/proc"
	"github.com/countersign-app/countersign/backend/signature"
)

func TestCode(t *testing.T) {
	adHoc := code{hashes: []string{"aa", "bb"}}
	hardened := code{hashes: []string{"aa"}, hardened: true}
	half := code{hashes: []string{"aa"}, unsigned: true}
	for name, c := range map[string]struct {
		code
		runs proc.Code
		want bool
	}{
		"one architecture is not signed, this one is":  {half, proc.Code{Hash: "aa", Valid: true}, true},
		"one architecture is not signed, and is this":  {half, proc.Code{}, true},
		"one architecture is not signed, this is evil": {half, proc.Code{Hash: "cc", Valid: true}, false},
		"we are not signed, but what runs is":          {code{unsigned: true}, proc.Code{Hash: "cc", Valid: true}, false},
		"not signed: the file decides":                 {code{unsigned: true}, proc.Code{}, true},
		"ad hoc":                                       {adHoc, proc.Code{Hash: "aa", Valid: true}, true},
		"the other architecture":                       {adHoc, proc.Code{Hash: "bb", Valid: true}, true},
		"ad hoc, under a debugger":                     {adHoc, proc.Code{Hash: "aa", Valid: true, Debugged: true}, true},
		"another program at our path":                  {adHoc, proc.Code{Hash: "cc", Valid: true}, false},
		"a program without a signature":                {adHoc, proc.Code{}, false},
		"its pages were changed":                       {adHoc, proc.Code{Hash: "aa"}, false},
		"hardened":                                     {hardened, proc.Code{Hash: "aa", Valid: true, Hardened: true}, true},
		"hardened, with libraries of others":           {hardened, proc.Code{Hash: "aa", Valid: true}, false},
		"hardened, under a debugger":                   {hardened, proc.Code{Hash: "aa", Valid: true, Hardened: true, Debugged: true}, false},
		"hardened, another program":                    {hardened, proc.Code{Hash: "bb", Valid: true, Hardened: true}, false},
		"hardened, and its pages were changed":         {hardened, proc.Code{Hash: "aa", Hardened: true}, false},
	} {
		if got := c.is(c.runs); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// Only a program whose architectures are all signed has a code, and it is
// hardened if all of them are.
func TestCodeIn(t *testing.T) {
	part := func(cpu, flags uint32) []byte {
		b, _ := approvaltest.MachO{CPU: cpu, Wide: true, Size: 5000, Identifier: "tool", Flags: flags, Kinds: []byte{2}}.Build()
		return b
	}
	const arm, intel = 0x0100000c, 0x01000007
	hardened, adHoc := uint32(signature.HardenedRuntime), uint32(signature.AdHoc)
	unsigned := make([]byte, 64)
	for name, c := range map[string]struct {
		text     []byte
		hashes   int
		hardened bool
		unsigned bool
	}{
		"hardened":                {part(arm, hardened), 1, true, false},
		"ad hoc":                  {part(arm, adHoc), 1, false, false},
		"two, both hardened":      {approvaltest.Universal(false, part(arm, hardened), part(intel, hardened)), 2, true, false},
		"two, one not hardened":   {approvaltest.Universal(false, part(arm, hardened), part(intel, adHoc)), 2, false, false},
		"no program":              {unsigned, 0, false, true},
		"a signed one, cut short": {part(arm, hardened)[:4000], 0, false, true},
	} {
		path := filepath.Join(t.TempDir(), "program")
		if err := os.WriteFile(path, c.text, 0o600); err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if got := codeIn(f); len(got.hashes) != c.hashes || got.hardened != c.hardened || got.unsigned != c.unsigned {
			t.Errorf("%s: %+v", name, got)
		}
		f.Close()
	}
}

func TestFromToken(t *testing.T) {
	token := auditToken{1: 501, 5: 77, 7: 3}
	for name, c := range map[string]struct {
		uid  uint32
		size int
		want holder
	}{
		"whole":                 {501, 32, holder{501, 77, 3}},
		"too short":             {501, 28, holder{}},
		"another user holds it": {502, 32, holder{}},
	} {
		got, err := fromToken(c.uid, token, c.size)
		if got != c.want || (err == nil) != (c.want != holder{}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}
