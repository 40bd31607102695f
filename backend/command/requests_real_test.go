package command

import (
	"net"
	"os/exec"
	"strings"
	"testing"
)

// TestRequestsAsCurlReads: curl connects to this machine alone for the addresses that
// count as such. Nobody answers there.
func TestRequestsAsCurlReads(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("skipped: curl is not here")
	}
	own, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(own.Addr().String())
	own.Close()
	for _, address := range []string{
		"http://localhost:PORT", "https://127.0.0.1:PORT/x?y=z", "127.0.0.1:PORT/a%20b", "http://[::1]:PORT/", "HTTP://LocalHost:PORT/", "localhost:PORT?x=1",
		"http://localhost:PORT/@evil.example", "http://localhost:PORT/#@evil.example", "http://localhost:PORT/?next=http://evil.example", "localhost:PORT/:80/@x:y",
		"localhost:PORT/x|y^z~;a,b$c&d=<>\"`'", "localhost:PORT/%2f@evil.example", "localhost:PORT//evil.example/", "localhost:PORT/..//..", "127.0.0.1:PORT?x:y/z:80/",
	} {
		address = strings.ReplaceAll(address, "PORT", port)
		if host, _, ok := hostOf(address); !ok || !thisMachine(host) {
			t.Errorf("%s leads to %s", address, host)
		}
		command := exec.Command(curl, "-q", "-v", "--connect-timeout", "5", address)
		command.Env = []string{"LC_ALL=C"}
		out, _ := command.CombinedOutput()
		tried := 0
		for line := range strings.Lines(string(out)) {
			if _, at, tries := strings.Cut(line, "Trying "); tries {
				if tried++; !strings.HasPrefix(at, "127.0.0.1:"+port) && !strings.HasPrefix(at, "[::1]:"+port) && !strings.HasPrefix(at, "::1:"+port) {
					t.Errorf("curl connects for %s to %s", address, at)
				}
			}
		}
		if tried == 0 {
			t.Errorf("curl connects to nothing for %s: %s", address, out)
		}
	}
}
