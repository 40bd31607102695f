package vault

import (
	"os"
	"sync"

	"github.com/countersign-app/countersign/backend/signature"
)

// ourTeam is the developer who signed this program, "" for nobody. The Keychain
// checks it too; this only tells which of the two is to be asked.
var ourTeam = sync.OnceValue(func() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	list, err := signature.Read(f, info.Size())
	if err != nil {
		return ""
	}
	return teamOf(list)
})

func teamOf(list []signature.Signature) string {
	one, err := signature.Agreed(list)
	if err != nil || one.Signer() == "" {
		return ""
	}
	return one.Team
}
