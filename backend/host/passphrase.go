package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"time"

	"github.com/countersign-app/countersign/backend/operator"
	"github.com/countersign-app/countersign/backend/vault"
)

// readKeys reads what signatures are checked with: the key of the passphrase, if
// one is set, and those of root's file.
func (h *Host) readKeys() error {
	key, err := operator.Read(h.opt.State.OperatorPublic())
	switch {
	case err == nil:
		h.keys, h.passphrase = append(h.keys, key), true
		h.notice(key.Hash())
	case errors.Is(err, fs.ErrNotExist):
		h.notice("")
	default:
		return fmt.Errorf("cannot tell the person's passphrase: %w", err)
	}
	if h.opt.OperatorKeys == "" {
		return nil
	}
	keys, err := operator.ReadRoot(h.opt.OperatorKeys)
	if err != nil {
		return fmt.Errorf("cannot read the keys that may operate: %w", err)
	}
	h.keys = append(h.keys, keys...)
	return nil
}

const (
	// seenName names in the vault what the last host saw of the passphrase's key.
	seenName = "operator.seen"
	// tellsChange is how long a change of it is told: another start must not be
	// enough to hide it.
	tellsChange = 7 * 24 * time.Hour
)

// seen is the key that was there at the last start.
type seen struct {
	Hash string `json:"hash"` // "" for none
	// Changed is when a start found another one than the start before it, in unix
	// milliseconds.
	Changed int64 `json:"changed,omitempty"`
}

// notice compares the key with the one of the last start. A host does not change
// it, so whoever did was the person at `operator passphrase`, or a program that
// wants to say yes in their place: the person is told, and knows.
func (h *Host) notice(hash string) {
	kept := vault.Open(h.opt.State.Dir)
	text, err := kept.Get(seenName)
	var was seen
	switch first := errors.Is(err, fs.ErrNotExist); {
	case err != nil && !first:
		h.log.Error("it cannot be told whether the passphrase is the one of the last start", "error", err)
		return
	case !first && json.Unmarshal(text, &was) == nil && was.Hash == hash:
		h.keyChanged = was.Changed
		return
	case !first:
		h.keyChanged = h.started.UnixMilli()
		h.log.Warn("the passphrase was changed while no host ran", "file", h.opt.State.OperatorPublic())
	}
	text, err = json.Marshal(seen{hash, h.keyChanged})
	if err == nil {
		err = kept.Set(seenName, text)
	}
	if err != nil {
		h.log.Error("it was not kept which passphrase was seen", "error", err)
	}
}

// passphraseChanged is when a start found another passphrase than the one before
// it, in unix milliseconds, as long as that is told; else 0.
func (h *Host) passphraseChanged() int64 {
	if time.Since(time.UnixMilli(h.keyChanged)) > tellsChange {
		return 0
	}
	return h.keyChanged
}

// Way is how a host knows that the person agrees to what loosens or says yes.
type Way string

const (
	ByWindow     Way = "window"     // a click in the window of the app
	ByPassphrase Way = "passphrase" // typed at a terminal
	ByKey        Way = "key"        // a signature with a key of root's file
	ByTerminal   Way = "terminal"   // what is typed at the host's own terminal
	ByAnyone     Way = "anyone"     // nobody is asked: --operate=anyone
)

// ways are those of this moment; none where nobody can agree.
func (h *Host) ways() []Way {
	list := []Way{}
	if h.opt.Panel {
		list = append(list, ByWindow)
	}
	switch {
	case h.opt.OperateAnyone:
		return append(list, ByAnyone)
	case h.panelOnly():
		return list
	case len(h.keys) == 0 && h.opt.Terminal:
		return append(list, ByTerminal)
	}
	if h.passphrase {
		list = append(list, ByPassphrase)
	}
	if h.opt.OperatorKeys != "" {
		list = append(list, ByKey)
	}
	return list
}

// answersFrom are the gateways and programs whose answers the policy lets count,
// whoever gave them.
func (h *Host) answersFrom() (list []string) {
	doc := h.store.Snapshot().Document
	if doc == nil {
		return nil
	}
	for _, agent := range doc.Agents {
		list = append(list, agent.AcceptAnswersFrom...)
	}
	slices.Sort(list)
	return slices.Compact(list)
}
