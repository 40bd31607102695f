package operator

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var right = []byte("correct horse battery staple")

func statement() Statement {
	return Statement{Device: 1, Inode: 2, Boot: "b", Nonce: "n", Method: "policy.set", Params: []byte(`{"value":"full"}`), Text: "security: allowlist → full"}
}

// TestStatementIsBound: a signature fits nothing but what was read.
func TestStatementIsBound(t *testing.T) {
	k, err := New(right)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := k.Sign(right, statement())
	if err != nil || !k.Verify(statement(), signed) {
		t.Fatal("its own signature does not fit", err)
	}
	for name, other := range map[string]func(*Statement){
		"another device":          func(s *Statement) { s.Device++ },
		"another folder":          func(s *Statement) { s.Inode++ },
		"another start":           func(s *Statement) { s.Boot = "c" },
		"another nonce":           func(s *Statement) { s.Nonce = "m" },
		"another method":          func(s *Statement) { s.Method = "policy.accept" },
		"other parameters":        func(s *Statement) { s.Params = []byte(`{"value":"deny"}`) },
		"another text":            func(s *Statement) { s.Text += "\n" },
		"letters moved":           func(s *Statement) { s.Nonce, s.Method = "np", "olicy.set" },
		"letters moved the other": func(s *Statement) { s.Boot, s.Nonce = "", "bn" },
	} {
		s := statement()
		other(&s)
		if k.Verify(s, signed) {
			t.Errorf("%s: the signature fits", name)
		}
	}
	for i := range signed {
		signed[i] ^= 1
		if k.Verify(statement(), signed) {
			t.Errorf("byte %d changed: it fits", i)
		}
		signed[i] ^= 1
	}
	other, err := New(right)
	if err != nil || other.Verify(statement(), signed) || bytes.Equal(other.Salt, k.Salt) {
		t.Error("the same passphrase, set again, has the same key", err)
	}
	if (Key{}).Verify(statement(), signed) || (Key{}).Verify(statement(), nil) {
		t.Error("no key verifies")
	}
}

func TestPassphrases(t *testing.T) {
	k, err := New(right)
	if err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{"", "correct horse battery stapl", string(right) + " ", strings.Repeat("x", maxLength+1)} {
		if _, err := k.Sign([]byte(wrong), statement()); !errors.Is(err, ErrWrong) {
			t.Errorf("%.20q: %v", wrong, err)
		}
	}
	for text, ok := range map[string]bool{
		"": false, "short": false, strings.Repeat("é", 13): false, strings.Repeat("é", 14): true,
		strings.Repeat("x", maxLength+1): false, "\xff" + strings.Repeat("x", 20): false,
	} {
		if _, err := New([]byte(text)); (err == nil) != ok {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}

// TestFile: what others could have put there is no key.
func TestFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "operator.pub")
	if _, err := Read(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	k, err := New(right)
	if err != nil {
		t.Fatal(err)
	}
	if err := k.Write(path); err != nil {
		t.Fatal(err)
	}
	got, err := Read(path)
	if err != nil || !got.Public.Equal(k.Public) || !bytes.Equal(got.Salt, k.Salt) {
		t.Fatalf("%+v, %v", got, err)
	}
	text, _ := os.ReadFile(path)
	for name, spoil := range map[string]func() error{
		"writable by others": func() error { return os.Chmod(path, 0o666) },
		"no JSON":            func() error { return os.WriteFile(path, []byte("{"), 0o600) },
		"a short key":        func() error { return os.WriteFile(path, []byte(`{"salt":"AAAA","public":"AAAA"}`), 0o600) },
		"a link": func() error {
			if err := os.Rename(path, path+"2"); err != nil {
				return err
			}
			return os.Symlink(path+"2", path)
		},
	} {
		os.Remove(path)
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := spoil(); err != nil {
			t.Fatal(err)
		}
		if _, err := Read(path); err == nil {
			t.Errorf("%s: it is read", name)
		}
	}
}
