package main

import (
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"strings"
)

// notices are the licences of all that is in our programs and in the page, packed.
// build/notices writes them.
//
//go:embed notices.txt.gz
var notices string

type versionCommand struct {
	Notices bool `help:"Print the licences of Countersign and of what it is made of." name:"notices"`
}

func (c versionCommand) Run(p *program) error {
	if !c.Notices {
		return p.print(map[string]string{"version": version}, func(w io.Writer) { fmt.Fprintln(w, "countersign", version) })
	}
	text, err := unpack(notices)
	if err != nil {
		return err
	}
	return p.print(map[string]string{"version": version, "notices": text}, func(w io.Writer) { fmt.Fprint(w, text) })
}

func unpack(packed string) (string, error) {
	r, err := gzip.NewReader(strings.NewReader(packed))
	if err != nil {
		return "", err
	}
	text, err := io.ReadAll(r)
	return string(text), err
}
