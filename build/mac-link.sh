#!/bin/sh
# Compiles and links the app and the command line for both kinds of Mac, on a
# machine that is none: with clang, lld and the SDK that MACSDK names. The
# programs are thrown away.
set -eu

if [ ! -d "${MACSDK:-}/System/Library/Frameworks" ]; then
	echo "skipped: MACSDK names no SDK"
	exit 0
fi
sdk=$(cd "$MACSDK" && pwd)
# The newest clang: the headers of an SDK want one of their own age.
clang=$(echo "$PATH" | tr : '\n' | while read -r dir; do ls "$dir" 2>/dev/null || true; done | grep -E '^clang(-[0-9]+)?$' | sort -t- -k2n | tail -n 1)
if [ -z "$clang" ]; then
	echo "there is no clang" >&2
	exit 1
fi
oldest=$(sed -n '/LSMinimumSystemVersion/{n;s/[^0-9.]//g;p;}' build/darwin/Info.plist)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

export GOOS=darwin CGO_ENABLED=1
export CGO_CFLAGS="-O2 -g -mmacosx-version-min=$oldest"
# The function behind @available is in the library of Apple's own clang.
export CGO_LDFLAGS="$CGO_CFLAGS -fuse-ld=lld -Wl,-U,___isPlatformVersionAtLeast"
fail=0
for arch in arm64 amd64; do
	case $arch in
	arm64) kind=arm64 ;;
	amd64) kind=x86_64 ;;
	esac
	# The version of the linker is one that takes the flags of today.
	export GOARCH=$arch CC="$clang -target $kind-apple-macos -isysroot '$sdk' -mlinker-version=951"
	link() {
		if go build -trimpath -ldflags "-s -w" -tags "$2" -o "$out/$arch" "$1"; then
			echo "$arch: $1 links, $(wc -c <"$out/$arch") bytes"
		else
			echo "$arch: $1 does not link" >&2
			fail=1
		fi
	}
	link ./backend/cmd/countersign nethttpomithttp2
	link ./app desktop,production
done
exit $fail
