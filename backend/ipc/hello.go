package ipc

import (
	"os"
	"path/filepath"
)

// helloReply tells a client which state folder this host serves.
type helloReply struct {
	Type   string     `json:"type"`
	ID     string     `json:"id"`
	Folder folderWire `json:"folder"`
}

// hello answers who asks whose host this is. It says nothing secret.
func (c *conn) hello(f frame) bool {
	c.send(helloReply{kindHello, f.id, c.s.folder})
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
