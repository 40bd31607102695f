package command

import (
	"path"
	"strings"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/protected"
)

// A person may keep in a project what programs start from: the names in the home
// folder are links then, and a folder of PATH may lie there too. What is written in
// the project starts all the same, so a path counts as each name that leads to it.

// elsewhere remembers for a while where such names lead.
type elsewhere struct {
	mu    sync.Mutex
	read  time.Time
	links []homeLink
	path  []string // folders of PATH, as they are named and where they are
}

// homeLink says that what is at a path is what a name in the home folder means, both
// as they are compared.
type homeLink struct{ at, name string }

// Bounds of the look into the home folder: how long it counts, and how many names
// are looked at.
const (
	elsewhereLasts = 10 * time.Second
	maxHomeNames   = 4000
)

// leads returns where the names of the home folder that are links lead, and where the
// folders of PATH are.
func (a *Analyzer) leads() (links []homeLink, dirs []string) {
	e := &a.elsewhere
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.read.IsZero() && time.Since(e.read) < elsewhereLasts {
		return e.links, e.path
	}
	e.links, e.path = nil, nil
	for _, p := range a.path {
		if !path.IsAbs(p.dir) {
			continue
		}
		e.path = append(append(e.path, protected.Fold(path.Clean(p.dir))), a.steps(path.Clean(p.dir))...)
	}
	e.links = a.homeLinks()
	e.read = time.Now()
	return e.links, e.path
}

// homeLinks goes through the home folder, as deep as names are listed.
func (a *Analyzer) homeLinks() (links []homeLink) {
	home, err := a.World.Look(a.Home)
	if err != nil {
		return nil
	}
	left, folders := maxHomeNames, []string{""}
	for len(folders) > 0 {
		rel := folders[0]
		folders = folders[1:]
		names, err := a.World.List(path.Join(home.Path, rel))
		if err != nil {
			continue
		}
		for _, name := range names {
			rel := path.Join(rel, name)
			at := path.Join(home.Path, rel)
			if !protected.Holds(rel) && !(protected.Of(at, home.Path) | protected.OfFolder(at, home.Path)).Has(protected.Secret|protected.Startup) {
				continue
			}
			if left--; left < 0 {
				return links
			}
			for _, step := range a.steps(at) {
				links = append(links, homeLink{step, at})
			}
			if file, err := a.World.Look(at); err == nil && file.Path == at && file.IsFolder() && protected.Holds(rel) {
				folders = append(folders, rel)
			}
		}
	}
	return links
}

// maxSteps bounds how many links one after the other are followed.
const maxSteps = 16

// steps are the places to which a link leads, as they are compared: that of each link
// on the way, and the last one, also where nothing is yet.
func (a *Analyzer) steps(at string) (list []string) {
	for range maxSteps {
		if folder, err := a.World.Look(path.Dir(at)); err == nil {
			real := path.Join(folder.Path, path.Base(at))
			if real != at && len(list) > 0 || real != at && a.World.Link(at) == "" {
				list = append(list, protected.Fold(real))
			}
			at = real
		}
		to := a.World.Link(at)
		if to == "" {
			break
		}
		if !path.IsAbs(to) {
			to = path.Dir(at) + "/" + to
		}
		at = path.Clean(to)
		list = append(list, protected.Fold(at))
	}
	return list
}

// otherwise returns what a path is by the names in the home folder that lead to it.
func (a *Analyzer) otherwise(at string, of func(at, home string) protected.Kind) (k protected.Kind) {
	links, _ := a.leads()
	at = protected.Fold(at)
	for _, link := range links {
		if within(at, link.at) {
			k |= of(link.name+at[len(link.at):], a.homePath())
		}
	}
	return k & (protected.Secret | protected.Startup)
}

// homePath is where the home folder is.
func (a *Analyzer) homePath() string {
	if home, err := a.World.Look(a.Home); err == nil {
		return home.Path
	}
	return a.Home
}

// inPath reports whether programs are found at a path by their names.
func (a *Analyzer) inPath(at string) bool {
	_, dirs := a.leads()
	at = protected.Fold(at)
	for _, dir := range dirs {
		if within(at, dir) {
			return true
		}
	}
	return false
}

// kinds says what a path is for a request: in a project, a folder of PATH is one from
// which programs start. One that PATH names from where somebody stands may be any of
// that name.
func (j *job) kinds(at string, look func(string) (approval.File, error)) protected.Kind {
	return j.Analyzer.kinds(at, look) | j.found(at)
}

// found says whether programs of PATH are found at a path in the project.
func (j *job) found(at string) (k protected.Kind) {
	if !j.plan.Folder.Holds(at) {
		return k
	}
	starts := j.inPath(at)
	for _, p := range j.path {
		if rel := path.Clean(p.dir); !path.IsAbs(rel) && strings.Trim(rel, "./") != "" {
			starts = starts || strings.Contains(protected.Fold(at)+"/", "/"+protected.Fold(rel)+"/")
		}
	}
	if starts {
		k |= protected.Startup
	}
	return k
}

// above reports whether files from which programs start may lie in a folder, by its
// name or because names in the home folder, or PATH, lead below it. The working
// directory is none by the latter: what is written there has names of its own.
func (j *job) above(at string) bool {
	return protected.Above(at, j.Home) || !within(j.plan.Cwd.Path, at) && j.plan.Folder.Holds(at) && len(j.leadsBelow(at)) > 0
}

// leadsBelow returns what in a folder names in the home folder lead to, and folders of
// PATH there, by the paths from it.
func (j *job) leadsBelow(at string) (list []string) {
	links, dirs := j.leads()
	for _, link := range links {
		dirs = append(dirs[:len(dirs):len(dirs)], link.at)
	}
	at = protected.Fold(at)
	for _, dir := range dirs {
		if rel, ok := strings.CutPrefix(dir, strings.TrimSuffix(at, "/")+"/"); ok {
			list = append(list, rel)
		}
	}
	return list
}
