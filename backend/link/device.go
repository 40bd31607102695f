package link

import (
	"crypto/ed25519"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strconv"
	"strings"
)

// Device is the identity of a machine: a key of ed25519. The zero value is
// nobody.
type Device struct {
	key ed25519.PrivateKey
}

// NewDevice makes an identity.
func NewDevice() (Device, error) {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	return Device{key}, err
}

// None reports whether this is nobody.
func (d Device) None() bool { return d.key == nil }

// ID names the device: the SHA-256 of its public key, in hex.
func (d Device) ID() string { return deviceID(d.public()) }

// PublicKey is the public half, as it is sent.
func (d Device) PublicKey() string { return encode(d.public()) }

func (d Device) public() ed25519.PublicKey { return d.key.Public().(ed25519.PublicKey) }

func deviceID(key ed25519.PublicKey) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:])
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// MarshalText writes the secret from which the key is made. It is for the file
// of the device alone.
func (d Device) MarshalText() ([]byte, error) {
	if d.None() {
		return nil, errors.New("there is no device")
	}
	return []byte(encode(d.key.Seed())), nil
}

// UnmarshalText reads what MarshalText wrote.
func (d *Device) UnmarshalText(text []byte) error {
	seed, err := base64.RawURLEncoding.DecodeString(string(text))
	if err != nil || len(seed) != ed25519.SeedSize {
		return errors.New("this is no device key")
	}
	d.key = ed25519.NewKeyFromSeed(seed)
	return nil
}

// String keeps the key out of logs.
func (d Device) String() string {
	if d.None() {
		return "no device"
	}
	return "device " + d.ID()
}

// Proof says who connects, and proves it for one connection.
type Proof struct {
	ID        string `json:"id"`
	PublicKey string `json:"publicKey"`
	Signature string `json:"signature"`
	SignedAt  int64  `json:"signedAt"` // unix milliseconds, of the challenge
	Nonce     string `json:"nonce"`    // of the challenge
}

// prove signs what a connect says.
func (d Device) prove(c *Connect, ch challenge) *Proof {
	p := &Proof{ID: d.ID(), PublicKey: d.PublicKey(), SignedAt: ch.TS, Nonce: ch.Nonce}
	p.Signature = encode(ed25519.Sign(d.key, []byte(c.signed(p))))
	return p
}

// signed is the text that a device signs, version 3. Everything that decides
// what the connection may do is in it.
func (c *Connect) signed(p *Proof) string {
	return strings.Join([]string{
		"v3", p.ID, c.Client.ID, c.Client.Mode, c.Role, strings.Join(c.Scopes, ","), strconv.FormatInt(p.SignedAt, 10),
		c.Auth.secret(), p.Nonce, plain(c.Client.Platform), plain(c.Client.DeviceFamily),
	}, "|")
}

// plain is how a platform is written where it is signed: ASCII alone is folded.
func plain(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, strings.TrimSpace(s))
}

// verify checks that the device that a connect names has signed exactly it,
// in answer to this challenge.
func (c *Connect) verify(ch challenge) *Error {
	p := c.Device
	switch {
	case p == nil:
		return refuseDevice("DEVICE_AUTH_REQUIRED", "device identity required")
	case p.Nonce == "":
		return refuseDevice("DEVICE_AUTH_NONCE_REQUIRED", "device nonce required")
	case p.Nonce != ch.Nonce:
		return refuseDevice("DEVICE_AUTH_NONCE_MISMATCH", "device nonce mismatch")
	case p.SignedAt != ch.TS: // the nonce is of this connection, so this is of now
		return refuseDevice("DEVICE_AUTH_SIGNATURE_EXPIRED", "device signature expired")
	}
	key, err := base64.RawURLEncoding.DecodeString(p.PublicKey)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return refuseDevice("DEVICE_AUTH_PUBLIC_KEY_INVALID", "device public key invalid")
	}
	if p.ID != deviceID(key) {
		return refuseDevice("DEVICE_AUTH_DEVICE_ID_MISMATCH", "device identity mismatch")
	}
	signature, err := base64.RawURLEncoding.DecodeString(p.Signature)
	if err != nil || c.ambiguous() || !ed25519.Verify(key, []byte(c.signed(p)), signature) {
		return refuseDevice("DEVICE_AUTH_SIGNATURE_INVALID", "device signature invalid")
	}
	return nil
}

// ambiguous reports whether the signed text could be of another connect too.
func (c *Connect) ambiguous() bool {
	for _, s := range append([]string{c.Client.ID, c.Client.Mode, c.Role, c.Client.Platform, c.Client.DeviceFamily}, c.Scopes...) {
		if strings.Contains(s, "|") {
			return true
		}
	}
	return strings.Contains(strings.Join(c.Scopes, ""), ",")
}

func refuseDevice(code, message string) *Error {
	return &Error{Code: CodeInvalid, Message: message, Details: []byte(`{"code":"` + code + `"}`)}
}
