package proc

import (
	"errors"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"testing"
)

// TestPeers has real connections: the other end is ours, another process's, that
// of several, and nobody's.
func TestPeers(t *testing.T) {
	for _, c := range []struct{ name, network, at, dial string }{
		{"IPv4", "tcp4", "127.0.0.1:0", "tcp4"},
		{"IPv6", "tcp6", "[::1]:0", "tcp6"},
		{"IPv4 at a socket for both", "tcp", ":0", "tcp4"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, err := net.Listen(c.network, c.at)
			if err != nil {
				t.Skip(err)
			}
			defer l.Close()
			_, port, _ := net.SplitHostPort(l.Addr().String())
			host := "127.0.0.1"
			if c.dial == "tcp6" {
				host = "::1"
			}
			client, err := net.Dial(c.dial, net.JoinHostPort(host, port))
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			conn, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			for name, end := range map[string]net.Conn{"server": conn, "client": client} {
				if got, err := Peers(end); err != nil || len(got) != 1 || got[0].PID != os.Getpid() {
					t.Errorf("as %s: %v %v", name, got, err)
				}
			}
			file, err := client.(*net.TCPConn).File()
			if err != nil {
				t.Fatal(err)
			}
			other := exec.Command("sleep", "300")
			other.ExtraFiles = []*os.File{file}
			if err := other.Start(); err != nil {
				t.Fatal(err)
			}
			defer other.Wait()
			defer other.Process.Kill()
			if got, err := Peers(conn); err != nil || len(got) != 2 {
				t.Errorf("of two: %v %v", got, err)
			}
			file.Close()
			client.Close()
			if got, err := Peers(conn); err != nil || len(got) != 1 || got[0].PID != other.Process.Pid {
				t.Errorf("of another process: %v %v, want %d", got, err, other.Process.Pid)
			}
			other.Process.Kill()
			other.Wait()
			if got, err := Peers(conn); !errors.Is(err, ErrNobody) {
				t.Errorf("of nobody: %v %v", got, err)
			}
		})
	}
	one, two := net.Pipe()
	defer one.Close()
	defer two.Close()
	if _, err := Peers(one); !errors.Is(err, ErrNobody) {
		t.Error("what is no TCP connection has somebody at its end")
	}
}

func TestAddress(t *testing.T) {
	for text, want := range map[string]string{
		"0100007F:1F90":                         "127.0.0.1:8080",
		"00000000000000000000000001000000:0050": "[::1]:80",
		"0000000000000000FFFF00000100007F:0050": "127.0.0.1:80",
	} {
		if got := address(text); got != netip.MustParseAddrPort(want) {
			t.Errorf("%s: %s", text, got)
		}
	}
	for _, text := range []string{"", ":", "0100007F", "0100007:1F90", "01:50", "0100007F:12345", "zz:50"} {
		if got := address(text); got.IsValid() {
			t.Errorf("%q: %s", text, got)
		}
	}
}
