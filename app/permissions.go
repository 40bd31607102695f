package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/countersign-app/countersign/app/mac"
	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/signature"
)

// permissions are what macOS granted us, and what it granted builds of before.
type permissions struct {
	path    string
	install func() mac.Install
	look    func(id string) mac.State
	mu      sync.Mutex // of the file
}

func newPermissions(path string) *permissions {
	return &permissions{path: path, install: sync.OnceValue(installed), look: mac.Look}
}

// Permissions returns what macOS lets commands do. The list is empty where
// nothing of that is needed.
func (s *Settings) Permissions() shown.Permissions { return s.app.permissions.show() }

// RequestPermission has macOS ask the person, or where it cannot, shows the
// permission in System Settings.
func (s *Settings) RequestPermission(id string) Saved { return s.permit(id, mac.Request) }

// OpenPermission shows a permission in System Settings.
func (s *Settings) OpenPermission(id string) Saved { return s.permit(id, mac.OpenSettings) }

func (s *Settings) permit(id string, act func(string) error) Saved {
	err := errNotOpen
	if s.app.edits() {
		err = act(id)
	}
	if err != nil {
		return Saved{Message: sentence(err)}
	}
	return Saved{OK: true}
}

func (p *permissions) show() shown.Permissions {
	p.mu.Lock()
	defer p.mu.Unlock()
	in := p.install()
	page := shown.Permissions{List: []shown.Permission{}, AdHoc: in.AdHoc, Translocated: in.Translocated}
	grants, learned := p.read(), false
	for _, one := range mac.Permissions {
		state := p.look(one.ID)
		if state == mac.NotNeeded {
			continue
		}
		stale, changed := grants.Notice(one.ID, state, in.Identity)
		learned = learned || changed
		page.List = append(page.List, shown.Permission{
			ID: one.ID, Title: one.Title, Purpose: one.Purpose, State: string(state), Asks: one.Asks, Stale: stale,
		})
	}
	if learned {
		if err := p.save(grants); err != nil {
			fmt.Fprintln(os.Stderr, "Countersign: cannot remember what macOS granted:", err)
		}
	}
	return page
}

// read returns what was granted before. What cannot be read is not known.
func (p *permissions) read() mac.Grants {
	grants := mac.Grants{}
	text, err := readPlain(p.path)
	if err == nil {
		err = json.Unmarshal(text, &grants)
	}
	if err != nil || grants == nil {
		return mac.Grants{}
	}
	return grants
}

func (p *permissions) save(grants mac.Grants) error {
	return replace(p.path, func(w io.Writer) error { return json.NewEncoder(w).Encode(grants) })
}

// installed tells what macOS makes of this program. Elsewhere nobody signs.
func installed() mac.Install {
	path, err := os.Executable()
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return mac.Install{}
	}
	in := mac.Install{Translocated: mac.Translocated(path)}
	f, err := os.Open(path)
	if err != nil {
		return in
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return in
	}
	list, err := signature.Read(f, info.Size())
	if err == nil {
		in.Identity, in.AdHoc = identity(list)
	}
	return in
}

// identity is what TCC knows a program by: who signed it, or else the hashes
// of this build.
func identity(list []signature.Signature) (name string, adHoc bool) {
	if one, err := signature.Agreed(list); err == nil && one.Signer() != "" {
		return one.Signer(), false
	}
	for _, s := range list {
		name += s.CDHash
	}
	return name, true
}
