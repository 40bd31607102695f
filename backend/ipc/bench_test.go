//go:build linux || darwin

package ipc

import (
	"testing"
)

func benchServer(b *testing.B) *Server {
	o := testOptions(shortDir(b), handler{exec: echo})
	o.FramesPerSecond = 1_000_000
	return serve(b, o, func(s *Server) { s.nonces.max = 1 << 30 })
}

func BenchmarkRoundTripKept(b *testing.B) {
	c := dialServer(b, benchServer(b))
	x := command("/bin/true")
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Exec(b.Context(), testToken, x); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRoundTripNew(b *testing.B) {
	s := benchServer(b)
	x := command("/bin/true")
	b.ReportAllocs()
	for b.Loop() {
		c, err := dialAt(s.sockets[0].path)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := c.Exec(b.Context(), testToken, x); err != nil {
			b.Fatal(err)
		}
		c.Close()
	}
}
