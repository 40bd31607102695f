package machine

import (
	"bytes"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/paths"
)

// Version says which version of which package a file is, as far as its path
// tells: "ripgrep 14.1.0" in a Cellar. It is for people only.
func Version(file string) string {
	for _, store := range paths.PackageStores() {
		rest, ok := strings.CutPrefix(file, store+"/")
		if !ok {
			continue
		}
		name, rest, _ := strings.Cut(rest, "/")
		if store == "/nix/store" { // a hash, then name and version
			_, name, _ = strings.Cut(name, "-")
			return name
		}
		version, _, deeper := strings.Cut(rest, "/")
		if !deeper {
			return ""
		}
		return name + " " + version
	}
	return ""
}

// dpkgLists is where dpkg keeps which files each package brought.
const dpkgLists = "/var/lib/dpkg/info"

// Packaged reports whether a file came with a package of the system and only
// root can put another one in its place.
// It reads what dpkg knows, some megabytes, so it is for files that changed
// and not for every judgement.
func Packaged(file approval.File) bool {
	return onlyRoot(file) && inLists(dpkgLists, file.Path)
}

// onlyRoot reports whether nobody but root can change a file or the names that
// lead to it.
func onlyRoot(file approval.File) bool {
	if !file.OfRoot() {
		return false
	}
	for dir := path.Dir(file.Path); ; dir = path.Dir(dir) {
		at, err := Disk{}.Look(dir)
		if err != nil || at.Path != dir || !at.OfRoot() {
			return false
		}
		if dir == "/" {
			return true
		}
	}
}

// maxList bounds one list of a package; the longest known are a tenth of it.
const maxList = 16 << 20

func inLists(dir, file string) bool {
	lists, _ := filepath.Glob(dir + "/*.list")
	line := []byte("\n" + file + "\n")
	for _, name := range lists {
		if st, err := os.Stat(name); err != nil || st.Size() > maxList {
			continue
		}
		text, err := os.ReadFile(name)
		if err == nil && (bytes.Contains(text, line) || bytes.HasPrefix(text, line[1:])) {
			return true
		}
	}
	return false
}

// Upgraded says where a file is after the upgrade that changed another one,
// if one upgrade changes both: they lie in one folder, or came with one package
// whose versions have folders of their own. It is "" otherwise.
func Upgraded(file, changed string) string {
	if path.Dir(file) == path.Dir(changed) {
		return file
	}
	for _, store := range paths.PackageStores() {
		if store == "/nix/store" { // a folder says nothing of the one before
			continue
		}
		name, _, rest := inStore(file, store)
		if other, version, at := inStore(changed, store); name != "" && at != "" && name == other {
			return path.Join(store, name, version, rest)
		}
	}
	return ""
}

// inStore takes a path in a store of packages apart. All is empty for a file
// that lies elsewhere.
func inStore(file, store string) (name, version, rest string) {
	below, ok := strings.CutPrefix(file, store+"/")
	if !ok {
		return "", "", ""
	}
	name, below, _ = strings.Cut(below, "/")
	version, rest, ok = strings.Cut(below, "/")
	if !ok {
		return "", "", ""
	}
	return name, version, rest
}
