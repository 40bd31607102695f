// Package mac is what only macOS can do for the app. What decides is in files
// for every platform and tested there; what asks macOS is one small file for
// each thing, and elsewhere answers that it is not needed.
package mac

import "errors"

// Permission is a right that macOS gives to the app, and so to the commands
// that are its children (TCC).
type Permission struct {
	ID, Title string
	// Purpose says what commands can do with it.
	Purpose string
	// Usage are the keys of Info.plist without which macOS refuses in silence.
	Usage []string
	// Pane is where System Settings shows it.
	Pane string
	// Asks tells that macOS can ask the person for it; else they have to add the
	// app themselves.
	Asks bool
}

// State is how things stand with a permission.
type State string

// The states.
const (
	Granted State = "granted"
	Denied  State = "denied"
	// Missing means that it was not given; macOS does not tell whether it was
	// ever asked for.
	Missing State = "missing"
	// Undecided means that the person was not asked yet.
	Undecided State = "undecided"
	// Restricted means that this person may not decide, but who manages the Mac.
	Restricted State = "restricted"
	Unknown    State = "unknown"
	NotNeeded  State = "not-needed"
)

// ScreenRecording is the ID of the permission that callers name in a request.
const ScreenRecording = "screen-recording"

// Permissions are all that the app shows, those in front that commands of
// agents want most often.
var Permissions = []Permission{
	{"accessibility", "Accessibility", "Press buttons and read windows of other apps", nil, "Privacy_Accessibility", true},
	{ScreenRecording, "Screen Recording", "Take pictures of the screen", nil, "Privacy_ScreenCapture", true},
	{"input-monitoring", "Input Monitoring", "See what is typed in other apps", nil, "Privacy_ListenEvent", true},
	{"post-events", "Post Events", "Type and click in other apps", nil, "Privacy_Accessibility", true},
	{"automation", "Automation", "Control other apps by AppleScript, asked for each app", []string{"NSAppleEventsUsageDescription"}, "Privacy_Automation", true},
	{"full-disk", "Full Disk Access", "Read mail, messages and what other apps keep", nil, "Privacy_AllFiles", false},
	{"files", "Files and Folders", "Use Desktop, Documents, Downloads, clouds and other disks. macOS asks about each at its first use, also where Countersign only reads a script to judge it; until you answer, that command waits", []string{
		"NSDesktopFolderUsageDescription", "NSDocumentsFolderUsageDescription", "NSDownloadsFolderUsageDescription",
		"NSFileProviderDomainUsageDescription", "NSNetworkVolumesUsageDescription", "NSRemovableVolumesUsageDescription",
	}, "Privacy_FilesAndFolders", false},
	{"notifications", "Notifications", "Say that a question waits", nil, "Notifications", true},
	{"microphone", "Microphone", "Record sound", []string{"NSMicrophoneUsageDescription"}, "Privacy_Microphone", true},
	{"camera", "Camera", "Take pictures with the camera", []string{"NSCameraUsageDescription"}, "Privacy_Camera", true},
	{"contacts", "Contacts", "Read and change contacts", []string{"NSContactsUsageDescription"}, "Privacy_Contacts", true},
	{"calendars", "Calendars", "Read and change calendars", []string{"NSCalendarsUsageDescription", "NSCalendarsFullAccessUsageDescription", "NSCalendarsWriteOnlyAccessUsageDescription"}, "Privacy_Calendars", true},
	{"reminders", "Reminders", "Read and change reminders", []string{"NSRemindersUsageDescription", "NSRemindersFullAccessUsageDescription"}, "Privacy_Reminders", true},
	{"photos", "Photos", "Read and change photos", []string{"NSPhotoLibraryUsageDescription", "NSPhotoLibraryAddUsageDescription"}, "Privacy_Photos", true},
	{"location", "Location", "Find out where the Mac is", []string{"NSLocationUsageDescription"}, "Privacy_LocationServices", false},
	{"bluetooth", "Bluetooth", "Use Bluetooth devices", []string{"NSBluetoothAlwaysUsageDescription"}, "Privacy_Bluetooth", false},
	{"speech", "Speech Recognition", "Have Apple recognize speech", []string{"NSSpeechRecognitionUsageDescription"}, "Privacy_SpeechRecognition", false},
	{"system-audio", "System Audio Recording", "Record what the Mac plays", []string{"NSAudioCaptureUsageDescription"}, "Privacy_ScreenCapture", false},
	{"media", "Media & Apple Music", "Use the music and media library", []string{"NSAppleMusicUsageDescription"}, "Privacy_Media", false},
	{"local-network", "Local Network", "Reach other devices on the network", []string{"NSLocalNetworkUsageDescription"}, "Privacy_LocalNetwork", false},
}

// find returns the permission with an ID, nil for none.
func find(id string) *Permission {
	for i := range Permissions {
		if Permissions[i].ID == id {
			return &Permissions[i]
		}
	}
	return nil
}

// Look tells how things stand with a permission.
func Look(id string) State {
	if find(id) == nil {
		return Unknown
	}
	return look(id)
}

// URL is where System Settings shows a permission, "" for one that is not
// known.
func URL(id string) string {
	p := find(id)
	switch {
	case p == nil:
		return ""
	case p.Pane == "Notifications":
		return "x-apple.systempreferences:com.apple.Notifications-Settings.extension"
	}
	return "x-apple.systempreferences:com.apple.preference.security?" + p.Pane
}

// Request has macOS ask the person, or where it cannot, opens System Settings.
func Request(id string) error {
	p := find(id)
	if p == nil {
		return errUnknown
	}
	if !p.Asks {
		return OpenSettings(id)
	}
	return request(id)
}

// OpenSettings shows the permission in System Settings.
func OpenSettings(id string) error {
	if find(id) == nil {
		return errUnknown
	}
	return open(URL(id))
}

// CanRecordScreen tells whether commands that need the screen may start.
func CanRecordScreen() bool {
	s := Look(ScreenRecording)
	return s == Granted || s == NotNeeded
}

// yesNo is the state of a permission of which macOS tells only whether it
// holds.
func yesNo(code int) State {
	if code != 0 {
		return Granted
	}
	return Missing
}

// events is the state for an EKAuthorizationStatus. 4 is to write alone, which
// is not what is asked for.
func events(code int) State {
	if code == 4 {
		return Missing
	}
	return status(code)
}

// status is the state for an authorization status of AVFoundation, Contacts or
// Photos, which count alike. 4 is access to a part.
func status(code int) State {
	switch code {
	case 0:
		return Undecided
	case 1:
		return Restricted
	case 2:
		return Denied
	case 3, 4:
		return Granted
	}
	return Unknown
}

// notifying is the state for a UNAuthorizationStatus.
func notifying(code int) State {
	switch code {
	case 0:
		return Undecided
	case 1:
		return Denied
	case 2, 3, 4:
		return Granted
	}
	return Unknown
}

// automating is the state for an answer of AEDeterminePermissionToAutomateTarget.
func automating(code int) State {
	switch code {
	case 0:
		return Granted
	case -1743: // errAEEventNotPermitted
		return Denied
	case -1744: // errAEEventWouldRequireUserConsent
		return Undecided
	}
	return Unknown // -600, procNotFound: the app that is asked about does not run
}

var errUnknown = errors.New("no such permission")
