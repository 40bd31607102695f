package node

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/countersign-app/countersign/backend/link"
	"github.com/countersign-app/countersign/backend/store"
)

// identity is node.json: who this machine is at gateways, and the tokens that
// they gave to it.
type identity struct {
	path   string
	mu     sync.Mutex
	Device link.Device       `json:"device"`
	Tokens map[string]string `json:"tokens,omitempty"` // by address of the gateway
}

// maxToken is the longest token that is kept, in bytes.
const maxToken = 4096

// maxIdentity is more than the file ever holds, in bytes.
const maxIdentity = 1 << 20

// Identity returns the identity of the machine whose file this is, and makes
// it where there is none.
func Identity(path string) (link.Device, error) {
	id, err := readIdentity(path)
	if err != nil {
		return link.Device{}, err
	}
	return id.Device, nil
}

// Gateways are those that the machine whose file this is has joined, as
// HOST:PORT, which is how their answers are named.
func Gateways(path string) []string {
	if _, err := os.Lstat(path); err != nil {
		return nil // none is made for this
	}
	id, err := readIdentity(path)
	if err != nil {
		return nil // the node service says so
	}
	var list []string
	for address := range id.Tokens {
		if at, err := url.Parse(address); err == nil && at.Host != "" {
			list = append(list, at.Host)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// readIdentity reads the file. One that is broken is an error, never a new
// identity: gateways know the old one.
func readIdentity(path string) (*identity, error) {
	id := &identity{path: path, Tokens: map[string]string{}}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if id.Device, err = link.NewDevice(); err != nil {
			return nil, err
		}
		return id, id.save()
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > maxIdentity:
		return nil, fmt.Errorf("%s is not the identity of a node: move it away", path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, id); err != nil || id.Device.None() {
		return nil, fmt.Errorf("%s cannot be read, and gateways know what was in it: mend it, or move it away and pair again", path)
	}
	if id.Tokens == nil {
		id.Tokens = map[string]string{}
	}
	return id, nil
}

func (id *identity) token(gateway string) string {
	id.mu.Lock()
	defer id.mu.Unlock()
	return id.Tokens[gateway]
}

// keep saves the token of a gateway.
func (id *identity) keep(gateway, token string) error {
	if len(token) > maxToken {
		return errors.New("the gateway gave a token that is too long")
	}
	id.mu.Lock()
	defer id.mu.Unlock()
	if id.Tokens[gateway] == token {
		return nil
	}
	old := maps.Clone(id.Tokens)
	id.Tokens[gateway] = token
	if err := id.save(); err != nil {
		id.Tokens = old
		return err
	}
	return nil
}

func (id *identity) save() error {
	text, err := json.MarshalIndent(id, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(id.path), 0o700); err != nil {
		return err
	}
	return store.Replace(id.path, append(text, '\n'))
}
