package oneliner

import (
	"strings"
	"testing"
)

// awkPassing are one-liners as people and agents write them.
var awkPassing = []string{
	// fields
	`{print $1}`,
	`{ print $1, $3 }`,
	`{print $NF}`,
	`{print $(NF-1)}`,
	`{print $1"\t"$2}`,
	`{print $1 " -> " $2}`,
	`{print NR": "$0}`,
	`{print FILENAME ":" FNR ": " $0}`,
	`{$1=""; print}`,
	`{$1=""; print substr($0,2)}`,
	`{$2=$2*1.5; print}`,
	`{$1=$1};1`,
	`{print; print ""}`,
	`{print($1, $2)}`,
	`{print (NR % 2 ? "odd" : "even")}`,
	`BEGIN{FS=","; OFS="\t"} {$1=$1; print}`,
	`BEGIN { FS = ":" } { print $1 }`,
	`BEGIN{RS=""; FS="\n"} {print $1}`,
	`{ for (i=2; i<=NF; i++) printf "%s ", $i; print "" }`,
	`{ for (i = NF; i > 0; i--) printf("%s%s", $i, i > 1 ? OFS : ORS) }`,
	`{ n = split($0, a, "/"); print a[n] }`,
	`{sub(/^[ \t]+/, ""); print}`,
	`{gsub(/^[[:space:]]+|[[:space:]]+$/, "")}1`,
	`{gsub("\"", "", $2); print $2}`,
	`{gsub(/"/, ""); print $4}`,
	`{gsub(/[()]/,""); print $2}`,

	// patterns
	`/error/`,
	`!/^#/`,
	`/error/ {print}`,
	`/^$/{next} {print}`,
	`/start/,/end/`,
	`/^## /{f=0} /^## Usage/{f=1} f`,
	`NR==1`,
	`NR > 1 {print}`,
	`NR>=10 && NR<=20`,
	`NR==10,NR==20`,
	`NR%2==0`,
	`NF`,
	`NF > 3`,
	`1`,
	`$3 > 100`,
	`$3 > 100 {print $1, $3}`,
	`$1 == "main" || $2 ~ /^v[0-9]+/`,
	`$2 !~ /test/ && length($0) > 80`,
	`length > 80`,
	`length($0) > max { max = length($0); line = $0 } END { print max, line }`,
	`!seen[$0]++`,
	`!seen[$1,$2]++`,
	`!($0 in seen) { seen[$0]; print }`,
	`NR==FNR{a[$1]; next} $1 in a`,
	`NR==FNR{a[$1]=$2;next} ($1 in a){print $0, a[$1]}`,
	`FNR==NR { seen[$0] = 1; next } !($0 in seen)`,
	`$0 ~ "^" pat {print; exit}`,
	`/foo\/bar/{print FNR}`,
	`/rm -rf/ {print}`,
	`/system\(|getline|print > / {print FNR ": " $0}`,
	`{getline; print}`,
	`NR%2 {getline next_one; print $0, next_one}`,
	`{while (getline) n++} END {print n}`,
	`BEGIN {while (getline > 0) n++; print n}`,
	`{if ((getline line) > 0) print line}`,
	`BEGIN {PROCINFO["sorted_in"] = "@ind_str_asc"} {a[$1]++} END {for (k in a) print k, a[k]}`,
	`NR==5{print; exit}`,
	`$5 ~ /[0-9]+M$/`,
	`tolower($0) ~ /warning/`,
	`a != $1 { print; a = $1 }`,
	`prev && $1 - prev > 10 { print NR } { prev = $1 }`,
	`/^func /{name=$2; sub(/\(.*/, "", name); print name}`,

	// sums and counts
	`{s+=$1} END {print s}`,
	`{sum += $1} END {print sum}`,
	`{s+=$1} END {print s/NR}`,
	`{ s += $1; n++ } END { if (n > 0) print s / n; else print "none" }`,
	`{s+=$5} END{printf "%.2f MB\n", s/1024/1024}`,
	`END {print NR}`,
	`END{print $0}`,
	`{c[$1]++} END {for (k in c) print c[k], k}`,
	`{ count[$1]++ } END { for (w in count) printf "%-20s %d\n", w, count[w] }`,
	`BEGIN{max=0} {if ($1>max) max=$1} END{print max}`,
	`NR==1{m=$1} $1<m{m=$1} END{print m}`,
	`{a[NR]=$0} END{for(i=NR;i>0;i--) print a[i]}`,
	`{ a[NR] = $1 } END { n = asort(a); print (n % 2) ? a[(n + 1) / 2] : (a[n / 2] + a[n / 2 + 1]) / 2 }`,
	`{w += NF; c += length + 1} END {print NR, w, c}`,
	`{x /= 2; a[1] /= 3; $1 /= 1024; print x}`,
	`{x = $2 / $3; y = x ^ 2; print x, y ** .5}`,
	`{t[$1] = t[$1] (t[$1] ? "," : "") $2} END {for (k in t) print k ": " t[k]}`,
	`{s = s (s ? "," : "") $1} END {print s}`,
	`{s = s (NR > 1 ? ", " : "") $0} END {print s}`,

	// printf and functions
	`{printf "%s\n", $1}`,
	`{printf("%-10s|%5d\n", $1, $2)}`,
	`{printf "%s%s", sep, $1; sep=", "} END {print ""}`,
	`BEGIN{printf "%c", 65}`,
	`BEGIN {print strftime("%Y-%m-%d", 0)}`,
	`BEGIN{srand(); print int(rand()*100)}`,
	`BEGIN { while (i++ < 3) print i }`,
	`BEGIN{for(i=1;i<=10;i++) print i}`,
	`BEGIN{for(;;) {if (++i > 5) break; print i}}`,
	`BEGIN{do { print i++ } while (i < 3)}`,
	`function max(a, b) { return a > b ? a : b } { print max($1, $2) }`,
	"function f(x) {\n\treturn x * 2\n}\n{ print f($1) }",
	`{ if (match($0, /[0-9]+/)) print substr($0, RSTART, RLENGTH) }`,
	`{ if (match($0, /v([0-9]+)\.([0-9]+)/, m)) print m[1] "." m[2] }`,
	`{print toupper(substr($0,1,1)) substr($0,2)}`,
	`{ print gensub(/(a)(b)/, "\\2\\1", "g") }`,
	`{ print length($1), index($0, "x"), substr($0, 1, 10) }`,
	`{ $3 = sprintf("%05.2f", $3) } 1`,
	`BEGIN{print index("a|b", "|"), "a>b", "a # b"}`,
	`{delete a[$1]; delete b}`,
	`{ switch ($1) { case "a": print 1; break; default: print 2 } }`,
	`{ print; fflush() }`,

	// more lines, comments
	"# counts\n{ n[$1]++ }\n\nEND {\n\tfor (k in n)\n\t\tprint k, n[k]\n}\n",
	"{ if ($1 > 3)\n\tprint $1\nelse if ($1 == 2)\n\tprint \"two\"\nelse\n\tprint \"few\"\n}",
	"{ print $1, # the name\n\t$2 }",
	"$1 == \"a\" &&\n$2 == \"b\" ||\n/c/ { print }",
	"{ x = $1 \\\n\t+ $2; print x }",
	"BEGIN { x[1] = 1; if (1 in x) print \"in\" }",
	"BEGIN{print -1 \" \" -1; print 1e3, .5, 1.5E-2}",
	"{ print (a > b), (c >= d), (e || f) }",
	"# don't say \"system\" or print > f\n{ print \"ü\", \"日本語\" }",
}

// awkRefusing are programs that do more, or that may do more in some awk.
var awkRefusing = []refused{
	// a command
	{starts, `BEGIN{system("id")}`},
	{starts, `BEGIN{system ("id")}`},
	{starts, "BEGIN{system\\\n(\"id\")}"},
	{starts, `{system($0)}`},
	{starts, `END { if (system("id") == 0) print "ok" }`},
	{starts, `BEGIN { while (("ls" | getline x) > 0) print x }`},
	{starts, `BEGIN{"id" | getline; print}`},
	{starts, `BEGIN{"id"|getline x}`},
	{starts, `BEGIN { cmd = "date"; cmd | getline d; close(cmd) }`},
	{starts, `{print | "sort"}`},
	{starts, `{print|"sh"}`},
	{starts, `{print $1 | "sort -u"}`},
	{starts, `{printf "%s\n", $1 | "sh"}`},
	{starts, `{print $1, $2 | ("sh" " -c id")}`},
	{starts, `BEGIN{print "id" |& "sh"}`},
	{starts, `BEGIN{"sh" |& getline x}`},
	{starts, "BEGIN{print \"id\" |\n\"sh\"}"},
	{starts, "BEGIN{print \"id\" \\\n| \"sh\"}"},
	{starts, `BEGIN{x = "sh"; close(x); print "id" | x; close(x)}`},
	{starts, `/a/ {print} /"/ {system("id")} /"/`},
	{starts, `BEGIN{a = 1; b = a / 2; system("id") / 3}`},
	{starts, `BEGIN { print a / b; "id" | getline c; print d / e }`},
	{starts, `function system2(x) { return x } BEGIN{system("id")}`},
	{starts, `function system(x) { print x } BEGIN{system("id")}`},
	{starts, `BEGIN{x = "\\"; system("id"); y = "\\"}`},
	{starts, `BEGIN{x = "\""; system("id"); y = "\""}`},
	{starts, "# a comment\nBEGIN{system(\"id\")}"},
	{starts, `BEGIN{x="#"; system("id")}`},
	{starts, `/#/ {system("id")}`},
	{starts, `BEGIN{print length system("id")}`},
	{starts, `BEGIN { print 1; x = 1 || system("id") }`},

	// a file is written
	{writes, `{print > "f"}`},
	{writes, `{print>"f"}`},
	{writes, `{print >"/dev/stderr"}`},
	{writes, `{print >> "f"}`},
	{writes, `{print $1 > $2}`},
	{writes, `{print > $1".txt"}`},
	{writes, `{print a, b > "f"}`},
	{writes, `{print(1)>"f"}`},
	{writes, `{print (1)(2) > "f"}`},
	{writes, `{print(1,2) > "f"}`},
	{writes, `{printf "%s", $1 > "f"}`},
	{writes, `{printf("%s", $1) >> "f"}`},
	{writes, `{printf $0 > expr}`},
	{writes, `{print a[1] > "f"}`},
	{writes, `{print a[1 > "f"]}`},
	{writes, `{print a >= "f"}`},
	{writes, `{print a ? b : c > "f"}`},
	{writes, `{print (a > b) > "f"}`},
	{writes, "{print \\\n> \"f\"}"},
	{writes, "{print a,\nb > \"f\"}"},
	{writes, "{print a &&\nb > \"f\"}"},
	{writes, `{if (1) print > "f"; else print}`},
	{writes, `{if (1) print; else print > "f"}`},
	{writes, `NR==FNR{print > "f"}`},
	{writes, `{print "a > b" > "f"}`},
	{writes, `{print "\"" > "f"}`},
	{writes, `{print /a/ > "f"}`},
	{writes, `{print a / b > c / d}`},
	{writes, `{for (;;) print > "f"}`},
	{writes, "{print a ? b :\nc > \"f\"}"},
	{writes, "{print a +\nb > \"f\"}"},
	{unclear, "{print 1 in\narr > \"f\"}"}, // to busybox the line goes on
	{unclear, `{print a || "id"}`},         // to busybox a pipe, and one more
	{unclear, `{print a, b || "id"}`},
	{unclear, `{print {a} > "f"}`},
	{unclear, `{print print > "f"}`},

	// another file is read
	{reads, `BEGIN{getline < "f"; print}`},
	{reads, `BEGIN{getline x < "f"; print x}`},
	{reads, `BEGIN{while ((getline line < "/etc/passwd") > 0) print line}`},
	{reads, `{getline a["x"] < FILENAME}`},
	{reads, `{getline x<"f"}`},
	{reads, `{while ((getline x < f) > 0) n++}`},
	{writes, `{print getline > 0}`},
	{operands, `BEGIN{ARGV[1]="/etc/passwd"; ARGC=2} {print}`},
	{operands, `BEGIN{ARGC=2}`},
	{operands, `BEGIN{print ARGIND}`},
	{operands, `function f(a) { a[1] = "f" } BEGIN { f(ARGV) }`},

	// the environment, names that are worked out
	{environment, `BEGIN{print ENVIRON["HOME"]}`},
	{environment, `BEGIN{for (k in ENVIRON) print k}`},
	{environment, `BEGIN{PROCINFO["sorted_in"]="@ind_str_asc"; print PROCINFO["pid"]}`},
	{environment, `BEGIN{PROCINFO["sorted_in"]=f}`},
	{indirect, `BEGIN{SYMTAB["x"]=1}`},
	{indirect, `BEGIN{for (f in FUNCTAB) print f}`},
	{unclear, `BEGIN{f="system"; @f("id")}`},
	{unclear, "@include \"f\"\nBEGIN{}"},
	{unclear, `@load "filefuncs"; BEGIN{chdir("/")}`},
	{unclear, "@namespace \"a\"\nBEGIN{}"},
	{unclear, `BEGIN{awk::print("id")}`},
	{unclear, `BEGIN{a::b = 1}`},
	{unclear, `BEGIN{TEXTDOMAIN="x"; print _"a"}`},
	{unclear, `BEGIN{print _"a"}`},
	{unclear, `BEGIN{BINMODE=3}`},
	{calls, `BEGIN{extension("f.so", "dl")}`},
	{calls, `BEGIN{extension ("f.so", "dl")}`},
	{calls, `BEGIN{bindtextdomain("/x")}`},
	{calls, `BEGIN{readfile("f")}`},
	{calls, `BEGIN{f("id")}`},
	{calls, `BEGIN{chdir("/"); stat("f", a)}`},

	// what is text to one awk and program to another
	{unclear, "# \\\nBEGIN{x = 1}"},
	{unclear, "BEGIN{x = \"a\\\nb\"}"},
	{unclear, "BEGIN{x = \"a\nb\"}"},
	{unclear, `BEGIN{x = "a}`},
	{unclear, `/a`},
	{unclear, `/[/]/`},
	{unclear, `/[]/]/`},
	{unclear, `/[\]/]/`},
	{unclear, `/[[:alpha:][]/`},
	{unclear, "/a\nb/"},
	{unclear, "/a\\\nb/"},
	{unclear, `if (x) /"/`},
	{unclear, `BEGIN{if (x) /"/ ; y = "}"}`},
	{unclear, `BEGIN{while (x) / 2 /}`},
	{unclear, `BEGIN{x = length / 2 / 3}`},
	{unclear, `BEGIN{x = y + /"/ }`},
	{unclear, `BEGIN{x++ / 2 / 3}`},
	{unclear, `BEGIN{2 /= 2}`},
	{unclear, `BEGIN{(x) /= 2; y = "/"}`},
	{unclear, `{x = $/a/}`},
	{unclear, `BEGIN{x = 0x1F}`},
	{unclear, `BEGIN{x = 1.2.3}`},
	{unclear, `BEGIN{x = 1_000}`},
	{unclear, `BEGIN{x = .}`},
	{unclear, "BEGIN{x = (1\n+ 2)}"},
	{unclear, "BEGIN{if\n(x) y = 1}"},
	{unclear, `BEGIN{x = "a" }}`},
	{unclear, `BEGIN{x = [1)}`},
	{unclear, `BEGIN{x = y & z}`},
	{unclear, `BEGIN{x = 'a'}`},
	{unclear, "BEGIN{x = `id`}"},
	{unclear, `BEGIN{é = 1}`},
	{unclear, `BEGIN{index}`},
	{unclear, `BEGIN{print (1; 2)}`},
	{unclear, `/é[x]/`}, // half of a character where the locale is GBK
}

func TestAwkPassing(t *testing.T) { checkPassing(t, Awk, awkPassing) }

func TestAwkRefused(t *testing.T) { checkRefused(t, Awk, awkRefusing) }

func TestAwkLimits(t *testing.T) {
	checkLimits(t, Awk, "#", "(", "1", ")")
	checkLimits(t, Awk, "#", "{", "x", "}")
}

// A name of awk that refuses does so wherever it stands outside of texts, and
// never as a part of a longer name.
func TestAwkNames(t *testing.T) {
	for name, reason := range awkRefused {
		for _, frame := range []string{`BEGIN{NAME}`, `BEGIN{x = NAME["a"]}`, `function f(NAME) {}`, `{print NAME}`, `{print a / NAME / b}`} {
			p := strings.ReplaceAll(frame, "NAME", name)
			if awkPlain().MatchString(p[strings.Index(p, name):]) {
				reason = "" // it is but the next line
			}
			if got := Awk(p); got != reason {
				t.Errorf("%q: got %q, want %q", p, got, reason)
			}
			reason = awkRefused[name]
		}
		for _, frame := range []string{`{print "NAME"}`, `/NAME/`, `{x_NAME = 1}`, `{NAMEx = 1}`, `1 # NAME`} {
			p := strings.ReplaceAll(frame, "NAME", name)
			if got := Awk(p); got != "" {
				t.Errorf("%q: got %q, want it to pass", p, got)
			}
		}
	}
}

func FuzzAwk(f *testing.F) {
	addSeeds(f, awkPassing, awkRefusing)
	f.Fuzz(func(t *testing.T, text string) { checkAny(t, Awk, text) })
}
