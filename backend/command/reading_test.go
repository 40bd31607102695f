package command

import (
	"slices"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/programs"
)

// onlyReading are the effects that may pass in what is called reading. All others
// ask always, or let a value through that is written, run or sent. Those of requests
// ask unless the entry covers them.
var onlyReading = words("name word only local url text path plain mark bsd shown awk sed jq python yq awkfile sedfile owner pull inside folder moves file command fed run tool venv sink repo package settings environment var address anybody method header format agent body follows resolve sends graphql database statement")

// beyond says which option or operand of a profile can do more than read, or one of
// these effects, without being asked about; "" for none.
func (p *profile) beyond(more map[string]bool) string {
	asks := func(e effect) bool {
		rule := effects()[e]
		return e == effectNone || onlyReading()[string(e)] || more[string(e)] || rule.reason != approval.ReasonNone && rule.check == nil
	}
	for name, o := range p.options {
		if !asks(o.effect) {
			return name
		}
	}
	for _, e := range append(slices.Clone(p.operands), p.always, p.bare, p.last) {
		if !asks(e) {
			return string(e)
		}
	}
	return ""
}

// TestReadingOnlyReads: of what a profile calls reading no option and no operand
// passes that does more.
func TestReadingOnlyReads(t *testing.T) {
	for name, p := range profiles().programs {
		for _, words := range p.reading {
			if words == onlyTells || words == onlyLists {
				p.closed(t, name, words)
				continue
			}
			at, value := p, false // whether the word before takes this one
			for word := range strings.SplitSeq(strings.TrimSuffix(words, "/."), "/") {
				switch {
				case word == "":
				case word == "*" && value:
				case strings.HasPrefix(word, "-") && at.subs[word] == nil:
					word, _, _ = strings.Cut(word, "=")
					if at.is["single"] {
						word = "-" + strings.TrimLeft(word, "-")
					}
					options := []string{word}
					if !strings.HasPrefix(word, "--") && !at.is["single"] {
						options = nil
						for _, letter := range word[1:] {
							options = append(options, "-"+string(letter))
						}
					}
					for _, option := range options {
						o, known := at.options[option]
						value = o.takes != takesNone
						if !known || o.effect != effectNone && !onlyReading()[string(o.effect)] {
							t.Errorf("%s: %s in %s is no option that only reads", name, option, words)
						}
					}
				case at.subs[word] != nil:
					at = at.subs[word]
				case at == p && at.subs != nil || !at.any:
					t.Fatalf("%s has no subcommand %s", name, words)
				}
			}
			more := at.beyond(nil)
			if len(at.derives) > 0 || at.is["rest"] {
				more = "names of its own"
			}
			if more != "" && !strings.HasSuffix(words, "/.") {
				t.Errorf("%s %s can do more than read: %s", name, words, more)
			}
		}
	}
	tools := ReadingTools()
	for _, name := range strings.Fields("cat sed find xargs awk nl sleep readlink seq od xxd timeout time nice env column rev tac paste comm git gh docker kubectl") {
		if !slices.ContainsFunc(tools, func(t Tool) bool { return t.Name == name }) {
			t.Errorf("%s is missing", name)
		}
	}
	for _, tool := range tools {
		if kind := programs.KindOf(tool.Name); (kind == "shell" || kind == "interpreter") && !tool.Exact && !tool.Tells() {
			t.Errorf("%s runs any code", tool.Name)
		}
	}
}

// closed tests that what a mark of a profile stands for does nothing but tell or list.
func (p *profile) closed(t *testing.T, name, mark string) {
	if mark == onlyLists && (p.subs["get"].beyond(nil) != "" || p.subs["describe"].beyond(nil) != "") {
		t.Errorf("%s can do more than list", name)
	}
	if mark == onlyTells && len(p.lists["alone"]) == 0 {
		t.Errorf("%s has no flag with which it only tells", name)
	}
	for _, flag := range p.lists["alone"] {
		if o := p.options[flag]; o.takes != takesNone || o.effect != effectNone {
			t.Errorf("%s %s does more than tell", name, flag)
		}
	}
	if pattern := p.tool(name, mark).ArgPattern; len(pattern) > 4096 { // what a policy file holds
		t.Errorf("the pattern of %s for %s has %d bytes", mark, name, len(pattern))
	}
}

// TestClosedPatterns: what the marks of profiles let through is a closed list.
func TestClosedPatterns(t *testing.T) {
	for _, row := range []struct {
		command string
		want    bool
	}{
		{"cargo --version", true},
		{"cargo -V", true},
		{"cargo --version build", false},
		{"cargo --version=x", false},
		{"cargo --versio", false},
		{"cargo", false},
		{"cargo build", false},
		{"cargo +evil --version", false},
		{"java -version", true},
		{"java --version", true},
		{"java ---version", false},
		{"java -version x", false},
		{"gcc --version", true},
		{"gcc -dumpversion", true},
		{"gcc -v", true},
		{"gcc -v a.c", false},
		{"ruby -v", true},
		{"ruby -v x.rb", false},
		{"php -v", true},
		{"php -i", false},
		{"perl -v", true},
		{"perl -V", false},
		{"jest --version", false},
		{"pytest --version", false},
		{"mvn -v", false},
		{"pnpm --version", false},
		{"kubectl get pods", true},
		{"kubectl get po -A", true},
		{"kubectl -n relay get events --sort-by=.lastTimestamp", true},
		{"kubectl get pods -n x --no-headers -o wide", true},
		{"kubectl get pods -owide", true},
		{"kubectl get deploy/api -o name", true},
		{"kubectl get pods,svc api-0", true},
		{"kubectl get svc,ing -o json", true},
		{"kubectl get svc -o jsonpath={.items[*].spec.clusterIP}", true},
		{"kubectl describe node a", true},
		{"kubectl get pods -o json", false},
		{"kubectl get pods -ojson", false},
		{"kubectl get pods --output=yaml", false},
		{"kubectl get pods,svc -o yaml", false},
		{"kubectl get svc -o yaml pods", true}, // a service of that name
		{"kubectl get svc pods/x -o yaml", false},
		{"kubectl get secret", false},
		{"kubectl get secrets -o yaml", false},
		{"kubectl get pods,secrets", false},
		{"kubectl get pods secrets/x -o yaml", false},
		{"kubectl get -n svc secrets -o yaml", false},
		{"kubectl get --sort-by svc cm -o yaml", false},
		{"kubectl get --namespace= svc -o yaml", true},
		{"kubectl get cm -o yaml", false},
		{"kubectl describe pod x", false},
		{"kubectl describe cm x", false},
		{"kubectl get all -o yaml", false},
		{"kubectl get svc -o jsonpath-file=x", false},
		{"kubectl get svc -o go-template-file=x", false},
		{"kubectl get -f x", false},
		{"kubectl delete pods x", false},
		{"kubectl delete get pods", false},
		{"kubectl -n get delete pods", false},
	} {
		if got := OnlyReads(strings.Fields(row.command)); got != row.want {
			t.Errorf("%s: %v", row.command, got)
		}
	}
}
