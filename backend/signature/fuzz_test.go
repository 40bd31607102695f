package signature_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approvaltest"
	"github.com/countersign-app/countersign/backend/signature"
)

var (
	printable = regexp.MustCompile(`^[ -~]{1,255}$`)
	hash      = regexp.MustCompile(`^[0-9a-f]{40}$`)
	signer    = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}/[A-Za-z0-9._-]{1,255}$`)
	asked     = regexp.MustCompile(`^[A-Za-z0-9 .="\[\]()_-]+$`)
)

func FuzzRead(f *testing.F) {
	whole := twoSlices()
	seeds := [][]byte{
		build(program()), whole,
		build(with(func(m *approvaltest.MachO) { m.CPU, m.Big, m.Wide, m.Size = power, true, false, 500 })),
		build(with(func(m *approvaltest.MachO) { m.Kinds = nil })),
		build(with(func(m *approvaltest.MachO) { m.Kinds, m.Size = []byte{4, 3, 2, 1}, 600 })),
		approvaltest.Universal(true, build(program())),
	}
	for _, p := range malformed {
		seeds = append(seeds, p.apply(whole))
	}
	for _, b := range seeds {
		f.Add(b, len(b)/2)
	}
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		before := allocated()
		got, err := read(b)
		// Each of 64 architectures may take a buffer beside its own bytes.
		if used := allocated() - before; used > uint64(64<<20+4*len(b)) {
			t.Errorf("%d bytes were allocated for %d", used, len(b))
		}
		if again, _ := read(b); !slices.Equal(got, again) {
			t.Errorf("%+v, and then %+v", got, again)
		}
		if err != nil && got != nil || err == nil && len(got) == 0 {
			t.Errorf("%+v, %v", got, err)
		}
		for _, s := range got {
			if s != (signature.Signature{}) && (!printable.MatchString(s.Identifier) || s.Team != "" && !printable.MatchString(s.Team) || !hash.MatchString(s.CDHash)) {
				t.Errorf("%+v", s)
			}
		}
		claim, err := signature.Agreed(got)
		text := signature.Requirement(got)
		if named := claim.Signer() != ""; named != (text != "") || named && (err != nil || !signer.MatchString(claim.Signer()) || !asked.MatchString(text)) {
			t.Errorf("%+v, %v: signed by %q, must satisfy %q", claim, err, claim.Signer(), text)
		}
		if strings.Count(text, `"`)%2 == 1 || strings.Count(text, " and ") > 5 {
			t.Errorf("it must satisfy %q", text)
		}
		// A file that was cut off has no signature, or the same.
		if cut < 0 || cut > len(b) {
			return
		}
		if less, err := read(b[:cut]); err == nil && !slices.EqualFunc(less, got, sameName) {
			t.Errorf("%+v, and the first %d bytes %+v", got, cut, less)
		}
	})
}

// sameName compares all but whether the file is what was signed: what was cut
// off may be what did not belong to it.
func sameName(a, b signature.Signature) bool {
	a.Intact = b.Intact
	return a == b
}
