//go:build cgo

package mac

/*
#cgo CFLAGS: -fobjc-arc
#cgo LDFLAGS: -framework AVFoundation -framework ApplicationServices -framework Contacts -framework EventKit -framework Foundation -framework Photos -framework UserNotifications
#include "permissions_darwin.h"
*/
import "C"

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// asked are the permissions that macOS is asked about, with what its codes
// mean.
var asked = map[string]struct {
	permission C.int
	means      func(code int) State
}{
	"accessibility":    {C.CSAccessibility, yesNo},
	ScreenRecording:    {C.CSScreenRecording, yesNo},
	"input-monitoring": {C.CSInputMonitoring, yesNo},
	"post-events":      {C.CSPostEvents, yesNo},
	"automation":       {C.CSAutomation, automating},
	"notifications":    {C.CSNotifications, notifying},
	"microphone":       {C.CSMicrophone, status},
	"camera":           {C.CSCamera, status},
	"contacts":         {C.CSContacts, status},
	"calendars":        {C.CSCalendars, events},
	"reminders":        {C.CSReminders, events},
	"photos":           {C.CSPhotos, status},
}

func look(id string) State {
	if id == "full-disk" {
		return fullDisk()
	}
	a, ok := asked[id]
	if !ok {
		return Unknown // macOS tells nobody of those that it asks about at their first use
	}
	return a.means(int(C.CSPermissionState(a.permission)))
}

// fullDisk looks at a file that nobody else may: there is no call for it.
func fullDisk() State {
	home, err := os.UserHomeDir()
	if err != nil {
		return Unknown
	}
	f, err := os.Open(filepath.Join(home, "Library/Application Support/com.apple.TCC/TCC.db"))
	switch {
	case err == nil:
		f.Close()
		return Granted
	case errors.Is(err, fs.ErrPermission):
		return Missing
	}
	return Unknown
}

func request(id string) error {
	a, ok := asked[id]
	if !ok {
		return errUnknown
	}
	C.CSPermissionRequest(a.permission)
	return nil
}

// open opens an address with the app that is for it.
func open(url string) error { return exec.Command("/usr/bin/open", url).Run() }
