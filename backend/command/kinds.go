package command

import (
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// kinds sorts programs by name. A name that stands in no list is an ordinary
// program, of which an entry means the whole. Readers are the list of
// judgement.md, step 4; a reader that can do more with an option stands in a
// stricter list.
var kinds = []struct {
	kind  approval.ProgramKind
	names map[string]bool
}{
	{approval.KindShell, words("sh bash dash ash ksh mksh oksh zsh fish csh tcsh rbash rzsh yash elvish nu pwsh powershell xonsh su login chsh")},
	{approval.KindInterpreter, words(`python pythonw pypy ruby irb perl php lua luajit node nodejs deno bun osascript
		rscript r julia elixir iex erl escript groovy scala clojure clj raku guile ghc ghci runghc runhaskell java jshell tclsh wish expect
		swift ocaml racket sbcl octave gnuplot ts-node tsx`)},
	{approval.KindMultiplexer, words("busybox toybox coreutils")},
	{approval.KindWrapper, words(`env nice nohup time timeout gtimeout stdbuf ionice taskset setsid flock caffeinate arch xcrun command exec
		builtin sudo doas pkexec run0 runuser xargs parallel watch script unshare nsenter chroot strace ltrace gdb lldb setarch linux32 linux64
		run-parts chrt cpulimit prlimit dbus-run-session systemd-run start-stop-daemon daemonize unbuffer entr fzf tmux screen
		firejail bwrap proot fakeroot catchsegv valgrind perf rlwrap ssh-agent choom numactl setpriv capsh nodemon chpst softlimit envdir setuidgid dumb-init tini at batch xvfb-run open xdg-open countersign`)},
	{approval.KindStarter, words(`git find fd fdfind rg sed awk gawk mawk nawk gsed tar gtar bsdtar zip unzip rsync ssh scp sftp man less more
		most vi vim nvim view nano pico emacs emacsclient ed ex make gmake bmake ninja cmake npm pnpm yarn npx bunx go cargo rustc rustup pip pipx uv uvx
		poetry conda docker podman nerdctl kubectl helm terraform tofu ansible ansible-playbook curl wget sqlite psql mysql mongosh redis-cli gcc g++ cc c++
		clang clang++ ld as openssl gh brew port apt apt-get dpkg rpm yum dnf pacman apk snap flatpak jq yq sort gsort split gsplit csplit ssh-keygen ssh-add
		ssh-copy-id mail mailx mutt sendmail nc ncat netcat socat telnet nmap ftp lftp tcpdump bundle gem rake rails composer mvn gradle ant sbt
		dc bc m4 pr pg ctags troff groff nroff col crontab atq pytest tox nox jest vitest mocha eslint
		prettier webpack vite tsc bazel buck pants just task meson scons autoconf automake libtool pkg-config ack ag pdftk ffmpeg convert magick gpg gpg2
		age pass security launchctl systemctl service journalctl loginctl busctl dbus-send gdbus vagrant packer aws gcloud az fly heroku vercel
		hg svn bzr cvs fossil diff3 sdiff vimdiff patch objdump readelf dlltool c89 c99 f77 gfortran nasm yasm dmd rdmd zig nim v crystal
		dart flutter kotlin kotlinc scalac javac jar jarsigner xcodebuild xcode-select swiftc swiftpm pod carthage fastlane tput reset tset dialog whiptail zenity
		watchman watchexec direnv asdf mise nvm rbenv pyenv volta fnm goenv sdk`)},
	{approval.KindChanger, words(`rm rmdir unlink shred uniq xxd mv cp ln link install touch mkdir mkfifo mknod mktemp tee dd truncate chmod chown chgrp chflags
		chattr setfacl xattr date hostname hostnamectl timedatectl ntpdate kill killall pkill renice mount umount losetup mkfs fdisk parted diskutil hdiutil
		format sync fsck swapon swapoff shutdown reboot halt poweroff init telinit useradd userdel usermod groupadd passwd chpasswd visudo ifconfig ip route
		iptables nft ufw pfctl networksetup scutil systemsetup defaults plutil pmset nvram csrutil spctl codesign tccutil dscl sysctl modprobe insmod rmmod
		cliclick xdotool ydotool wtype xte screencapture pbcopy pbpaste xclip xsel wl-copy wl-paste gzip gunzip bzip2 xz zstd lz4 compress
		uncompress 7z 7za rar unrar cpio ar ranlib strip objcopy dos2unix unix2dos recode ldconfig update-alternatives
		trash rename fallocate ditto rsnapshot restic borg duplicity logger wall write`)},
	{approval.KindReader, words(`ls cat head tail wc stat file diff cmp which type du tree md5 md5sum shasum sha1sum sha256sum sha512sum basename dirname realpath
		readlink echo printf test [ expr grep egrep fgrep printenv seq true false pwd whoami id groups uname arch sw_vers df ps cut tr nl rev tac
		fold fmt comm join paste od hexdump strings sleep cksum b2sum sum tty logname nproc uptime who cal factor yes getconf locale`)},
}

// kindOf returns the strictest kind that any of these names stands for. A
// name is known in any case, with a version behind it (python3.12, gcc-13).
func kindOf(names ...string) approval.ProgramKind {
	readers := 0
	for _, k := range kinds {
		for _, name := range names {
			name = strings.ToLower(name)
			plain := strings.TrimRight(name, "0123456789.-_")
			if !k.names[name] && !k.names[plain] {
				continue
			}
			if k.kind != approval.KindReader {
				return k.kind
			}
			readers++
		}
	}
	// A reader only if every name says so: a link called "ls" that leads to
	// something unknown is not one.
	if readers == len(names) {
		return approval.KindReader
	}
	return approval.KindOther
}
