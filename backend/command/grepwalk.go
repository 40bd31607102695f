package command

import (
	"slices"
	"strings"
	"sync"
)

func grepWalk(r walker) *walk {
	if !asReader("grep", r.seg.Argv).walks {
		return nil
	}
	said := r.exactly("grep")
	if said == nil {
		return everyWalk(r)
	}
	skip := 1
	if said.has["given"] {
		skip = 0
	} else if looksForSource(said) {
		return nil
	}
	w := &walk{roots: said.operandsBehind(skip), here: true, hidden: true, links: said.gave("-R", "-S", "-d", "--directories", "--dereference-recursive"), without: "--exclude='%s'"}
	for _, pattern := range said.given("--exclude-dir") {
		w.not = append(w.not, leaving{pattern: pattern, folders: true})
	}
	switch include := said.gave("--include"); {
	case include && said.gave("--exclude"): // the place of each counts
	case include:
		w.only = said.patterns("--include")
	default:
		for _, pattern := range said.given("--exclude") {
			w.not = append(w.not, leaving{pattern: pattern, files: true})
		}
	}
	return w
}

// looksForSource reports whether grep looks for the name of a source file alone: it
// tells the lines with that name then, and nothing else of a file.
func looksForSource(read *arguments) bool {
	for _, s := range read.said {
		if s.option != "" && !slices.Contains(quietOptions, s.option) {
			return false
		}
	}
	text := texts(read.said)
	return len(text) > 0 && !slices.ContainsFunc(read.said, func(s said) bool { return s.value.open != nil }) && sourceName().MatchString(text[0])
}

// quietOptions are those with which grep tells no more than the lines with what it
// looks for.
var quietOptions = []string{"-r", "-R", "-n", "-H", "-h", "-i", "-l", "-c", "-w", "-s", "-E", "-F", "-I", "--include", "--exclude", "--exclude-dir", "--color", "--"}

// sourceName is long enough to stand in no other line, though its dot is any letter.
var sourceName = expression(`^"?[A-Za-z][\w-]{2,}\\?\.(toml|json|go|rs|py|rb|ts|tsx|js|jsx|c|h|cc|cpp|java|kt|md|mod|sum|css|html|vue|yaml|yml)"?$`)

// agWalk: ag leaves hidden files out, unless an option says more than how it looks
// and prints.
func agWalk(r walker) *walk {
	w := everyWalk(r)
	w.hidden = slices.ContainsFunc(r.seg.Argv[1:], func(word string) bool {
		return strings.HasPrefix(word, "-") && strings.Trim(word, "-ilnwQsSvcFm0123456789") != ""
	})
	w.links, w.ignores = w.hidden, !w.hidden
	return w
}

func rgWalk(r walker) *walk {
	read := r.read
	if read == nil {
		return everyWalk(r)
	}
	if read.gave("--files") && r.passesOn == 0 || read.gave("--version", "-V", "--type-list") {
		return nil // it lists them
	}
	skip := 1
	if read.has["given"] {
		skip = 0
	}
	w := &walk{roots: read.operandsBehind(skip), here: true, links: read.gave("-L", "--follow"), without: "-g '!%s'"}
	unrestricted, all := 0, false
	for _, s := range read.said {
		switch {
		case s.may([]string{"-u", "--unrestricted"}):
			unrestricted++
		case strings.HasPrefix(s.option, "--no-i") && s.option != "--no-ignore-messages", s.may([]string{"--ignore-file"}):
			all = true
		}
	}
	w.hidden, w.ignores = unrestricted > 1 || read.gave("--hidden", "-."), unrestricted == 0 && !all
	for _, s := range read.said {
		if !s.may([]string{"-g", "--glob", "--iglob"}) {
			continue
		}
		not, is := strings.CutPrefix(s.value.text, "!")
		switch {
		case s.value.open == nil && is:
			w.not = append(w.not, top(not, "/*", "/**", "/")...)
		default: // it takes back what was left out, also for being hidden
			w.only, w.not = append(w.only, lastPart(s.value.text)), nil
			w.hidden, w.ignores = true, false
		}
	}
	if len(w.only) > 0 && read.gave("-g", "--glob") && read.gave("--iglob") {
		w.not = nil // rg reads one kind after the other, whatever their places
	}
	for _, kind := range read.patterns("-t", "--type") {
		if globs := codeTypes()[kind]; globs != "" && !read.gave("--type-add") {
			w.only = append(w.only, strings.Fields(globs)...)
		} else {
			w.only = append(w.only, "*")
		}
	}
	return w
}

// lastPart is what a pattern of paths says of the name.
func lastPart(pattern string) string {
	if i := strings.LastIndexByte(pattern, '/'); i >= 0 && i < len(pattern)-1 && !strings.Contains(pattern[:i], "{") {
		return pattern[i+1:]
	}
	return pattern
}

// codeTypes are types of files that rg knows, with their names.
var codeTypes = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"go": "*.go", "rust": "*.rs", "py": "*.py *.pyi", "python": "*.py *.pyi", "js": "*.js *.jsx *.vue *.cjs *.mjs", "ts": "*.ts *.tsx *.cts *.mts",
		"c": "*.c *.h *.cats", "cpp": "*.cpp *.hpp *.cc *.hh *.cxx *.hxx *.c *.h *.inl *.tpp", "java": "*.java *.jsp *.jspx *.properties", "kotlin": "*.kt *.kts", "swift": "*.swift",
		"ruby": "*.rb *.rbw *.gemspec *.ru gemfile rakefile .irbrc", "php": "*.php *.php3 *.php4 *.php5 *.php7 *.php8 *.pht *.phtml", "cs": "*.cs", "css": "*.css *.scss", "html": "*.html *.htm *.ejs",
		"md": "*.md *.markdown *.mdown *.mdwn *.mdx *.mkd *.mkdn", "markdown": "*.md *.markdown *.mdown *.mdwn *.mdx *.mkd *.mkdn", "lua": "*.lua", "zig": "*.zig", "dart": "*.dart", "proto": "*.proto", "sql": "*.sql *.psql",
		"elixir": "*.ex *.exs *.eex *.heex *.leex *.livemd",
	}
})

// top is what leaves out a name, or what is in a folder of that name where the
// program runs, if the pattern ends so.
func top(pattern string, ends ...string) []leaving {
	for _, end := range ends {
		if name, is := strings.CutSuffix(pattern, end); is {
			name, anywhere := strings.CutPrefix(name, "**/")
			if !anywhere && strings.ContainsAny(name, "*?") {
				return nil // they stand for no / here
			}
			return []leaving{{pattern: name, folders: true, whole: !anywhere}}
		}
	}
	if strings.Contains(strings.TrimPrefix(pattern, "**/"), "/") {
		return nil
	}
	return leaves(strings.TrimPrefix(pattern, "**/"))
}
