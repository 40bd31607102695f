package main

import (
	"context"
	"os"
	"os/exec"
	"time"

	"github.com/countersign-app/countersign/backend/rescue"
)

// players play the sound of a message, each with what it plays. All of it is
// the system's.
var players = [][]string{
	{"/usr/bin/canberra-gtk-play", "-i", "message-new-instant"},
	{"/usr/bin/pw-play", "/usr/share/sounds/freedesktop/stereo/message-new-instant.oga"},
	{"/usr/bin/paplay", "/usr/share/sounds/freedesktop/stereo/message-new-instant.oga"},
	{"/usr/bin/afplay", "/System/Library/Sounds/Ping.aiff"},
}

// player is the first of them that is here, or nil.
func player(there func(path string) bool) []string {
	for _, p := range players {
		if file := p[len(p)-1]; there(p[0]) && (file[0] != '/' || there(file)) {
			return p
		}
	}
	return nil
}

func isThere(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// soundTime is the longest that a sound may play.
const soundTime = 5 * time.Second

// sound plays the sound of a question, if a person wants that. Nothing waits
// for it, and a failure is silent too.
func (a *app) sound() {
	p := player(isThere)
	if p == nil || !a.prefs.get().Sound {
		return
	}
	a.work.Go(func() {
		defer rescue.Catch(nil, "the sound", nil)
		ctx, cancel := context.WithTimeout(context.Background(), soundTime)
		defer cancel()
		_ = exec.CommandContext(ctx, p[0], p[1:]...).Run()
	})
}
