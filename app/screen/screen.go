// Package screen tells whether somebody else than the person may be in front of
// the machine: the screen is locked, or another user's session is shown.
package screen
