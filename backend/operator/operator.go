// Package operator is the signature that only a person's typed passphrase makes:
// the key that the passphrase leads to, the file with its public half, and what
// is signed.
//
// It touches the file that it is given, and no terminal. The file holds nothing
// that signs: every program of the user can read it. What must never happen here:
// a passphrase or a private key is kept, or a signature fits another change, host
// or moment than the one that the person read.
package operator

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"github.com/countersign-app/countersign/backend/ownfile"
)

// Parameters of Argon2id: a guess takes about as long, and as much memory, as the
// person waits for.
const (
	saltSize = 16
	rounds   = 3
	memory   = 64 << 10 // KiB
	threads  = 4
)

// MinLength is how many characters a passphrase has at least.
const MinLength = 14

// maxLength bounds what is hashed, in bytes.
const maxLength = 1024

// ErrWrong says that a passphrase is not the one that was set.
var ErrWrong = errors.New("wrong passphrase: nothing was changed")

// Key is what tells whether a passphrase is right, and whether it signed.
type Key struct {
	Salt   []byte            `json:"salt"`
	Public ed25519.PublicKey `json:"public"`
}

// New makes the key of a passphrase.
func New(passphrase []byte) (Key, error) {
	switch {
	case !utf8.Valid(passphrase):
		return Key{}, errors.New("the passphrase is not text: type other characters")
	case utf8.RuneCount(passphrase) < MinLength:
		return Key{}, fmt.Errorf("the passphrase has %d characters and needs %d: five words do", utf8.RuneCount(passphrase), MinLength)
	case len(passphrase) > maxLength:
		return Key{}, fmt.Errorf("the passphrase has more than %d bytes", maxLength)
	}
	k := Key{Salt: make([]byte, saltSize)}
	rand.Read(k.Salt) // never fails
	k.Public = k.private(passphrase).Public().(ed25519.PublicKey)
	return k, nil
}

// Draw draws a passphrase of 80 bits by chance.
func Draw() string {
	letters := strings.ToLower(rand.Text())
	return letters[:4] + "-" + letters[4:8] + "-" + letters[8:12] + "-" + letters[12:16]
}

// Hash tells one key from another.
func (k Key) Hash() string {
	sum := sha256.Sum256(slices.Concat(k.Salt, k.Public))
	return hex.EncodeToString(sum[:])
}

func (k Key) private(passphrase []byte) ed25519.PrivateKey {
	seed := argon2.IDKey(passphrase, k.Salt, rounds, memory, threads, ed25519.SeedSize)
	return ed25519.NewKeyFromSeed(seed)
}

// Sign signs a statement, or returns ErrWrong.
func (k Key) Sign(passphrase []byte, s Statement) ([]byte, error) {
	if len(passphrase) > maxLength {
		return nil, ErrWrong
	}
	private := k.private(passphrase)
	if !private.Public().(ed25519.PublicKey).Equal(k.Public) {
		return nil, ErrWrong
	}
	return ed25519.Sign(private, s.bytes()), nil
}

// Verify reports whether the passphrase of this key signed a statement.
func (k Key) Verify(s Statement, signature []byte) bool {
	return len(k.Public) == ed25519.PublicKeySize && ed25519.Verify(k.Public, s.bytes(), signature)
}

// Statement is what a signature is about. Its JSON goes to who signs it.
type Statement struct {
	// Device and Inode are of the host's state folder, as its caller sees it: a
	// host on another folder can do nothing with the signature.
	Device uint64 `json:"device"`
	Inode  uint64 `json:"inode"`
	// Boot is this start of the machine, and Nonce the host's for one call.
	Boot  string `json:"boot"`
	Nonce string `json:"nonce"`
	// Method and Params are the call, and Text is what the person read.
	Method string `json:"method"`
	Params []byte `json:"params"`
	Text   string `json:"text"`
}

// bytes is what is signed: parts whose lengths are told, the long ones by their
// hashes.
func (s Statement) bytes() []byte {
	params, text := sha256.Sum256(s.Params), sha256.Sum256([]byte(s.Text))
	b := []byte("countersign confirms 1\x00")
	b = binary.BigEndian.AppendUint64(b, s.Device)
	b = binary.BigEndian.AppendUint64(b, s.Inode)
	for _, part := range []string{s.Boot, s.Nonce, s.Method} {
		b = binary.BigEndian.AppendUint32(b, uint32(len(part)))
		b = append(b, part...)
	}
	return append(append(b, params[:]...), text[:]...)
}

func (k Key) whole() bool { return len(k.Salt) == saltSize && len(k.Public) == ed25519.PublicKeySize }

// maxFile is more than a key takes.
const maxFile = 4096

// Read reads the key of a file. Without the file the error is fs.ErrNotExist.
func Read(path string) (Key, error) {
	f, err := ownfile.Open(path)
	if err != nil {
		return Key{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Key{}, err
	}
	if !info.Mode().IsRegular() || !ownfile.Ours(info) || info.Mode().Perm()&0o022 != 0 {
		return Key{}, fmt.Errorf("%s must be a file of your own that nobody else can write: chmod 600 it", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return Key{}, err
	}
	var k Key
	if err := json.Unmarshal(text, &k); err != nil || !k.whole() {
		return Key{}, fmt.Errorf("%s does not hold what belongs to a passphrase: set one anew with `countersign operator passphrase`", path)
	}
	return k, nil
}

// Write puts the key into a file, whole or not at all.
func (k Key) Write(path string) error {
	text, err := json.Marshal(k)
	if err != nil {
		return err
	}
	temp, err := ownfile.Write(path, ".operator-*", append(text, '\n'), 0o600)
	if err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		os.Remove(temp)
		return err
	}
	return nil
}
