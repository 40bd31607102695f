package config

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
)

func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gateway.json5")
	f := NewFile(path)
	for i, row := range []struct {
		text string // "-" removes the file
		want approval.Host
		line int // of what is wrong
	}{
		{"-", "", 0},
		{"{tools: {exec: {host: 'node'}}}", approval.HostNode, 0},
		{"{tools: {exec: {host: 'node'}}}", approval.HostNode, 0},
		{"{\ntools: {exec: {host: 'here'}}}", approval.HostNode, 2},
		{"{tools: {exec: {host: 'gateway'}}}", approval.HostGateway, 0},
		{"{", approval.HostGateway, 1},
		{"-", "", 0},
	} {
		if row.text == "-" {
			os.Remove(path)
		} else if err := errors.Join(os.WriteFile(path, []byte(row.text), 0o600), os.Chtimes(path, time.Time{}, time.Unix(int64(i), 0))); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			c, bad := f.Current()
			var at *Error
			if c.Exec.Host != row.want || (bad != nil) != (row.line > 0) || bad != nil && (!errors.As(bad, &at) || at.Line != row.line) {
				t.Errorf("%s: %q %v", row.text, c.Exec.Host, bad)
			}
		}
	}
}
