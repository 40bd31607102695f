package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/corpus"
)

// Where a test keeps its things on an invented machine that was really made.
// testdata/recorder knows these paths too.
const (
	testFolder = "/.test"
	recordFile = testFolder + "/record"
	sayFile    = testFolder + "/say"
	hostFolder = testFolder + "/host"
)

// machineJob is what the program that becomes the machine is told.
type machineJob struct {
	Folder   string // holds recorder and host, and is the test's own
	Corpus   string // file of cases
	Seed     uint64
	Mixtures int
	Every    int // one case of so many is run by itself
}

// notPermitted is the exit code that says that the system does not let us make
// a machine.
const notPermitted = 77

// report is what it prints when it is done.
type report struct {
	Logs, Wrong []string
}

func (r *report) logf(format string, a ...any) { r.Logs = append(r.Logs, fmt.Sprintf(format, a...)) }

// maxWrong bounds the sentences about what is wrong.
const maxWrong = 40

func (r *report) wrongf(format string, a ...any) {
	if len(r.Wrong) < maxWrong {
		r.Wrong = append(r.Wrong, fmt.Sprintf(format, a...))
	}
}

// corpusMachine becomes the invented machine of a corpus and runs its cases there.
// It is started in namespaces of its own.
func corpusMachine() {
	var job machineJob
	if err := json.Unmarshal([]byte(os.Args[1]), &job); err != nil {
		os.Exit(complain("machine:", err))
	}
	text, err := os.ReadFile(job.Corpus)
	if err != nil {
		os.Exit(complain("machine:", err))
	}
	cases, err := corpus.Parse(filepath.Base(job.Corpus), text)
	if err != nil {
		os.Exit(complain("machine:", err))
	}
	err = becomeMachine(job.Folder, cases.World)
	if errors.Is(err, fs.ErrPermission) {
		complain("the system lets nobody make a machine here:", err)
		os.Exit(notPermitted)
	}
	if err != nil {
		os.Exit(complain("cannot make the machine:", err))
	}
	var r report
	if err := runCases(&r, cases, job); err != nil {
		os.Exit(complain("machine:", err))
	}
	if err := json.NewEncoder(os.Stdout).Encode(r); err != nil {
		os.Exit(complain("machine:", err))
	}
	os.Exit(0)
}

// becomeMachine makes the disk of a world in memory and leaves everything else
// behind: what is not on it cannot be reached any more.
func becomeMachine(folder string, w *corpus.World) error {
	root := filepath.Join(folder, "root")
	if err := errors.Join(os.MkdirAll(root, 0o755), unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""),
		unix.Mount("tmpfs", root, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, "mode=755,size=512m")); err != nil {
		return err
	}
	for from, to := range map[string]string{"host": root + hostFolder, "recorder": root + testFolder + "/recorder"} {
		if err := copyAll(filepath.Join(folder, from), to); err != nil {
			return err
		}
	}
	for _, name := range []string{recordFile, sayFile, "/dev/null"} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(root+name), 0o755), os.WriteFile(root+name, nil, 0o666)); err != nil {
			return err
		}
	}
	if err := put(root, w, "/"); err != nil {
		return err
	}
	old := root + testFolder + "/old"
	if err := errors.Join(os.MkdirAll(root+"/proc", 0o755), os.Mkdir(old, 0o700), os.Symlink("/proc/self/fd", root+"/dev/fd")); err != nil {
		return err
	}
	if err := unix.Mount("/dev/null", root+"/dev/null", "", unix.MS_BIND, ""); err != nil {
		return fmt.Errorf("/dev/null: %w", err)
	}
	if err := unix.Mount("proc", root+"/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("/proc: %w", err)
	}
	if err := unix.PivotRoot(root, old); err != nil {
		return fmt.Errorf("pivot_root: %w", err)
	}
	return errors.Join(os.Chdir(w.Cwd), unix.Unmount(testFolder+"/old", unix.MNT_DETACH), os.Remove(testFolder+"/old"))
}

// put makes what is at one place of a world, and below.
func put(root string, w *corpus.World, at string) error {
	file, err := w.Look(at)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil // a link that leads nowhere
	case err != nil:
		return err
	case file.Path != at:
		return os.Symlink(file.Path, root+at)
	case file.Mode&unix.S_IFMT == unix.S_IFREG && file.Mode&0o111 != 0:
		return os.Link(root+testFolder+"/recorder", root+at)
	case file.Mode&unix.S_IFMT == unix.S_IFREG:
		text, _ := w.Head(file, 1<<20) // nothing, where the corpus does not say
		return os.WriteFile(root+at, text, 0o644)
	}
	names, err := w.List(at)
	if err = errors.Join(err, os.MkdirAll(root+at, 0o755), os.Chmod(root+at, fs.FileMode(file.Mode&0o777)|fs.ModeSticky*fs.FileMode(file.Mode>>9&1))); err != nil {
		return err
	}
	for _, name := range names {
		if err := put(root, w, strings.TrimSuffix(at, "/")+"/"+name); err != nil {
			return err
		}
	}
	return nil
}

func copyAll(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		at := to + strings.TrimPrefix(path, from)
		if err != nil || d.IsDir() {
			return errors.Join(err, os.MkdirAll(at, 0o755))
		}
		in, err := os.Open(path)
		if err != nil {
			return err
		}
		defer in.Close()
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			return err
		}
		out, err := os.OpenFile(at, os.O_CREATE|os.O_WRONLY|os.O_EXCL, 0o755)
		if err != nil {
			return err
		}
		_, err = io.Copy(out, in)
		return errors.Join(err, out.Close())
	})
}

// started is a program that ran: which file it was, where, and with which
// words.
type started struct {
	exe, dir string
	argv     []string
}

// records returns what ran since the last time.
func records() (list []started, err error) {
	text, err := os.ReadFile(recordFile)
	if err != nil {
		return nil, err
	}
	fields := strings.Split(string(text), "\x00")
	for len(fields) > 1 {
		n, err := strconv.Atoi(fields[0])
		if err != nil || n < 2 || len(fields) < n+2 {
			return nil, fmt.Errorf("the record cannot be read: %.200q", text)
		}
		list = append(list, started{fields[1], fields[2], fields[3 : n+1]})
		fields = fields[n+1:]
	}
	return list, os.Truncate(recordFile, 0)
}

// listing is every file of the machine with what would show that somebody
// touched it. No program can set the time of an inode's last change.
func listing() (map[string]string, error) {
	list := map[string]string{}
	err := filepath.WalkDir("/", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if path == "/proc" || path == testFolder || path == "/dev" {
			return fs.SkipDir
		}
		var st unix.Stat_t
		if err := unix.Lstat(path, &st); err != nil {
			return err
		}
		list[path] = fmt.Sprint(st.Ino, st.Mode, st.Uid, st.Gid, st.Nlink, st.Size, st.Mtim, st.Ctim)
		return nil
	})
	return list, err
}

// differences names the files that two listings do not agree about.
func differences(before, after map[string]string) (names []string) {
	for name, was := range before {
		if after[name] != was {
			names = append(names, name)
		}
	}
	for name := range after {
		if _, was := before[name]; !was {
			names = append(names, name)
		}
	}
	return names
}

// others are the processes of the machine beside ourselves.
func others() (list []string, err error) {
	entries, err := os.ReadDir("/proc")
	for _, e := range entries {
		if pid, err := strconv.Atoi(e.Name()); err == nil && pid != os.Getpid() {
			name, _ := os.ReadFile("/proc/" + e.Name() + "/stat")
			list = append(list, string(name[:min(len(name), 60)]))
		}
	}
	return list, err
}
