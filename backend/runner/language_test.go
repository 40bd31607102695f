//go:build linux || darwin

package runner

import "testing"

// asShells are texts of which each runs without a shell, and as these shells run it.
var asShells = []struct {
	shells string // "both", or one
	texts  []string
}{
	{"both", []string{
		`x=; echo "${x:-a}" ${x-b} ${y:-c} ${y-d}.`, `x=v; echo "${x:-a}" ${x-b} ${x:+c} ${x+d}`, `x=; echo ${x:+no}. ${x+yes} ${y+no}.`,
		`echo ${y:-"a  b"} "${y:-a  b}" ${y:-'*'}`, `x=${y:-a  b}; echo "$x"`, `z="c  d"; echo ${y:-$z} "${y:-$z}" "${y:-${x:-$z}}"`,
		`printf '<%s>' ${y:-""} ${y:-} "${y:-}"; echo`, `echo ${y:-$(echo in  it)} "${y:-$(echo in  it)}"`, `echo pre${y:-mid}post "pre${y:-}post"`,
		`: "${v:=set it}"; echo "$v"; : ${v:=other}; echo $v`, `v=; echo ${v=no}. ${v:=yes} $v`, `x='* .'; echo ${y:-"$x"}`,
		`echo ${#HOME}; x=abc; echo ${#x} ${#y}`, `x=; echo ${#x}`,
		`p=/usr/lib/foo.tar.gz; echo ${p##*/} ${p%/*} ${p%%.*} ${p#*/} ${p%.gz} ${p#/usr} ${p#x} ${p%x}`, `p=a/b/c; echo "${p##*/}" "${p%/*}" "${p%%/*}" "${p#*/}"`,
		`p=aXbXc; s=X; echo "${p#*"$s"}" ${p%"$s"*} "${p%%"$s"*}"`, `p='a*b*c'; printf '%s\n' "${p#*\*}" "${p%\**}"`, `x='[a'; echo ${x#[}`, `p=abc; echo ${p#?} ${p%?} ${p#[a-b]} ${p##[!x]} ${p%[[:alpha:]]}`,
		`p=' x '; echo "${p# }|${p% }|"`, `p=é.é; echo ${p%.*} ${p#*.}`, `for f in a.txt b.txt; do echo "${f%.txt}.md"; done`, `p=a.b; echo ${p%.*}.${p##*.}`,
		`set -u; echo ${y:-ok} ${y+no} ${y-ok}`, `set -u; echo ${#y}; echo after`, `set -u; echo ${y#a}; echo after`, `set -u; (echo ${y%a}); echo $?`, `set -u; x=$(echo ${y#a}); echo "$?"`,
		`echo ${y:?}; echo after`, `echo "${y?}"; echo after`, `echo ${y:?not here}; echo after`, `(echo ${y:?bad}); echo $?`, `set -e; echo ${y:?a b}; echo after`, `x=v; echo ${x:?no} ${x?no}`,
		`x=; echo ${x?} ${x:?nothing}`, `x=$(echo ${y:?bad}) || echo no`,
		`x=a; for i in 1 2 3; do x=${x}b; done; echo ${#x} ${x#ab}`,
	}},
	{"bash", []string{
		`x=a.b.c; echo ${x/./-} ${x//./-} "${x//./}" ${x/b} ${x/#a/z} ${x/%c/z} ${x/#b/z}`, `x=a/b/c; echo ${x//\//-} "${x//\//, }"`,
		`x=aXbX; s=X; echo "${x//"$s"/-}"`, `x='a-b_c'; echo ${x//[-_]/ } "${x//[^a-z]/+}" ${x//[![:alpha:]]/}`, `x=aaaa; echo ${x//aa/b} ${x/aa/b} ${x//?/z}`,
		`x=abcdef; echo ${x:2} ${x:0:3} ${x:2:2} "${x:9}" "${x:6}" ${x:5:9} "${x:0:0}."`, `x=aBc; echo ${x^} ${x^^} ${x,} ${x,,}; y=; echo "${y^^}."`,
		`set -u; echo ${y:0:1}; echo after`, `set -u; echo ${y/a/b}; echo after`, `sha=0123456789abcdef; echo "${sha:0:7}"`, `x='a b  c'; echo ${x// /_} "${x// /, }"`,
	}},
}

// TestLanguageAsShells runs each construct in our runner and in the shells: they
// print the same and end the same, and none of them asks.
func TestLanguageAsShells(t *testing.T) {
	t.Parallel()
	needs(t, "bash", "dash")
	r := newRunner(t)
	for _, of := range asShells {
		for _, shell := range []string{"bash", "dash"} {
			for _, text := range of.texts {
				switch how := likeShell(t, r, shell, text); {
				case of.shells != "both" && of.shells != shell && how != "asks":
					t.Errorf("%s: %s: %s, and should ask", shell, text, how)
				case (of.shells == "both" || of.shells == shell) && how != "same":
					t.Errorf("%s: %s: %s", shell, text, how)
				}
			}
		}
	}
	mustBeGone(t, "none")
}

// asks are texts that look like what is understood and are not: shells read them in
// different ways, or take what is in a value for more than a value.
var asks = []string{
	`x='*'; y=ab; echo ${y#$x}`, `y=a; echo ${y%$(echo a)}`, `echo ${x:-*}`, `echo ${x:-a b}`, `echo "${x:-'a'}"`, `echo "${x:-"a"}"`, `echo ${x:-~}`, `echo ${x:-{a,b}}`,
	`echo ${x:-\a}`, `echo ${!x}`, `echo ${!x*}`, `echo ${x@P}`, `echo ${x@Q}`, `echo ${x[0]}`, `echo ${x[@]}`, `echo ${#x[@]}`, `echo ${x:a}`, `echo ${x:$y}`, `echo ${x: -1}`,
	`echo ${x:0:-1}`, `echo ${x:08}`, `echo ${x:1+1}`, `echo ${x:a[$(touch mark)]}`, `echo ${x/a/&}`, `echo ${x/a/\&}`, `echo ${x/a/$y}`, `echo ${x//*/b}`, `echo ${x/$y/b}`, `echo ${x//#a/b}`, `echo ${x/#/b}`,
	`echo ${x^a}`, `echo ${x~~}`, `echo ${#@}`, `echo ${@:-a}`, `echo ${1:-a}`, `echo ${#?}`, `echo ${?:-a}`, `echo ${x#[a}`, `echo ${x#[z-a]}`, `echo ${x#[a-Z]}`, `echo ${x#[\]]}`,
	`echo ${IFS:-a}`, `echo ${BASH_VERSION%%.*}`, `echo ${RANDOM:-1}`, `echo ${API_TOKEN:-a}`, `echo ${#API_TOKEN}`, `echo ${API_TOKEN#a}`, `echo ${API_TOKEN:0:1}`, `echo ${AWS_SECRET_ACCESS_KEY+a}`,
	`: ${PATH:=.}`, `: ${LD_PRELOAD:=./x.so}`, `: ${IFS:=a}`, `: ${BASH_ENV:=x}`, `: ${x:=$(touch mark)}`, `export x=${y:-"a b"}; printenv x`, `export GIT_SSH_COMMAND; : ${GIT_SSH_COMMAND:=./evil}`,
	`${x:-ls}`, `${x:-touch} mark`, `"${x:=touch}" mark`, `echo ${x:-$(touch mark; eval y)}`, `x=@; echo ${x/#@(a)/b}`, `shopt -s extglob; echo ${x#@(a|b)}`, `echo ${x#+([0-9])}`, `echo ${x/a/<}`, `echo ${x#(a)}`,
}

// TestLookalikesAsk holds that none of these runs from a plan.
func TestLookalikesAsk(t *testing.T) {
	dir := scriptFolder(t)
	for _, text := range asks {
		for _, shell := range []string{"bash", "dash"} {
			if job := scriptJob(t, shell, dir, text); job != nil {
				t.Errorf("%s: %s would run", shell, text)
			}
		}
	}
}
