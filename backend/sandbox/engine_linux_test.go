package sandbox

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const testImage = "countersign/busybox:test"

// daemon is the Docker engine that the tests share. It begins with the first
// that needs it and ends with the last.
var daemon struct {
	once   sync.Once
	dir    string
	cmd    *exec.Cmd
	log    bytes.Buffer
	broken error
}

func TestMain(m *testing.M) {
	status := m.Run()
	if daemon.cmd != nil {
		_ = daemon.cmd.Process.Signal(unix.SIGTERM)
		_ = daemon.cmd.Wait()
		_ = unix.Unmount(filepath.Join(daemon.dir, "exec/netns/default"), unix.MNT_DETACH)
		_ = os.RemoveAll(daemon.dir)
	}
	os.Exit(status)
}

// docker returns the socket of a real engine, which has one small image.
func docker(t *testing.T) string {
	t.Helper()
	daemon.once.Do(func() { daemon.broken = startDaemon() })
	if daemon.broken != nil {
		t.Skipf("skipped: no engine could be started: %v", daemon.broken)
	}
	return filepath.Join(daemon.dir, "docker.sock")
}

func startDaemon() (err error) {
	if os.Getuid() != 0 {
		return fmt.Errorf("dockerd needs root")
	}
	if daemon.dir, err = os.MkdirTemp("/tmp", "csd"); err != nil {
		return err
	}
	d := daemon.dir
	cmd := exec.Command("dockerd", "--host", "unix://"+d+"/docker.sock", "--data-root", d+"/data", "--exec-root", d+"/exec", "--pidfile", d+"/docker.pid", "--storage-driver=vfs",
		"--iptables=false", "--ip6tables=false", "--bridge=none", "--ip-forward=false", "--ip-masq=false", "--userland-proxy=false")
	cmd.Stdout, cmd.Stderr = &daemon.log, &daemon.log
	if err := cmd.Start(); err != nil {
		return err
	}
	daemon.cmd = cmd
	e := newEngine(d + "/docker.sock")
	for range 300 {
		if err = e.do(context.Background(), http.MethodGet, "/_ping", nil, nil); err == nil {
			return importImage(e)
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("%w: %s", err, daemon.log.String())
}

// importImage makes an image of busybox and the libraries that it needs.
func importImage(e *engine) error {
	busybox, err := exec.LookPath("busybox")
	if err != nil {
		return err
	}
	files := []string{busybox}
	libraries, _ := exec.Command("ldd", busybox).Output() // none where it is static
	for _, word := range strings.Fields(string(libraries)) {
		if strings.HasPrefix(word, "/") {
			files = append(files, word)
		}
	}
	var image bytes.Buffer
	w := tar.NewWriter(&image)
	folders := map[string]bool{}
	for _, f := range append(files, "/bin/sh") {
		for dir := filepath.Dir(f); dir != "/" && !folders[dir]; dir = filepath.Dir(dir) {
			folders[dir] = true
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(folders)) {
		if err := w.WriteHeader(&tar.Header{Name: dir[1:] + "/", Mode: 0o755, Typeflag: tar.TypeDir}); err != nil {
			return err
		}
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		if err := w.WriteHeader(&tar.Header{Name: strings.TrimPrefix(f, "/"), Mode: 0o755, Size: int64(len(text))}); err != nil {
			return err
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	for _, applet := range strings.Fields("sh cat sleep id env touch kill ls pwd yes head setsid nc dd stat") {
		if err := w.WriteHeader(&tar.Header{Name: "bin/" + applet, Linkname: busybox, Typeflag: tar.TypeSymlink}); err != nil {
			return err
		}
	}
	if err := w.WriteHeader(&tar.Header{Name: "tmp/", Mode: 0o1777, Typeflag: tar.TypeDir}); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	req, err := http.NewRequest(http.MethodPost, "http://docker"+apiVersion+"/images/create?fromSrc=-&repo=countersign/busybox&tag=test", &image)
	if err != nil {
		return err
	}
	resp, err := e.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if text, err := io.ReadAll(resp.Body); err != nil || resp.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s %v", resp.Status, text, err)
	}
	return nil
}
