#!/bin/sh
# Looks at a bundle with Apple's tools: its signature, its property list, and
# for which Macs its programs are. usage: mac-verify.sh APP
set -eu
app=$1
if ! command -v codesign >/dev/null || ! command -v lipo >/dev/null || ! command -v otool >/dev/null; then
	echo "skipped: this machine has none of Apple's tools"
	exit 0
fi
oldest=$(sed -n '/LSMinimumSystemVersion/{n;s/[^0-9.]//g;p;}' "$app/Contents/Info.plist")
plutil -lint "$app/Contents/Info.plist"
codesign --verify --strict --deep "$app"
for program in "$app/Contents/MacOS/Countersign" "$app/Contents/Helpers/countersign"; do
	kinds=$(lipo -archs "$program" | tr ' ' '\n' | sort | tr '\n' ' ')
	if [ "$kinds" != "arm64 x86_64 " ]; then
		echo "$program is for $kinds" >&2
		exit 1
	fi
	for kind in $kinds; do
		from=$(otool -arch "$kind" -l "$program" | awk '/LC_BUILD_VERSION/ { found = 1 } found && $1 == "minos" { print $2; exit }')
		if [ "$from" != "$oldest" ]; then
			echo "$program needs macOS ${from:-of no version} on $kind, not $oldest" >&2
			exit 1
		fi
	done
done
echo "$app is for both kinds of Mac, from macOS $oldest on"
