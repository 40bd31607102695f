//go:build unix

package history

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// childPath makes the test program a host that puts rows until it is killed.
const childPath = "HISTORY_TEST_CHILD"

func TestMain(m *testing.M) {
	if at := os.Getenv(childPath); at != "" {
		if err := putForever(at); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// putForever says on stdout which rows were taken, and never syncs or closes.
func putForever(at string) error {
	d, err := Open(Options{Path: at})
	if err != nil {
		return err
	}
	for i := 0; ; i++ {
		if err := d.Put(Row{ID: fmt.Sprint(i), State: Running}); err != nil {
			return err
		}
		fmt.Println(i)
		time.Sleep(2 * time.Millisecond)
	}
}

func TestKilled(t *testing.T) {
	at := path(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(self)
	child.Env = append(os.Environ(), childPath+"="+at)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	// Rows are durable within a second; twice that allows for a busy machine.
	const second = 2 * time.Second
	var begun, marked time.Time
	marker := ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		switch now := time.Now(); {
		case begun.IsZero():
			begun = now
		case marker == "" && now.Sub(begun) > 300*time.Millisecond:
			marker, marked = lines.Text(), now
		case marker != "" && now.Sub(marked) > second:
			child.Process.Kill()
		}
	}
	child.Wait()
	if marker == "" {
		t.Fatal("the child ended early")
	}
	d := open(t, Options{Path: at})
	left, err := d.Unfinished(within(t))
	if err != nil {
		t.Fatal(err)
	}
	kept := map[string]bool{}
	for _, row := range left {
		kept[row.ID] = true
	}
	var last int
	fmt.Sscan(marker, &last)
	for i := range last + 1 {
		if !kept[fmt.Sprint(i)] {
			t.Fatalf("row %d of %d is lost", i, last)
		}
	}
	if found, _ := d.Broken(); found != nil {
		t.Errorf("a crash was taken for damage: %s", found)
	}
}

func TestModes(t *testing.T) {
	for _, umask := range []int{0, 0o22, 0o777} {
		t.Run(fmt.Sprintf("%03o", umask), func(t *testing.T) {
			at := path(t)
			old := syscall.Umask(umask)
			defer syscall.Umask(old)
			d := open(t, Options{Path: at})
			put(t, d, done("a"))
			if err := d.Sync(within(t)); err != nil {
				t.Fatal(err)
			}
			checkModes(t, at, 3)
		})
	}
}

func TestModesOfAnOldFile(t *testing.T) {
	at := path(t)
	d := open(t, Options{Path: at})
	put(t, d, done("a"))
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(at, 0o666); err != nil {
		t.Fatal(err)
	}
	d = open(t, Options{Path: at})
	put(t, d, done("b"))
	if err := d.Sync(within(t)); err != nil {
		t.Fatal(err)
	}
	checkModes(t, at, 3)
}

func checkModes(t *testing.T, at string, want int) {
	t.Helper()
	files, err := filepath.Glob(at + "*")
	if err != nil || len(files) != want {
		t.Fatalf("files %s, %v", strings.Join(files, " "), err)
	}
	for _, name := range files {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode() != 0o600 {
			t.Errorf("%s has mode %s", filepath.Base(name), info.Mode())
		}
	}
}
