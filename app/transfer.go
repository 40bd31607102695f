package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
	"unicode"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/store"
)

// imported is the list that the page shows before it is added: what is added
// then is what was shown, whatever is in the file by now.
type imported struct {
	mu             sync.Mutex
	token, agentID string
	entries        []approval.Entry
}

func (i *imported) keep(agentID string, entries []approval.Entry) (token string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.token, i.agentID, i.entries = rand.Text(), agentID, entries
	return i.token
}

// take gives the list with this token, once.
func (i *imported) take(token, agentID string) ([]approval.Entry, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if token == "" || token != i.token || agentID != i.agentID {
		return nil, false
	}
	entries := i.entries
	i.token, i.entries = "", nil
	return entries, true
}

// ExportAllowlist writes the allowlist of an agent to a file that the person
// chooses, in the form of the policy file.
func (s *Settings) ExportAllowlist(agentID string) Exported {
	if !s.app.edits() {
		return Exported{Message: sentence(errNotOpen)}
	}
	var list []store.Entry
	if doc := s.app.host.Policy().Document; doc != nil && doc.Agents[agentID] != nil {
		list = doc.Agents[agentID].Allowlist
	}
	text, err := store.EncodeAllowlist(agentID, list)
	if err != nil {
		return Exported{Message: sentence(err)}
	}
	at, err := s.app.chooseFile("countersign-" + fileName(agentID) + ".json")
	if at == "" || err != nil {
		return Exported{OK: err == nil, Message: said(err)}
	}
	err = replace(at, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
	if err != nil {
		return Exported{Message: sentence(err)}
	}
	return Exported{OK: true, Rows: len(list), File: display.Escape(at)}
}

// fileName is what of an agent's id can be in the name of a file.
func fileName(agentID string) string {
	if agentID == shown.Every {
		return "every-agent"
	}
	name := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r) || r == '-' || r == '_') {
			return r
		}
		return '-'
	}, agentID)
	return name[:min(len(name), 64)]
}

// ChooseImport has the person choose a file, and tells what it would add to the
// allowlist of an agent. Nothing is added yet.
func (s *Settings) ChooseImport(agentID string) shown.ImportList {
	none := shown.ImportList{Rows: []shown.ImportRow{}}
	if !s.app.edits() {
		none.Problem = sentence(errNotOpen)
		return none
	}
	at, err := s.app.chooseOpen()
	if at == "" && err == nil {
		return none
	}
	none.File = display.Escape(at)
	var entries []approval.Entry
	if err == nil {
		entries, err = readAllowlist(at, s.app.person.Home, agentID)
	}
	doc := s.app.host.Policy().Document
	if err == nil && doc == nil {
		err = errors.New("the policy file cannot be used")
	}
	if err != nil {
		none.Problem = sentence(fmt.Errorf("nothing is imported: %w", err))
		return none
	}
	ctx, cancel := context.WithTimeout(context.Background(), surveyTime)
	defer cancel()
	return s.describe(s.app.newSurvey(ctx, wildTime), none, agentID, entries, doc.Missing(agentID, entries))
}

// describe tells what a list would add.
func (s *Settings) describe(v survey, list shown.ImportList, agentID string, entries []approval.Entry, missing []bool) shown.ImportList {
	in := s.app.names()
	for i, e := range entries {
		row := shown.NewImportRow(e, !missing[i], in)
		if missing[i] {
			list.New++
			w, known := v.look(e.Pattern)
			if w.Kind != "" {
				row.Warning = &w
			}
			list.Partial = list.Partial || !known
		}
		list.Rows = append(list.Rows, row)
	}
	if list.New > 0 {
		list.Token = s.imports.keep(agentID, entries)
	}
	return list
}

// TakeImport adds what a person saw of a list, in one edit. Which files run under
// the entries is recorded now, on this machine.
func (s *Settings) TakeImport(agentID, rev, token string) Saved {
	entries, ok := s.imports.take(token, agentID)
	if !ok || s.app.host.Policy().Document == nil {
		return s.failed(errChanged, agentID)
	}
	// Files are read before the policy is locked.
	for i, missing := range s.app.host.Policy().Document.Missing(agentID, entries) {
		if missing {
			host.RecordIdentity(&entries[i], s.app.person.Home)
		}
	}
	return s.edit(agentID, rev, func(d *store.Document) error {
		for i, missing := range d.Missing(agentID, entries) {
			if missing {
				e := entries[i]
				e.AddedAt, e.AddedBy = time.Now().UnixMilli(), "import"
				d.Add(agentID, e)
			}
		}
		return nil
	})
}

// readAllowlist reads a plain file of at most store.MaxImport bytes.
func readAllowlist(at, home, agentID string) ([]approval.Entry, error) {
	// What is put in its place cannot hang us.
	f, err := os.OpenFile(at, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.New(filepath.Base(at) + " is no plain file")
	}
	text, err := io.ReadAll(io.LimitReader(f, store.MaxImport+1))
	if err != nil {
		return nil, err
	}
	return store.ParseAllowlist(filepath.Base(at), text, home, agentID)
}
