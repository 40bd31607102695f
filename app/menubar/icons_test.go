package menubar

import (
	"fmt"
	"image/png"
	"os"
	"testing"
)

// Each state has a picture in each size, and all that it holds is a shape: its
// colour is one grey, which macOS replaces.
func TestIcons(t *testing.T) {
	shapes := map[string]Icon{}
	for _, icon := range []Icon{Quiet, Waiting, Paused} {
		for _, size := range []int{16, 22, 32, 44} {
			name := fmt.Sprintf("icons/%s-%d.png", icon, size)
			f, err := os.Open(name)
			if err != nil {
				t.Fatal(err)
			}
			picture, err := png.Decode(f)
			f.Close()
			if err != nil {
				t.Fatal(name, err)
			}
			if b := picture.Bounds(); b.Dx() != size || b.Dy() != size {
				t.Errorf("%s is %d by %d", name, b.Dx(), b.Dy())
			}
			shape, full, empty := fmt.Sprint(size, " "), 0, 0
			for y := range size {
				for x := range size {
					r, g, b, a := picture.At(x, y).RGBA()
					if r != g || g != b {
						t.Fatalf("%s has a colour at %d, %d", name, x, y)
					}
					switch a {
					case 0:
						empty++
					case 0xffff:
						full++
					}
					shape += fmt.Sprintf("%x", a>>12)
				}
			}
			if full < size || empty < size {
				t.Errorf("%s has %d full points and %d empty ones", name, full, empty)
			}
			if other, ok := shapes[shape]; ok {
				t.Errorf("%s looks like %s", name, other)
			}
			shapes[shape] = icon
		}
	}
}
