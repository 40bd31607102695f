//go:build linux || darwin

package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestListen refuses what would show the token to the network.
func TestListen(t *testing.T) {
	for _, row := range []struct {
		run  gatewayFlags
		want string
	}{
		{gatewayFlags{Listen: "127.0.0.1:1"}, ""}, {gatewayFlags{Listen: "[::1]:1"}, ""}, {gatewayFlags{Listen: "localhost:1"}, ""},
		{gatewayFlags{Listen: ":1"}, "shows the token"}, {gatewayFlags{Listen: "0.0.0.0:1"}, "shows the token"}, {gatewayFlags{Listen: "192.0.2.1:1"}, "shows the token"},
		{gatewayFlags{Listen: "localhost.example:1"}, "shows the token"}, {gatewayFlags{Listen: "127.0.0.1"}, "HOST:PORT"},
		{gatewayFlags{Listen: ":1", Plaintext: true}, ""}, {gatewayFlags{Listen: ":1", TLSCert: "c", TLSKey: "k"}, ""},
		{gatewayFlags{Listen: "127.0.0.1:1", TLSCert: "c"}, "belong together"}, {gatewayFlags{Listen: "127.0.0.1:1", TLSKey: "k"}, "belong together"},
	} {
		if err := row.run.check(); (err != nil) != (row.want != "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%+v: %v", row.run, err)
		}
	}
}

// TestTLS talks to a gateway that has a certificate, and to nobody else.
func TestTLS(t *testing.T) {
	t.Parallel()
	w := testWorld(t)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"gateway.example"}, IsCA: true, BasicConstraintsValid: true,
	}
	text, err := x509.CreateCertificate(rand.Reader, about, about, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, text []byte) string {
		file := filepath.Join(w.home, name)
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: text}), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	cert, keyFile := write("cert.pem", "CERTIFICATE", text), write("key.pem", "PRIVATE KEY", secret)
	flags := gatewayFlags{Listen: "build.example:1", TLSCert: cert, TLSKey: keyFile, Name: []string{"other.example"}}
	names, _, err := flags.identity()
	if machine, _ := os.Hostname(); err != nil || !slices.Equal(names, []string{"other.example", "build.example", machine, "gateway.example"}) {
		t.Errorf("the gateway is called %q: %v", names, err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0") // a port that is free
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	background(t, asService(t, w, w.command("gateway", "run", "--listen", address, "--tls-cert", cert, "--tls-key", keyFile)))
	call := func(scheme string, trusted bool) string {
		cmd := w.command("gateway", "call", "health", "--gateway", fmt.Sprintf("%s://%s", scheme, address))
		if trusted {
			cmd.Env = append(cmd.Env, "SSL_CERT_FILE="+cert)
		}
		out, _ := cmd.CombinedOutput()
		return string(out)
	}
	if runtime.GOOS != "linux" {
		t.Skip("skipped: only on Linux a file says which certificates are trusted")
	}
	if !eventually(func() bool { return strings.Contains(call("wss", true), `"ok": true`) }) {
		t.Fatal(call("wss", true))
	}
	if got := call("wss", false); !strings.Contains(got, "certificate") {
		t.Errorf("whose certificate nobody trusts: %s", got)
	}
	if got := call("ws", true); !strings.Contains(got, "cannot connect") {
		t.Errorf("without TLS: %s", got)
	}
}
