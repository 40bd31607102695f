package protected

import (
	"slices"
	"strings"
	"sync"
)

// Copies of files have the name of what they were made from, with more around
// it: .env~, id_rsa (1), .npmrc.bak, #.env#, credentials copy.json. What is put
// there by editors, packages, people and programs that pack is taken away, and
// the list is asked for what is left.

// copyEnds stand behind the name, after one of apart, and a number may follow.
var copyEnds = sync.OnceValue(func() map[string]bool {
	set := map[string]bool{}
	for _, word := range strings.Fields(`bak bk bkp bck back backup backups old older orig original save saved sav
		prev previous copy kopie copie copia tmp temp new rej part partial download crdownload disabled
		dpkg ucf rpmsave rpmnew rpmorig pacsave pacnew pacorig txt swp swo swn swm un
		gz bz2 xz zst lz4 lzma zip 7z rar tar tgz`) {
		set[strings.TrimRight(word, digits)] = true
		set[word] = true
	}
	return set
})

// copyBegins stand before it.
var copyBegins = sync.OnceValue(func() []string {
	return expand("{#,.#,{copy,kopie,copie,copia,backup,bak,old}{ ,.,_,-}{,{of,von,de,di}{ ,_,-}}}")
})

const (
	apart  = " ._-"
	digits = "0123456789"
)

// maxCopies bounds the names of which one may be a copy.
const maxCopies = 12

// copied returns the names of which a name may be that of a copy.
func copied(name string) (list []string) {
	tried := []string{name}
	for i := 0; i < len(tried) && len(tried) < maxCopies; i++ {
		more := []string{withoutBegin(tried[i]), withoutEnd(tried[i]), ""}
		if dot := strings.LastIndexByte(tried[i], '.'); dot > 0 {
			if stem := withoutEnd(tried[i][:dot]); stem != tried[i][:dot] && stem != "" {
				more[2] = stem + tried[i][dot:]
			}
		}
		if i > 0 && name[0] == '.' { // vim puts a dot before it
			more = append(more, strings.TrimLeft(tried[i], "."))
		}
		for _, one := range more {
			if one != "" && !slices.Contains(tried, one) {
				tried, list = append(tried, one), append(list, one)
			}
		}
	}
	return list
}

func withoutBegin(name string) string {
	if !strings.Contains("#.ckbo", name[:1]) {
		return name
	}
	for _, begin := range copyBegins() {
		if rest, ok := strings.CutPrefix(name, begin); ok && rest != "" {
			name = rest
		}
	}
	return strings.TrimRight(name, "#")
}

func withoutEnd(name string) string {
	if rest := strings.TrimRight(name, "~"); rest != name {
		return rest
	}
	word, from := "", -1
	if inner, ok := strings.CutSuffix(name, ")"); ok {
		from = strings.LastIndexByte(inner, '(')
		word = inner[from+1:]
	} else if from = strings.LastIndexAny(name, apart); from >= 0 {
		word = name[from+1:]
	}
	if from < 1 || word == "" {
		return name
	}
	time := strings.IndexByte(digits, word[0]) >= 0 && strings.Trim(word, digits+":tz") == ""
	if !time && !copyEnds()[word] && !copyEnds()[strings.TrimRight(word, digits)] {
		return name
	}
	return strings.TrimRight(name[:from], apart)
}

// copiedFrom returns a path without what tells that its hidden folders are
// copies of others, as in .ssh.bak/work, and nil if they are none.
func copiedFrom(folder []string) (names []string) {
	for i, name := range folder {
		if plain := withoutEnd(name); name[0] == '.' && plain != name && plain != "" {
			if names == nil {
				names = slices.Clone(folder)
			}
			names[i] = plain
		}
	}
	return names
}
