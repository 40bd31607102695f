//go:build linux || darwin

package machine_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/machine"
)

// Look tells the real path and the same identity, whichever way a file is
// reached.
func TestLook(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "real", "tool")
	if err := os.Mkdir(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("x"), 0o755); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"folder": "real", "link": "real/tool", "chain": "link", "loop": "loop", "nowhere": "nothing"} {
		if err := os.Symlink(to, filepath.Join(dir, from)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := machine.Disk{}.Look(file)
	if err != nil || want.Path != file || want.Size != 1 || want.Mode&0o777 != 0o755 || want.Ino == 0 {
		t.Fatalf("%+v, %v", want, err)
	}
	for _, way := range []string{"folder/tool", "link", "chain", "real/./tool", "real/../real/tool", "folder/../link"} {
		if got, err := (machine.Disk{}).Look(dir + "/" + way); err != nil || got != want {
			t.Errorf("%s: %+v, %v", way, got, err)
		}
	}
	for _, way := range []string{"loop", "nowhere", "real/none", "link/x"} {
		if got, err := (machine.Disk{}).Look(dir + "/" + way); err == nil {
			t.Errorf("%s leads to %+v", way, got)
		}
	}
}

// A file that changed while or after it was hashed has another identity.
func TestHashes(t *testing.T) {
	at := filepath.Join(t.TempDir(), "tool")
	if err := os.WriteFile(at, []byte("one"), 0o755); err != nil {
		t.Fatal(err)
	}
	var hashes machine.Hashes
	seen, err := machine.Disk{}.Look(at)
	if err != nil {
		t.Fatal(err)
	}
	one, err := hashes.Of(seen)
	if again, _ := hashes.Of(seen); err != nil || len(one) != 64 || again != one {
		t.Errorf("%q then %q, %v", one, again, err)
	}
	if err := os.WriteFile(at, []byte("two"), 0o755); err != nil {
		t.Fatal(err)
	}
	now, err := machine.Disk{}.Look(at)
	if err != nil {
		t.Fatal(err)
	}
	if two, err := hashes.Of(now); err != nil || two == one {
		t.Errorf("%q, %v", two, err)
	}
	var fresh machine.Hashes
	if sum, err := fresh.Of(seen); err == nil {
		t.Errorf("a file that is not there any more has the hash %q", sum)
	}
}

// What cannot be hashed has no hash, and nobody waits for it.
func TestNoHash(t *testing.T) {
	dir := realDir(t)
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, create := range map[string]func(at string) error{
		"pipe":   func(at string) error { return unix.Mkfifo(at, 0o755) },
		"folder": func(at string) error { return os.Mkdir(at, 0o755) },
		"large": func(at string) error {
			return errors.Join(os.WriteFile(at, nil, 0o755), os.Truncate(at, 1<<40))
		},
		"socket": func(at string) error {
			_, err := net.Listen("unix", at)
			return err
		},
	} {
		if err := create(at(name)); err != nil {
			t.Fatal(err)
		}
		var hashes machine.Hashes
		if sum, err := hashes.Of(lookAt(t, at(name))); err == nil {
			t.Errorf("the hash of a %s is %q", name, sum)
		}
	}
	if sum, err := new(machine.Hashes).Of(lookAt(t, "/dev/zero")); err == nil {
		t.Errorf("the hash of a device is %q", sum)
	}
	if text, err := (machine.Disk{}).Head(lookAt(t, at("pipe")), 1); err == nil {
		t.Errorf("a pipe begins with %q", text)
	}
}

// What is put in the place of a file that was seen is not read, nor is a link
// to it followed.
func TestHashOfAnother(t *testing.T) {
	for name, swap := range map[string]func(at string) error{
		"another file": func(at string) error {
			return errors.Join(os.WriteFile(at+".new", []byte("B"), 0o755), os.Rename(at+".new", at))
		},
		"pipe":        func(at string) error { return errors.Join(os.Remove(at), unix.Mkfifo(at, 0o755)) },
		"link to it":  func(at string) error { return errors.Join(os.Rename(at, at+".old"), os.Symlink(at+".old", at)) },
		"longer":      func(at string) error { return os.WriteFile(at, []byte("AA"), 0o755) },
		"other mode":  func(at string) error { return os.Chmod(at, 0o700) },
		"no file now": os.Remove,
	} {
		at := filepath.Join(realDir(t), "tool")
		if err := os.WriteFile(at, []byte("A"), 0o755); err != nil {
			t.Fatal(err)
		}
		seen := lookAt(t, at)
		if err := swap(at); err != nil {
			t.Fatal(err)
		}
		if sum, err := new(machine.Hashes).Of(seen); err == nil {
			t.Errorf("%s: the hash is %q", name, sum)
		}
		if text, err := (machine.Disk{}).Head(seen, 1); err == nil {
			t.Errorf("%s: it begins with %q", name, text)
		}
	}
}

// While two folders change places all the time, the file in each has its own
// hash or none.
func TestHashWhileSwapped(t *testing.T) {
	dir := realDir(t)
	want := map[uint64]string{}
	for _, name := range []string{"a", "b"} {
		at := filepath.Join(dir, name, "tool")
		if err := errors.Join(os.Mkdir(filepath.Dir(at), 0o755), os.WriteFile(at, []byte(name), 0o755)); err != nil {
			t.Fatal(err)
		}
		want[lookAt(t, at).Ino] = fmt.Sprintf("%x", sha256.Sum256([]byte(name)))
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		a, b, c := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
		for {
			select {
			case <-stop:
				return
			default:
			}
			if err := errors.Join(os.Rename(a, c), os.Rename(b, a), os.Rename(c, b)); err != nil {
				t.Error(err)
			}
		}
	}()
	hashed, refused := 0, 0
	for hashed+refused < 500 {
		seen, err := machine.Disk{}.Look(filepath.Join(dir, "a", "tool"))
		if err != nil {
			continue // neither is in place
		}
		switch sum, err := new(machine.Hashes).Of(seen); {
		case err != nil:
			refused++
		case sum != want[seen.Ino]:
			t.Fatalf("the hash of another file: %s", sum)
		default:
			hashed++
		}
	}
	close(stop)
	<-stopped
	t.Logf("hashed %d times, refused %d times", hashed, refused)
}

// Whoever does not want to wait any longer has no hash, and others who ask
// later share the one reading.
func TestHashTakesLong(t *testing.T) {
	at := filepath.Join(realDir(t), "tool")
	if err := errors.Join(os.WriteFile(at, nil, 0o755), os.Truncate(at, 200<<20)); err != nil {
		t.Fatal(err)
	}
	seen := settled(t, at)
	var hashes machine.Hashes
	hashes.Waiting(time.Nanosecond)
	if sum, err := hashes.Of(seen); err == nil {
		t.Fatalf("200 MB were hashed at once: %s", sum)
	}
	hashes.Waiting(time.Minute)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			if sum, err := hashes.Of(seen); err != nil || len(sum) != 64 {
				t.Errorf("%q, %v", sum, err)
			}
		})
	}
	all.Wait()
}

// Who has large files hashed keeps nobody waiting who has a small one.
func TestHashBesideLarge(t *testing.T) {
	dir := realDir(t)
	small, large := filepath.Join(dir, "small"), filepath.Join(dir, "large")
	if err := errors.Join(os.WriteFile(small, nil, 0o755), os.WriteFile(large, nil, 0o755), os.Truncate(large, 200<<20)); err != nil {
		t.Fatal(err)
	}
	var hashes machine.Hashes
	hashes.Crowd()
	if sum, err := hashes.Of(lookAt(t, small)); err != nil || len(sum) != 64 {
		t.Errorf("%q, %v", sum, err)
	}
	hashes.Waiting(time.Nanosecond)
	if sum, err := hashes.Of(lookAt(t, large)); err == nil {
		t.Errorf("there was no place for it: %s", sum)
	}
}
