package gateway

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/link"
	"github.com/countersign-app/countersign/backend/store"
)

// devices is the file that says who may come in. A device is let in once for
// each role that it has.
type devices struct {
	path string
	mu   sync.Mutex
	file deviceFile
}

type deviceFile struct {
	Version int        `json:"version"`
	Devices []device   `json:"devices"`
	Waiting []*waiting `json:"waiting"`
}

// device is somebody who was let in.
type device struct {
	ID       string   `json:"deviceId"`
	Role     string   `json:"role"`
	Name     string   `json:"displayName,omitempty"`
	Renamed  bool     `json:"renamed,omitempty"` // a person chose the name
	Platform string   `json:"platform,omitempty"`
	Family   string   `json:"deviceFamily,omitempty"`
	Scopes   []string `json:"scopes,omitempty"`
	IP       string   `json:"remoteIp,omitempty"`
	// Commands are those of a node that a person approved.
	Commands []string `json:"commands,omitempty"`
	// Secret is the SHA-256 of the token that the device was given, in hex.
	Secret string `json:"secret,omitempty"`
	Since  int64  `json:"approvedAtMs"`
}

// Stages of pairing.
const (
	stageDevice  = "device"  // may it come in?
	stageSurface = "surface" // which commands of the node may be called?
)

// waiting is what a person is asked about a device. As an error it says that
// the device waits.
type waiting struct {
	RequestID string `json:"requestId"`
	Stage     string `json:"stage"`
	Asked     int64  `json:"ts"` // unix milliseconds
	device

	fresh bool
}

func (w *waiting) Error() string { return "pairing required" }

// Bounds of the file.
const (
	maxDevices  = 1000
	maxWaiting  = 100
	maxCommands = 500
	maxFile     = 16 << 20
)

var errFull = link.Refuse(link.CodeUnavailable, "too many devices: remove some")

func openDevices(path string) (*devices, error) {
	d := &devices{path: path, file: deviceFile{Version: 1}}
	text, err := readSmall(path)
	if errors.Is(err, fs.ErrNotExist) {
		return d, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &d.file)
	}
	if err == nil && d.file.Version != 1 {
		err = fmt.Errorf("it is of version %d", d.file.Version)
	}
	if err != nil {
		return nil, fmt.Errorf("%s cannot be read, and it says who may come in: mend it, or move it away and pair again: %w", path, err)
	}
	return d, nil
}

// readSmall reads a file of ours.
func readSmall(path string) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, errors.New("it is no plain file of ours")
	}
	return os.ReadFile(path)
}

// change writes the file as do left it, unless do fails.
func (d *devices) change(do func(f *deviceFile) error) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	next := deviceFile{1, slices.Clone(d.file.Devices), slices.Clone(d.file.Waiting)}
	if err := do(&next); err != nil || reflect.DeepEqual(next, d.file) {
		return err
	}
	text, err := json.MarshalIndent(next, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(d.path), 0o700)
	}
	if err == nil {
		err = store.Replace(d.path, append(text, '\n'))
	}
	if err == nil {
		d.file = next
	}
	return err
}

func (f *deviceFile) find(id, role string) *device {
	i := slices.IndexFunc(f.Devices, func(have device) bool { return have.ID == id && have.Role == role })
	if i < 0 {
		return nil
	}
	return &f.Devices[i]
}

// list returns copies.
func (d *devices) list() deviceFile {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := deviceFile{1, slices.Clone(d.file.Devices), nil}
	for _, w := range d.file.Waiting {
		c := *w
		f.Waiting = append(f.Waiting, &c)
	}
	return f
}

func hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// knows reports whether this is the token that the device was given.
func (d *devices) knows(id, role, token string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	have := d.file.find(id, role)
	return have != nil && have.Secret != "" && same(have.Secret, hash(token))
}

// admit lets a device in that was let in before as what it wants to be now,
// or anybody for whom welcome is true. A device that holds the token of the
// gateway is given one of its own. Everybody else waits: the error is a
// *waiting.
func (d *devices) admit(wants device, welcome, holder bool) (granted device, token string, err error) {
	var waits *waiting
	err = d.change(func(f *deviceFile) error {
		have := f.find(wants.ID, wants.Role)
		fits := have != nil && have.Platform == wants.Platform && have.Family == wants.Family && len(common(wants.Scopes, have.Scopes)) == len(wants.Scopes)
		switch {
		case !fits && !welcome:
			waits, err = f.wait(stageDevice, wants)
			return err
		case !fits:
			if have, err = f.put(wants); err != nil {
				return err
			}
		}
		have.IP = wants.IP
		if !have.Renamed {
			have.Name = wants.Name
		}
		if holder {
			token = rand.Text() + rand.Text()
			have.Secret = hash(token)
		}
		granted = *have
		return nil
	})
	if err == nil && waits != nil {
		err = waits
	}
	return granted, token, err
}

// put lets a device in. What a person approved of its commands holds, while
// its platform stays.
func (f *deviceFile) put(wants device) (*device, error) {
	wants.Since = time.Now().UnixMilli()
	if have := f.find(wants.ID, wants.Role); have != nil {
		if have.Renamed {
			wants.Name, wants.Renamed = have.Name, true
		}
		if have.Platform == wants.Platform && have.Family == wants.Family {
			wants.Commands = have.Commands
		}
		*have = wants
		return have, nil
	}
	if len(f.Devices) >= maxDevices {
		return nil, errFull
	}
	f.Devices = append(f.Devices, wants)
	return &f.Devices[len(f.Devices)-1], nil
}

// wait notes what a person is asked. A device waits once for each stage, with
// what it wants now.
func (f *deviceFile) wait(stage string, wants device) (*waiting, error) {
	now := time.Now().UnixMilli()
	for i, have := range f.Waiting {
		if have.ID != wants.ID || have.Role != wants.Role || have.Stage != stage {
			continue
		}
		changed := strings.Join(have.Scopes, ",") != strings.Join(wants.Scopes, ",") || !slices.Equal(have.Commands, wants.Commands) || have.Platform != wants.Platform || have.Family != wants.Family
		next := &waiting{RequestID: have.RequestID, Stage: stage, Asked: have.Asked, device: wants, fresh: changed}
		if changed { // who approves must have seen this
			next.RequestID, next.Asked = rand.Text(), now
		}
		f.Waiting[i] = next
		return next, nil
	}
	if len(f.Waiting) >= maxWaiting {
		return nil, link.Refuse(link.CodeUnavailable, "too many devices wait to be approved")
	}
	w := &waiting{RequestID: rand.Text(), Stage: stage, Asked: now, device: wants, fresh: true}
	f.Waiting = append(f.Waiting, w)
	return w, nil
}

// take removes what waits under an id.
func (f *deviceFile) take(requestID, stage string) (*waiting, error) {
	for i, w := range f.Waiting {
		if w.RequestID == requestID && w.Stage == stage {
			f.Waiting = slices.Delete(f.Waiting, i, i+1)
			return w, nil
		}
	}
	return nil, link.Refuse(link.CodeInvalid, "unknown requestId")
}
