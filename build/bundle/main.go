// Command bundle makes Countersign.app, and what people download: the app with
// the command line in it, for both kinds of Mac.
//
// It writes to one folder. What needs a Mac (compiling the window, signing,
// notarising, disk images) is left out elsewhere, and it says so: what comes
// out then is for looking at, not for running.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
)

func main() {
	var o options
	flag.StringVar(&o.Out, "out", "build/dist", "`folder` to write to; its Countersign.app is replaced")
	flag.BoolVar(&o.Here, "here", false, "make the app alone, for this kind of Mac, to try it here")
	flag.StringVar(&o.Identity, "identity", os.Getenv("COUNTERSIGN_IDENTITY"), "signing `identity`; none signs ad hoc")
	flag.StringVar(&o.Notary, "notary", os.Getenv("COUNTERSIGN_NOTARY"), "keychain `profile` of notarytool; none does not notarise")
	flag.StringVar(&o.Profile, "profile", os.Getenv("COUNTERSIGN_PROFILE"), "provisioning profile of the app, a `file`; none leaves the Keychain alone")
	flag.StringVar(&o.CommandProfile, "command-profile", os.Getenv("COUNTERSIGN_COMMAND_PROFILE"), "that of the command line, a `file`")
	flag.Parse()
	left, err := assemble(o)
	for _, what := range left {
		fmt.Println("left:", what)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bundle:", err)
		os.Exit(1)
	}
}

// options say what is made.
type options struct {
	Out, Identity, Notary   string
	Profile, CommandProfile string
	// Here leaves out what is given to others: the other kind of Mac, disk image,
	// zip and cask.
	Here bool
}

// assemble makes everything that can be made here, and tells what is left.
func assemble(o options) (left []string, err error) {
	v, err := versionOf(".")
	if err != nil {
		return nil, err
	}
	app := filepath.Join(o.Out, "Countersign.app")
	if err := os.RemoveAll(app); err != nil {
		return nil, err
	}
	b := bundle{Version: v}
	if b.Profiles, err = readProfiles(o.Identity, o.Profile, o.CommandProfile); err != nil {
		return nil, err
	}
	kinds := both
	if o.Here {
		kinds = []string{runtime.GOARCH}
	}
	if b.Command, err = compile("./backend/cmd/countersign", v, false, kinds); err != nil {
		return nil, err
	}
	if hasApple {
		if b.Window, err = compile("./app", v, true, kinds); err != nil {
			return nil, err
		}
	} else {
		left = append(left, "the window (Contents/MacOS/Countersign): it is compiled on a Mac")
	}
	if err := b.write(app); err != nil {
		return left, err
	}
	fmt.Println("made:", app)
	if !hasApple {
		left = append(left, "signature, notarisation and disk image: they need Apple's tools")
	} else if err := sign(app, o, b.Profiles); err != nil {
		return left, err
	}
	if o.Here {
		return left, nil
	}
	zipped := filepath.Join(o.Out, "Countersign-"+v.Short+".zip")
	sum, err := archive(app, zipped)
	if err != nil {
		return left, err
	}
	fmt.Println("made:", zipped)
	return left, writeCask(filepath.Join(o.Out, "countersign.rb"), v.Short, sum)
}
