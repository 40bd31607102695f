package proc

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
)

// stat reads /proc/PID/stat. The name field is in parentheses and may hold
// anything, so the fields are counted from the last parenthesis.
func stat(pid int) (Info, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return Info{}, ErrGone
	}
	f := bytes.Fields(b[bytes.LastIndexByte(b, ')')+1:])
	if len(f) < 20 {
		return Info{}, fmt.Errorf("internal error: /proc/%d/stat has %d fields", pid, len(f))
	}
	n := func(i int) int { v, _ := strconv.Atoi(string(f[i])); return v }
	started, err := strconv.ParseUint(string(f[19]), 10, 64)
	if err != nil {
		return Info{}, fmt.Errorf("internal error: /proc/%d/stat: %w", pid, err)
	}
	return Info{
		PID: pid, Parent: n(1), Group: n(2), Session: n(3),
		Started: started, Zombie: f[0][0] == 'Z' || f[0][0] == 'X',
	}, nil
}

func all() ([]Info, error) {
	d, err := os.Open("/proc")
	if err != nil {
		return nil, err
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	var list []Info
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if info, err := stat(pid); err == nil {
			list = append(list, info)
		}
	}
	return list, nil
}

func exe(pid int) (string, string, error) {
	link := fmt.Sprintf("/proc/%d/exe", pid)
	name, err := os.Readlink(link)
	if err != nil {
		return "", "", err
	}
	return link, name, nil
}

func environ(pid int) ([]byte, error) { return os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid)) }
