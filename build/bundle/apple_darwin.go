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
func sign(app string, o options, p profiles) error {
	identity, hardened := o.Identity, []string{"--timestamp", "--options", "runtime"}
	if identity == "" {
		identity, hardened = "-", nil
	}
	codesign := append([]string{"codesign", "--force", "--sign", identity}, hardened...)
	base, err := os.ReadFile(filepath.Join(sources, "entitlements.plist"))
	if err != nil {
		return err
	}
	command := commandLink
	if p.team != "" {
		command = commandBundle
	}
	for _, one := range []struct {
		path         string
		entitlements []byte
	}{
		{filepath.Join(app, command), p.entitlements(noEntitlements, commandID)},
		{app, p.entitlements(base, appID)},
	} {
		granted := filepath.Join(o.Out, "granted.plist")
		defer os.Remove(granted)
		if err := os.WriteFile(granted, one.entitlements, 0o644); err != nil {
			return err
		}
		if err := run(append(codesign, "--entitlements", granted, one.path)...); err != nil {
			return err
		}
	}
	if err := run("codesign", "--verify", "--strict", "--deep", app); err != nil {
		return err
	}
	if o.Here {
		return nil
	}
	if o.Notary != "" && o.Identity != "" {
		packed := filepath.Join(o.Out, "notary.zip")
		defer os.Remove(packed)
		if err := run("ditto", "-c", "-k", "--keepParent", app, packed); err != nil {
			return err
		}
		if err := notarise(packed, app, o); err != nil {
			return err
		}
	}
	image := filepath.Join(o.Out, "Countersign.dmg")
	if err := run("hdiutil", "create", "-ov", "-format", "UDZO", "-volname", "Countersign", "-srcfolder", app, image); err != nil || o.Identity == "" {
		return err
	}
	if err := run("codesign", "--sign", o.Identity, "--timestamp", image); err != nil || o.Notary == "" {
		return err
	}
	return notarise(image, image, o)
}

// notarise has Apple look at a file, and fastens its word to what is given away.
func notarise(file, given string, o options) error {
	if err := run("xcrun", "notarytool", "submit", file, "--keychain-profile", o.Notary, "--wait"); err != nil {
		return err
	}
	return run("xcrun", "stapler", "staple", given)
}
