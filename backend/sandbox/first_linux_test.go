//go:build amd64

package sandbox

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/countersign-app/countersign/backend/config"
)

// attackWord makes the test binary what a hostile command is.
const attackWord = "attack-of-a-test"

func init() {
	if len(os.Args) > 2 && os.Args[1] == attackWord {
		runtime.LockOSThread() // who traces is one thread
		if err := map[string]func() error{"first": attackFirst, "calls": attackCalls}[os.Args[2]](); err != nil {
			fmt.Println(err)
			os.Exit(9)
		}
		os.Exit(0)
	}
}

// attackFirst takes process 1 over: without a death signal it stays when bwrap
// ends, what it writes to its event says that the command ended well, and as
// long as it is held nothing in the box ends.
func attackFirst() error {
	if err := syscall.PtraceAttach(1); err != nil {
		return fmt.Errorf("attach: %w", err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(1, &status, syscall.WALL, nil); err != nil {
		return err
	}
	var saved syscall.PtraceRegs
	if err := syscall.PtraceGetRegs(1, &saved); err != nil {
		return err
	}
	call := func(number, a, b, c uint64) error {
		r := saved
		r.Orig_rax, r.Rax, r.Rdi, r.Rsi, r.Rdx, r.Rip = ^uint64(0), number, a, b, c, saved.Rip-2 // the call that it was stopped in
		if err := syscall.PtraceSetRegs(1, &r); err != nil {
			return err
		}
		if err := syscall.PtraceSingleStep(1); err != nil {
			return err
		}
		_, err := syscall.Wait4(1, &status, syscall.WALL, nil)
		return err
	}
	if err := call(unix.SYS_PRCTL, unix.PR_SET_PDEATHSIG, 0, 0); err != nil {
		return err
	}
	if err := os.WriteFile("cleared", nil, 0o644); err != nil {
		return err
	}
	one := saved.Rsp - 512
	if _, err := syscall.PtracePokeData(1, uintptr(one), []byte{1, 0, 0, 0, 0, 0, 0, 0}); err != nil { // 0, and one more
		return err
	}
	all, err := os.ReadDir("/proc/1/fd")
	if err != nil {
		return err
	}
	for _, f := range all {
		if to, _ := os.Readlink("/proc/1/fd/" + f.Name()); strings.Contains(to, "eventfd") {
			fd, _ := strconv.ParseUint(f.Name(), 10, 64)
			if err := call(unix.SYS_WRITE, fd, one, 8); err != nil {
				return err
			}
		}
	}
	os.Stdout.Close()
	os.Stderr.Close()
	for {
		_ = os.WriteFile("beat", []byte(time.Now().String()), 0o644)
		time.Sleep(20 * time.Millisecond)
	}
}

// attackCalls tries ioctl in every form, and prints those that were not refused.
func attackCalls() error {
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		return err
	}
	char := byte('x')
	for _, c := range []struct {
		name            string
		number, command uintptr
		refused         bool
	}{
		{"TIOCSTI", 16, tiocsti, true},
		{"TIOCLINUX", 16, tioclinux, true},
		{"TIOCSTI with a high bit", 16, 1<<32 | tiocsti, true},
		{"TIOCSTI with all high bits", 16, 0xffffffff<<32 | tiocsti, true},
		{"TIOCLINUX with a high bit", 16, 1<<63 | tioclinux, true},
		{"TIOCSTI by x32", x32 | 514, tiocsti, true},
		{"TIOCSTI by x32, with the other number", x32 | 16, tiocsti, true},
		{"getpid by x32", x32 | 39, 0, true},
		{"TIOCGWINSZ", 16, unix.TIOCGWINSZ, false},
	} {
		var size [8]byte
		size[0] = char
		_, _, no := syscall.Syscall(c.number, master.Fd(), c.command, uintptr(unsafe.Pointer(&size[0])))
		if refused := errors.Is(no, unix.EPERM); refused != c.refused {
			return fmt.Errorf("%s: %v", c.name, no)
		}
	}
	for _, command := range []uint32{tiocsti, tioclinux} {
		if no, err := ioctl386(uint32(master.Fd()), command); err != nil || no != unix.EPERM {
			return fmt.Errorf("%x by i386: %v %v", command, no, err)
		}
	}
	return nil
}

// ioctl386 calls ioctl as programs of 32 bits do. A kernel that does not know
// them ends the program with SIGSEGV.
func ioctl386(fd, command uint32) (syscall.Errno, error) {
	page, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return 0, err
	}
	defer unix.Munmap(page)
	const result = 2048
	code := []byte{0xb8, 54, 0, 0, 0, 0xbb} // mov eax, 54; mov ebx, fd
	code = append(binary.LittleEndian.AppendUint32(code, fd), 0xb9)
	code = append(binary.LittleEndian.AppendUint32(code, command), 0x31, 0xd2, 0xcd, 0x80, 0xa3) // mov ecx, command; xor edx, edx; int 0x80; mov [result], eax
	code = append(binary.LittleEndian.AppendUint64(code, uint64(uintptr(unsafe.Pointer(&page[result])))), 0xc3)
	copy(page, code)
	entry := uintptr(unsafe.Pointer(&page[0]))
	call := &entry // what a value of a function is
	(*(*func())(unsafe.Pointer(&call)))()
	return syscall.Errno(-int32(binary.LittleEndian.Uint32(page[result:]))), nil
}

// attacker puts the test binary in a workspace.
func attacker(t *testing.T) (w *world, attack func(how string) Job) {
	t.Helper()
	w = newWorld(t, config.Bubblewrap)
	w.config.Memory = 8 << 30 // what the Go runtime sets aside counts
	self, err := os.Executable()
	must(t, err)
	text, err := os.ReadFile(self)
	must(t, err)
	at := filepath.Join(w.config.Workspace, "attack")
	must(t, os.WriteFile(at, text, 0o755))
	return w, func(how string) Job { return w.job(at, attackWord, how) }
}

// TestFirstProcess attacks the first process of a box from within.
func TestFirstProcess(t *testing.T) {
	w, attack := attacker(t)
	j := attack("first")
	j.Timeout = 20 * time.Second
	got := told(w.Run(t.Context(), w.config, j))
	if !strings.HasPrefix(got, "attach: ") || !strings.HasSuffix(got, "[9]") {
		t.Errorf("the attack ended with %q", got)
	}
	beat := filepath.Join(w.config.Workspace, "beat")
	if _, err := os.Stat(filepath.Join(w.config.Workspace, "cleared")); err == nil {
		t.Error("the death signal of the first process was cleared")
	}
	before, _ := os.ReadFile(beat)
	time.Sleep(200 * time.Millisecond)
	if after, _ := os.ReadFile(beat); string(after) != string(before) {
		t.Error("the command writes on after its run was answered")
	}
	for script, want := range map[string]string{
		`kill -9 1; kill -STOP 1; for s in QUIT SEGV ABRT ILL TRAP; do trap "" $s; kill -$s 1; done; sleep 0.2; echo on`:                             "on\n[0]",
		`cat /proc/1/environ 2>/dev/null; for f in /proc/1/fd/*; do [ ! -e $f ] || echo $f; done; (echo x > /proc/1/mem) 2>/dev/null || echo closed`: "closed\n[0]",
		`trap 'echo passed on; exit 4' TERM; kill -TERM 1; while :; do sleep 0.05; done`:                                                             "passed on\n[4]",
		`(sleep 0.1; echo orphan) & exec sh -c 'sleep 0.4; exit 7'`:                                                                                  "orphan\n[7]",
		`setsid sleep 7` + fmt.Sprint(os.Getpid()) + ` >/dev/null 2>&1 & echo ends well`:                                                             "ends well\n[0]",
		`ls /proc/self/fd | wc -l`: "4\n[0]", // three, and the folder itself
	} {
		if got := w.sh(script); got != want {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
	if alive(fmt.Sprint("7", os.Getpid())) {
		t.Error("what a command left lives after its run was answered")
	}
}

// TestCalls tries what the filter refuses.
func TestCalls(t *testing.T) {
	w, attack := attacker(t)
	if got := told(w.Run(t.Context(), w.config, attack("calls"))); got != "[0]" {
		t.Error(got)
	}
}

// TestBwrapKilled: where somebody kills bwrap, nothing of the box lives once the
// run is answered.
func TestBwrapKilled(t *testing.T) {
	w := newWorld(t, config.Bubblewrap)
	seconds := fmt.Sprint("8", os.Getpid())
	over := make(chan string, 1)
	go func() { over <- told(w.Run(t.Context(), w.config, w.job("sleep", seconds))) }()
	if !eventually(func() bool { return alive(seconds) }) {
		t.Fatal("it does not run")
	}
	if out, err := exec.Command("pkill", "-KILL", "-x", "-P", strconv.Itoa(os.Getpid()), "bwrap").CombinedOutput(); err != nil {
		t.Fatal(err, string(out))
	}
	if got := <-over; !strings.Contains(got, "was ended by others") {
		t.Error(got)
	}
	if alive(seconds) {
		t.Error("the command lives on")
	}
}
