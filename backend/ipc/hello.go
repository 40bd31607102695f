package ipc

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"path/filepath"

	"github.com/countersign-app/countersign/backend/proc"
)

// helloReply tells a client which state folder this host serves.
type helloReply struct {
	Type   string     `json:"type"`
	ID     string     `json:"id"`
	Folder folderWire `json:"folder"`
	// Challenge is for one of our programs: its calls carry it.
	Challenge string `json:"challenge,omitempty"`
}

// hello answers who asks whose host this is. It says nothing secret.
func (c *conn) hello(f frame) bool {
	// What the process wrote before it became our program cannot know this, nor
	// does who looked into it before and let go.
	aside, err := proc.AsideOf(c.at.pid)
	if c.ours && c.challenge == "" && c.s.door.programs.run(c.at.pid) && err == nil && alone(aside) == nil {
		var random [16]byte
		rand.Read(random[:]) // never fails
		c.challenge = hex.EncodeToString(random[:])
	}
	c.send(helloReply{kindHello, f.id, c.s.folder, c.challenge})
	return true
}

// folderOf names the folder that a file is in.
func folderOf(path string) (folderWire, error) {
	info, err := os.Lstat(filepath.Dir(path))
	if err != nil {
		return folderWire{}, err
	}
	return inodeOf(info), nil
}
