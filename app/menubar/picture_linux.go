package menubar

import (
	"bytes"
	"embed"
	"fmt"
	"image"
	"image/color"
	"image/png"

	"github.com/godbus/dbus/v5"
)

// The pictures are one grey for all panels, because a status item cannot say
// that it is a template: #858585 has a contrast of 3.7 on white and of 4.5 on
// #1e1e1e. `make icons` renders them from the vectors beside them.
//
//go:embed icons/*-22.png icons/*-44.png
var iconFiles embed.FS

// pixmap is a picture as panels want it: rows of alpha, red, green, blue.
type pixmap struct {
	Width, Height int32
	Pixels        []byte
}

// pictures reads the embedded files, smaller ones first.
func pictures() (map[Icon][]pixmap, error) {
	all := map[Icon][]pixmap{}
	for _, icon := range []Icon{Quiet, Waiting, Paused} {
		for _, size := range []int{22, 44} {
			data, err := iconFiles.ReadFile(fmt.Sprintf("icons/%s-%d.png", icon, size))
			if err != nil {
				return nil, err
			}
			picture, err := png.Decode(bytes.NewReader(data))
			if err != nil {
				return nil, err
			}
			all[icon] = append(all[icon], newPixmap(picture))
		}
	}
	return all, nil
}

func newPixmap(picture image.Image) pixmap {
	r := picture.Bounds()
	p := pixmap{Width: int32(r.Dx()), Height: int32(r.Dy())}
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			// Alpha is not multiplied in, or soft edges would be dark.
			c := color.NRGBAModel.Convert(picture.At(x, y)).(color.NRGBA)
			p.Pixels = append(p.Pixels, c.A, c.R, c.G, c.B)
		}
	}
	return p
}

// tooltipValue is icon name, pictures, title and text.
type tooltipValue struct {
	Icon        string
	Pictures    []pixmap
	Title, Text string
}

// properties are those of the status item. Most panels show no text beside an
// icon, so the count is in the title and the tooltip.
func (v *view) properties(pictures map[Icon][]pixmap) values {
	return values{
		"Category":      dbus.MakeVariant("ApplicationStatus"),
		"Id":            dbus.MakeVariant("countersign"),
		"Title":         dbus.MakeVariant(v.title),
		"Status":        dbus.MakeVariant("Active"),
		"WindowId":      dbus.MakeVariant(int32(0)),
		"IconName":      dbus.MakeVariant(""),
		"IconThemePath": dbus.MakeVariant(""),
		"IconPixmap":    dbus.MakeVariant(pictures[v.icon]),
		"ToolTip":       dbus.MakeVariant(tooltipValue{Pictures: []pixmap{}, Title: v.title}),
		"ItemIsMenu":    dbus.MakeVariant(true),
		"Menu":          dbus.MakeVariant(dbus.ObjectPath(menuPath)),
	}
}
