package trail

import "errors"

// ErrWritten says that some program may be writing to a file. Through a mapping
// it can do so at any time, and what is known of the file stays the same.
var ErrWritten = errors.New("a program has it open for writing")
