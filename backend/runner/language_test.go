//go:build linux || darwin

package runner

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
)

// asShells are texts of which each runs without a shell, and as these shells run it.
var asShells = []struct {
	what  string
	bash  bool // only bash knows them
	texts []string
}{
	{"forms", false, []string{
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
	{"forms of bash", true, []string{
		`x=a.b.c; echo ${x/./-} ${x//./-} "${x//./}" ${x/b} ${x/#a/z} ${x/%c/z} ${x/#b/z}`, `x=a/b/c; echo ${x//\//-} "${x//\//, }"`,
		`x=aXbX; s=X; echo "${x//"$s"/-}"`, `x='a-b_c'; echo ${x//[-_]/ } "${x//[^a-z]/+}" ${x//[![:alpha:]]/}`, `x=aaaa; echo ${x//aa/b} ${x/aa/b} ${x//?/z}`,
		`x=abcdef; echo ${x:2} ${x:0:3} ${x:2:2} "${x:9}" "${x:6}" ${x:5:9} "${x:0:0}."`, `x=aBc; echo ${x^} ${x^^} ${x,} ${x,,}; y=; echo "${y^^}."`,
		`set -u; echo ${y:0:1}; echo after`, `set -u; echo ${y/a/b}; echo after`, `sha=0123456789abcdef; echo "${sha:0:7}"`, `x='a b  c'; echo ${x// /_} "${x// /, }"`,
	}},
	{"sums", false, []string{
		`printf "%s " $((1+2)) $(( (1+2) * 3 )) $((10/3)) $((-7/2)) $((7%-3)) $((- -1)) $((!0)) $((!5)) $((+3)) $((2-1-1)) $((8/4/2))`,
		`echo $((1<2)) $((2<=1)) $((1==1)) $((1!=1)) $((3>2 && 2>1)) $((0 || 0)) $((1+1==2)) $((1 || 1/0)) $((0 && 1/0))`,
		`x=5; y=-3; printf "%s " $((x+y)) $((x-y)) $((x*y)) $(($x*2)) $((${x}%3)) $((1 - $x)) $((-x)) $((x - -y)) $((2-$x))`,
		`echo $((nope)) $((nope+1)); x=; echo $((x+1))`, `x=" 7"; echo $((x+1)) $(($x+1))`, `x=+3; echo $((x+1))`, `i=0; i=$((i+1)); i=$((i+1)); echo $i`,
		`i=0; while [ $i -lt 3 ]; do echo $i; i=$((i + 1)); done`, `echo "$(( $(echo 4) + 1 ))" $((${y:-2}+1)) $((${#HOME}>1))`,
		`printf "%s " $((9223372036854775807+1)) $((9223372036854775807*3)) $((-9223372036854775807-2))`, `echo a$((1))b "$((2))" $((3))$((4))`, `set -u; x=1; echo $((x+1))`,
		`set -e; x=$((0)); echo $x`, `echo $((1
+ 2))`, `x=3; printf '%03d\n' $((x*x))`, `if [ $((5%2)) -eq 1 ]; then echo odd; fi`, `for i in 1 2 3; do s=$((${s:-0}+i)); done; echo $s`,
	}},
	{"sums of bash", true, []string{
		`x=10; if (( x > 5 && x < 20 )); then echo in; fi; (( x == 10 )) || echo no`, `((0)) || echo zero; ((1)) && echo one; ((5-5)); echo $?`,
		`i=0; ((i++)); echo $? $i; ((i++)); echo $? $i; ((++i)); echo $i; ((i--)); ((--i)); echo $i`, `i=2; ((i+=3)); ((i*=2)); ((i-=1)); ((i/=2)); ((i%=3)); ((i=i+7)); echo $i; ((i=0)); echo $?`,
		`for ((i=0;i<3;i++)); do echo $i; done; echo $i`, `for ((i=3;i>0;i-=2)); do echo $i; done`, `for ((i=0;i<0;i++)); do echo no; done; echo $?`, `false; for ((i=0;i<2;i++)); do echo $?; false; done; echo $?`,
		`set -e; i=0; ((i++)) || true; ((i++)); echo $i; ((i-2)); echo never`, `set -u; ((q+1)); echo after`, `! ((1)); echo $?`, `while ((i<3)); do ((i+=1)); echo $i; done`,
		`((i++)) | cat; echo ${i:-none}`, `(( i = 5 )) && echo $i`,
	}},
}

// TestLanguageAsShells runs each construct in our runner and in the shells: they
// print the same and end the same, and none of them asks.
func TestLanguageAsShells(t *testing.T) {
	t.Parallel()
	needs(t, "bash", "dash")
	for _, of := range asShells {
		t.Run(of.what, func(t *testing.T) {
			if !approvaltest.Apart(t) {
				return
			}
			r := newRunner(t)
			for _, shell := range []string{"bash", "dash"} {
				for _, text := range of.texts {
					switch how := likeShell(t, r, shell, text); {
					case of.bash && shell == "dash" && how != "asks":
						t.Errorf("%s: %s: %s, and should ask", shell, text, how)
					case (!of.bash || shell == "bash") && how != "same":
						t.Errorf("%s: %s: %s", shell, text, how)
					}
				}
			}
			mustBeGone(t, "none")
		})
	}
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
	`echo $((010))`, `echo $((0x1f))`, `echo $((2#101))`, `echo $((2**3))`, `echo $((1,2))`, `echo $((x=1))`, `echo $((x+=1))`, `echo $((x++))`, `echo $((--x))`, `echo $((1?2:3))`, `echo $((1<<2))`, `echo $((1&3))`, `echo $((~1))`,
	`echo $((a[0]))`, `echo $((a[$(touch mark)]))`, `((a[$(touch mark)]++))`, `echo $(("1"+1))`, `echo $((1$x))`, `echo $(($x$y))`, `echo $((${!x}))`, `echo $((RANDOM))`, `echo $(($RANDOM))`, `echo $((API_TOKEN))`, `echo $((#x))`, `echo $[1+1]`,
	`echo $((9223372036854775808))`, `echo $((1_000))`, `echo $((1.5))`, `echo $((x.y))`, `echo $(($#))`, `echo $(($$))`, `echo $((1=1))`, `let x=1`, `((PATH=1))`, `((LD_PRELOAD=1))`, `((IFS++))`, `((RANDOM++))`, `((SECONDS=0))`,
	`export i=1; ((i++))`, `x=$((1+1)); export x; ls`, `((x=y=1))`, `((x++,y++))`, `((x++ + 1))`, `for ((;;)); do eval x; done`, `for ((i=a[$(touch mark)];;)); do :; done`, `for ((PATH=1;PATH<2;PATH++)); do :; done`, `export API_KEY; ((API_KEY=1))`, `echo $(( $(touch mark; eval y) ))`,
}

// TestLookalikesAsk holds that none of these runs from a plan.
func TestLookalikesAsk(t *testing.T) {
	dir := scriptFolder(t)
	for _, text := range asks {
		for _, shell := range []string{"bash", "dash"} {
			if shell == "dash" && strings.Contains(text, "((x=") || strings.Contains(text, "((API_KEY") {
				continue // an assignment in a group, to dash
			}
			if job := scriptJob(t, shell, dir, text); job != nil {
				t.Errorf("%s: %s would run", shell, text)
			}
		}
	}
}

// TestValuesThatEndARun holds what a value cannot do: where a shell would take it for
// more than it is, or shells differ, nothing more runs.
func TestValuesThatEndARun(t *testing.T) {
	r, dir := newRunner(t), scriptFolder(t)
	for _, text := range []string{
		`x='a[$(touch mark)]'; echo $((x))`, `x='a[$(touch mark)]'; echo $(($x))`, `x='$(touch mark)'; echo $((x+1))`, `x='y=5'; echo $((x))`, `x=y; y=1; echo $((x))`, `x=010; echo $((x))`, `x=08; echo $(($x))`,
		`x=0x10; echo $((x))`, `x=1+1; echo $((x))`, `x=1+1; echo $(($x*2))`, `x='1 2'; echo $((x))`, `x=1.5; echo $((x))`, `x=99999999999999999999; echo $((x))`, `x=; echo $(($x+1))`, `x=-1; echo $((2-$x))`, `x=--1; echo $((x))`,
		`x=-; echo $((x))`, `x=+; echo $((x))`, `x=é; echo $((x))`, `echo $((1/0))`, `x=0; echo $((5%x))`, `x=0; ((1/x)); echo no`, `echo $(( $(echo 'a[$(touch mark)]') ))`, `x='a[$(touch mark)]'; ((x++))`, `x='a[$(touch mark)]'; for ((i=x;i<1;i++)); do :; done`,
		`x=-9223372036854775808; echo $((x))`, `x=é; echo ${#x}`, `x=é; echo ${x#?}`, `x=é; echo ${x:0:1}`, `x=é; echo ${x^^}`, `y=; x=a; echo ${x//"$y"/b}`,
	} {
		job := scriptJob(t, "bash", dir, text+"; touch mark")
		if job == nil {
			t.Errorf("%s: asks", text)
			continue
		}
		got := run1(t, r, *job)
		if got.Denied == nil || got.Denied.Reason != approval.ReasonRuntimeValue {
			t.Errorf("%s: %q, %q, %+v", text, got.Stdout, got.Stderr, got.Denied)
		}
		if _, err := os.Stat(filepath.Join(dir, "mark")); err == nil {
			t.Fatalf("%s: something ran", text)
		}
	}
}
