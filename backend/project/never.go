package project

import (
	"path"
	"strings"
	"sync"
)

// ofSystem are the folders of the system and of what it installs, in small
// letters. In them nothing is a project, but in a home folder that lies there.
var ofSystem = sync.OnceValue(func() []string {
	return strings.Fields(`
		/etc /usr /bin /sbin /lib /lib32 /lib64 /libx32 /boot /dev /proc /sys /run /var /nix /gnu /snap /lost+found
		/opt/homebrew /opt/local /home/linuxbrew /library /system /applications /cores /network
		/private/etc /private/var /.vol /.nofollow /.resolve`)
})

// temporary are patterns of folders for temporary files, and mounts those of the
// roots of disks: what lies in them may be a project, and they themselves never.
var (
	temporary = sync.OnceValue(func() []string {
		return strings.Fields("/tmp /private/tmp /var/tmp /private/var/tmp /var/folders/*/*/t /private/var/folders/*/*/t")
	})
	mounts = sync.OnceValue(func() []string {
		return strings.Fields("/volumes/* /mnt/* /media/* /media/*/* /run/media/* /run/media/*/*")
	})
)

// clouds are the folders below home/Library in which macOS keeps disks of others.
var clouds = sync.OnceValue(func() []string { return strings.Fields("/library/cloudstorage/* /library/mobile*documents/*") })

// never says why a real path is no folder to work in, or "".
func (v view) never(at string) string {
	at = plain(at)
	lower := strings.ToLower(at)
	for _, home := range v.homes {
		home = strings.ToLower(plain(home))
		rest, below := strings.CutPrefix(lower, strings.TrimSuffix(home, "/")+"/")
		switch {
		case within(home, lower):
			return "it is the home folder, or above it"
		case below && strings.HasPrefix(rest, "."):
			return "it is a hidden folder of the home folder, or lies in one"
		case v.inLibrary(at) && !inOne(clouds(), "/"+rest):
			return "it belongs to the settings of programs"
		}
	}
	switch {
	case strings.Count(lower, "/") < 2:
		return "it is the root of the disk, or a folder at it"
	case isOne(temporary(), lower):
		return "it is the folder of everybody's temporary files"
	case isOne(mounts(), lower):
		return "it is the root of a disk"
	case strings.Contains(lower+"/", "/.git/"):
		return "it belongs to git"
	case inOne(temporary(), lower), inOne(mounts(), lower):
		return ""
	}
	for _, system := range ofSystem() {
		if within(lower, system) && !v.livesIn(system, at) {
			return "it belongs to the system"
		}
	}
	return ""
}

// plain is a path without the name that macOS has besides for the disk with all that
// is not the system's.
func plain(at string) string {
	const data = "/system/volumes/data"
	if lower := strings.ToLower(at); lower == data || strings.HasPrefix(lower, data+"/") {
		return at[len(data):]
	}
	return at
}

// inLibrary reports whether a path is, or lies in, the folder in which macOS keeps
// what programs know of the person. Elsewhere one in small letters may be a project.
func (v view) inLibrary(at string) bool {
	for _, home := range v.homes {
		if within(at, path.Join(plain(home), "Library")) {
			return true
		}
	}
	return false
}

// livesIn reports whether a path lies in a home folder that itself lies in a
// folder of the system, as those of services do.
func (v view) livesIn(system, at string) bool {
	for _, home := range v.homes {
		if home = plain(home); within(strings.ToLower(home), system) && within(at, home) {
			return true
		}
	}
	return false
}

// isOne reports whether a path is what one of the patterns stands for, and inOne
// whether it lies below that.
func isOne(patterns []string, at string) bool {
	for _, pattern := range patterns {
		if ok, err := path.Match(pattern, at); ok && err == nil {
			return true
		}
	}
	return false
}

func inOne(patterns []string, at string) bool {
	for at != "/" && at != "." {
		if at = path.Dir(at); isOne(patterns, at) {
			return true
		}
	}
	return false
}
