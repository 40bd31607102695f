package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
)

// Both programs reach the Keychain only with a provisioning profile each, which
// Apple gives to a team. A profile belongs to a bundle, so the command line gets
// one of its own, and a link where it is without.
const (
	commandBundle = "Contents/Helpers/countersign.app"
	commandLink   = "Contents/Helpers/countersign"
	profileName   = "Contents/embedded.provisionprofile"
)

// The names that the profiles are for.
const (
	appID     = "app.countersign.Countersign"
	commandID = "app.countersign.command"
)

// profiles are the two, for a team; the zero value is for builds without.
type profiles struct {
	team         string
	app, command []byte
}

var teamInIdentity = regexp.MustCompile(`\(([A-Z0-9]{10})\)$`)

// readProfiles reads the profiles of an identity, which names its team at its
// end. There are both or none.
func readProfiles(identity, app, command string) (p profiles, err error) {
	if app == "" && command == "" {
		return profiles{}, nil
	}
	team := teamInIdentity.FindStringSubmatch(identity)
	if team == nil || app == "" || command == "" {
		return profiles{}, fmt.Errorf("the Keychain needs a profile for the app and one for the command line, and an identity that ends in (TEAM), not %q", identity)
	}
	p.team = team[1]
	if p.app, err = os.ReadFile(app); err == nil {
		p.command, err = os.ReadFile(command)
	}
	return p, err
}

// entitlements adds to those of a program what its profile grants.
func (p profiles) entitlements(base []byte, id string) []byte {
	if p.team == "" {
		return base
	}
	more := fmt.Sprintf(`	<key>com.apple.application-identifier</key>
	<string>%[1]s.%[2]s</string>
	<key>com.apple.developer.team-identifier</key>
	<string>%[1]s</string>
	<key>keychain-access-groups</key>
	<array>
		<string>%[1]s.app.countersign</string>
	</array>
</dict>`, p.team, id)
	return bytes.Replace(base, []byte("</dict>"), []byte(more), 1)
}

// noEntitlements is what the command line has without a profile.
var noEntitlements = []byte("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\">\n<dict>\n</dict>\n</plist>\n")

// commandFiles are where the command line is in the app.
func (b bundle) commandFiles() (map[string]file, error) {
	if b.Profiles.team == "" || len(b.Command) == 0 {
		return map[string]file{commandLink: {b.Command, 0o755}}, nil
	}
	plist, err := fill(filepath.Join(sources, "command.plist"), struct{ Version, Build string }{b.Version.Short, b.Version.Build})
	return map[string]file{
		commandBundle + "/Contents/Info.plist":        {plist, 0o644},
		commandBundle + "/Contents/MacOS/countersign": {b.Command, 0o755},
		commandBundle + "/" + profileName:             {b.Profiles.command, 0o644},
		profileName:                                   {b.Profiles.app, 0o644},
	}, err
}
