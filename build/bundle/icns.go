package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/png"
)

// icnsTypes are the pictures in an icon file, by their size in pixels. Those
// of 32 to 1024 are also the pictures of half that size for dense screens.
var icnsTypes = []struct {
	size  int
	types []string
}{
	{1024, []string{"ic10"}}, {512, []string{"ic09", "ic14"}}, {256, []string{"ic08", "ic13"}}, {128, []string{"ic07"}},
	{64, []string{"ic12"}}, {32, []string{"icp5", "ic11"}}, {16, []string{"icp4"}},
}

// icns makes an icon file from a picture of 1024 by 1024 pixels.
func icns(picture image.Image) ([]byte, error) {
	if size := picture.Bounds().Size(); size != image.Pt(1024, 1024) {
		return nil, fmt.Errorf("the icon must have 1024 by 1024 pixels, not %v", size)
	}
	var body bytes.Buffer
	for at := 0; ; at++ {
		kind := icnsTypes[at]
		var text bytes.Buffer
		if err := png.Encode(&text, picture); err != nil {
			return nil, err
		}
		for _, t := range kind.types {
			body.WriteString(t)
			_ = binary.Write(&body, binary.BigEndian, uint32(8+text.Len())) // a buffer takes everything
			body.Write(text.Bytes())
		}
		if at == len(icnsTypes)-1 {
			break
		}
		picture = half(picture)
	}
	head := binary.BigEndian.AppendUint32([]byte("icns"), uint32(8+body.Len()))
	return append(head, body.Bytes()...), nil
}

// half halves the size of a picture: each pixel is the mean of four, with
// colours counting by how opaque they are.
func half(from image.Image) image.Image {
	r := from.Bounds()
	to := image.NewNRGBA(image.Rect(0, 0, r.Dx()/2, r.Dy()/2))
	for y := range r.Dy() / 2 {
		for x := range r.Dx() / 2 {
			var sum [4]uint32
			for i := range 4 {
				cr, cg, cb, ca := from.At(r.Min.X+2*x+i%2, r.Min.Y+2*y+i/2).RGBA() // alpha is multiplied in
				for j, c := range []uint32{cr, cg, cb, ca} {
					sum[j] += c
				}
			}
			to.Set(x, y, color.RGBA64{uint16(sum[0] / 4), uint16(sum[1] / 4), uint16(sum[2] / 4), uint16(sum[3] / 4)})
		}
	}
	return to
}
