#!/bin/sh
# What is checked beside the tests: formatting, vet, modules, and that no
# address or machine path got into the tree.
set -eu
fail=0

unformatted=$(gofmt -l app backend build frontend/*.go)
if [ -n "$unformatted" ]; then
	echo "not formatted: $unformatted" >&2
	fail=1
fi

go vet ./... || fail=1
go mod verify || fail=1
CGO_ENABLED=0 go build ./... || fail=1
# One call that finds methods by name, and the linker keeps all that there are.
if CGO_ENABLED=0 go build -o /dev/null -ldflags -dumpdep ./backend/cmd/countersign 2>&1 | grep '<ReflectMethod> ->' >&2; then
	echo "the command line is a tenth larger by this" >&2
	fail=1
fi
# What runs on other people's machines: the workflows, and the scripts that they
# and the Makefile call.
go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 -shellcheck= -pyflakes= || fail=1
for script in build/*.sh; do
	sh -n "$script" || fail=1
done
go run ./build/darwincheck ./app/... ./backend/vault || fail=1

# The folder of this checkout, and lock files that name where they were fetched.
if git grep -nIF "$(pwd)/" -- . >&2 || git grep -nIE '"resolved": *"https?://' -- . >&2; then
	echo "a machine's path or a registry's address is in the tree" >&2
	fail=1
fi
exit $fail
