#!/bin/sh
# Every Go test, in three turns:
#   race   rooms that start goroutines, with the race detector;
#   plain  the other rooms, in which it would find nothing, without;
#   long   again without, and with all their rounds: the tests of the first turn
#          that call approvaltest.Long or Rounds.
# Usage: unit.sh TAGS [GO]. `make check` vets.
set -eu
tags=$1 go=${2:-go}
export COUNTERSIGN_TEST=all

# One library is left out of the race detector: SQLite, translated from C, takes
# most of the time of each test that records, and its memory is not Go's.
sqlite='-gcflags=modernc.org/sqlite/lib=-race=false -d=checkptr=0'

raced=$(grep -rlE --include='*.go' --exclude-dir=testdata '^[[:space:]]*go [[:alpha:]]|\.Go\(|\.Parallel\(\)' app backend build |
	sed 's|^|./|; s|/[^/]*$||' | sort -u)
plain=$($go list -f '{{.Dir}}' ./... | sed "s|^$(pwd)|.|" | while read -r room; do
	echo "$raced" | grep -qx "$room" || echo "$room"
done)
calls='approvaltest\.(Long\(t\)|Rounds\(t,)'
# shellcheck disable=SC2086
files=$(grep -lE --include='*_test.go' -r "$calls" $raced)
# The call stands in the test itself: what another function does, no turn would run whole.
# shellcheck disable=SC2086
tests=$(awk -v calls="$calls" '/^func /{name = $2; sub(/\(.*/, "", name)}
	$0 ~ calls {if (name !~ /^Test/) {print FILENAME ": " name " is no test" >"/dev/stderr"; exit 1}; print name}' $files)

# The longest come first, and three at a time, as many of them wait.
first="./backend/cmd/countersign ./backend/sandbox ./app ./backend/host"
code=0
# shellcheck disable=SC2086
{
	$go test -vet=off -p 3 -race "$sqlite" -tags "$tags" -count=1 -timeout 40m $first $raced || code=1
	$go test -vet=off -tags "$tags" -count=1 -timeout 20m $plain || code=1
	$go test -vet=off -tags "$tags" -count=1 -timeout 20m -run "^($(echo "$tests" | sort -u | paste -sd '|' -))\$" \
		$(echo "$files" | sed 's|/[^/]*$||' | sort -u) || code=1
}
exit $code
