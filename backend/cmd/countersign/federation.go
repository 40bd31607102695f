package main

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/countersign-app/countersign/backend/display"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/store"
)

type gatewayPolicy struct {
	File string `arg:"" optional:"" help:"A policy with defaults, agents and tools, which says nothing but what tightens." placeholder:"FILE"`
}

// Run signs a policy for the nodes, or shows the one that is signed.
func (c gatewayPolicy) Run(p *program) error {
	now, err := p.signedPolicy()
	if c.File == "" {
		if err != nil {
			return err
		}
		return p.print(now, func(w io.Writer) {
			fmt.Fprintf(w, "serial %d, signed by %s\n", now.Serial, now.Key)
			for line := range strings.Lines(string(now.Policy)) {
				fmt.Fprintln(w, display.Escape(strings.TrimRight(line, "\r\n")))
			}
		})
	}
	if err != nil && !errors.Is(err, errNothingSigned) {
		return err
	}
	text, err := readFile(c.File)
	if err != nil {
		return err
	}
	key, err := p.policyKey()
	if err != nil {
		return err
	}
	signed, err := store.SignPolicy(key, max(time.Now().UnixMilli(), now.Serial+1), text)
	if err != nil {
		return err
	}
	out, err := json.Marshal(signed)
	if err != nil {
		return err
	}
	if err := store.Replace(p.state.GatewayPolicy(), append(out, '\n')); err != nil {
		return err
	}
	return p.print(signed, func(w io.Writer) {
		fmt.Fprintf(w, "signed; a gateway that runs here gives it to its nodes. It holds on those where\n\n    countersign policy follow NAME %s\n\nwas said, with a name for this gateway.\n", signed.Key)
	})
}

var errNothingSigned = errors.New("no policy is signed here: give a file")

func (p *program) signedPolicy() (s store.SignedPolicy, err error) {
	text, err := readFile(p.state.GatewayPolicy())
	if errors.Is(err, fs.ErrNotExist) {
		return s, errNothingSigned
	}
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err == nil {
		_, err = s.Open(p.home)
	}
	if err != nil {
		return s, fmt.Errorf("%s: %w", p.state.GatewayPolicy(), err)
	}
	return s, nil
}

// maxPolicyFile is more than can be signed, in bytes.
const maxPolicyFile = 1 << 20

func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxPolicyFile))
}

// policyKey is the key that signs, which is made at the first time.
func (p *program) policyKey() (ed25519.PrivateKey, error) {
	text, err := secret(p.state.GatewayKey())
	if errors.Is(err, fs.ErrNotExist) {
		_, key, err := ed25519.GenerateKey(rand.Reader)
		if err != nil {
			return nil, err
		}
		return key, p.keep(p.state.GatewayKey(), base64.RawURLEncoding.EncodeToString(key.Seed()))
	}
	if err != nil {
		return nil, err
	}
	seed, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, fmt.Errorf("%s holds no key", p.state.GatewayKey())
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

type policyFollow struct {
	Gateway string `arg:"" help:"What you call the gateway, such as HOST:PORT."`
	Key     string `arg:"" help:"The key that \"countersign gateway policy\" printed there."`
}

func (c policyFollow) Run(p *program) error { return followPolicy(p, c.Gateway, c.Key) }

type policyUnfollow struct {
	Gateway string `arg:"" help:"What you called the gateway."`
}

func (c policyUnfollow) Run(p *program) error { return followPolicy(p, c.Gateway, "") }

func followPolicy(p *program, gateway, key string) error {
	return p.change("policy.follow", map[string]any{"gateway": gateway, "key": key}, host.Follow(gateway, key))
}
