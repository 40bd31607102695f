package protected

import (
	"testing"
)

func BenchmarkRead(b *testing.B) {
	for b.Loop() {
		read(text)
	}
}

func BenchmarkOf(b *testing.B) {
	for b.Loop() {
		Of("/home/ann/work/app/frontend/src/components/button/index.ts", "/home/ann")
	}
}
