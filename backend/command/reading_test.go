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
var onlyReading = words("name word only local url text path plain mark bsd shown awk sed jq python yq awkfile sedfile owner pull inside folder moves file command fed run tool venv sink repo package settings environment var address anybody method header format agent body follows resolve sends")

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
			at, value := p, false // whether the word before takes this one
			for word := range strings.SplitSeq(strings.TrimSuffix(words, "/."), "/") {
				switch {
				case word == "":
				case word == "*" && value:
				case strings.HasPrefix(word, "-") && at.subs[word] == nil:
					word, _, _ = strings.Cut(word, "=")
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
		if kind := programs.KindOf(tool.Name); (kind == "shell" || kind == "interpreter") && !tool.Exact {
			t.Errorf("%s runs any code", tool.Name)
		}
	}
}
