package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// hasApple tells that Apple's tools are here.
const hasApple = true

// run runs one of them.
func run(words ...string) error {
	cmd := exec.Command(words[0], words[1:]...)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w", strings.Join(words[:min(2, len(words))], " "), err)
	}
	return nil
}

// sign signs the app from the inside out, notarises it if there is a profile,
// and makes a disk image.
func sign(app string, o options) error {
	identity, hardened := o.Identity, []string{"--timestamp", "--options", "runtime"}
	if identity == "" {
		identity, hardened = "-", nil
	}
	codesign := append([]string{"codesign", "--force", "--sign", identity}, hardened...)
	if err := run(append(codesign, filepath.Join(app, "Contents/Helpers/countersign"))...); err != nil {
		return err
	}
	if err := run(append(codesign, "--entitlements", filepath.Join(sources, "entitlements.plist"), app)...); err != nil {
		return err
	}
	if err := run("codesign", "--verify", "--strict", "--deep", app); err != nil {
		return err
	}
	if o.Notary != "" && o.Identity != "" {
		packed := filepath.Join(o.Out, "notary.zip")
		defer os.Remove(packed)
		for _, words := range [][]string{
			{"ditto", "-c", "-k", "--keepParent", app, packed}, {"xcrun", "notarytool", "submit", packed, "--keychain-profile", o.Notary, "--wait"}, {"xcrun", "stapler", "staple", app},
		} {
			if err := run(words...); err != nil {
				return err
			}
		}
	}
	return run("hdiutil", "create", "-ov", "-format", "UDZO", "-volname", "Countersign", "-srcfolder", app, filepath.Join(o.Out, "Countersign.dmg"))
}
