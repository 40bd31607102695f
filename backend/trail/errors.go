package trail

import "errors"

// ErrWritten says that some program may be writing to a file. Through a mapping
// it can do so at any time, and what is known of the file stays the same.
var ErrWritten = errors.New("a program has it open for writing")

// ErrPrivate says that macOS lets the person see a file and not this program:
// Documents, Desktop, Downloads, iCloud Drive and other disks are asked about
// at their first use, and who was refused is asked no more.
var ErrPrivate = errors.New("macOS keeps it from Countersign: allow it in System Settings, Privacy & Security, Files and Folders")
