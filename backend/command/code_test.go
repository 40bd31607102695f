package command_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/approvaltest"
)

// TestThisCode: an entry can cover program text that the request holds whole, and no
// other.
func TestThisCode(t *testing.T) {
	sum := func(text string) string {
		hash := sha256.Sum256([]byte(text))
		return hex.EncodeToString(hash[:])
	}
	const never = "never"
	for text, want := range map[string]string{
		"python3.12 -c 'run(1)'":                                 "",
		"python3.12 -c 'run(1)' a main.go":                       "",
		"python3.12 -I -c 'run(1)'":                              "",
		"python3.12 - <<'E'\nrun(1)\nE":                          sum("run(1)\n"),
		"python3.12 - a b <<'E'\nrun(1)\nE":                      sum("run(1)\n"),
		"python3.12 <<< 'run(1)'":                                sum("run(1)\n"),
		"python3.12 -u - <<E\nrun(1)\nE":                         sum("run(1)\n"),
		"cat main.go | python3.12 -":                             never,
		"python3.12 - < main.go":                                 never,
		"python3.12 - <<E <<F\na\nE\nb\nF":                       never,
		"python3.12 -c \"$x\"":                                   never,
		"python3.12 - \"$x\" <<'E'\na\nE":                        never,
		"python3.12 -i -c x":                                     never,
		"python3.12 -m http.server":                              never,
		"python3.12 -X presite=evil -c x":                        never,
		"cd /tmp && python3.12 -c x":                             never,
		"cd /tmp && python3.12 - <<'E'\na\nE":                    never,
		"sh -c x":                                                never,
		"python3.12 -c x .env":                                   never,
		"python3.12 -c 'run(1)' > /dev/null":                     "",
		"sqlite3 a.db 'select 1'":                                "",
		"sqlite3 -readonly a.db 'select 1'":                      "",
		"sqlite3 a.db":                                           never,
		"sqlite3 a.db '.shell sh'":                               never,
		"sqlite3 a.db <<< 'select 1'":                            sum("select 1\n"),
		"sqlite3 a.db <<E\n.mode csv\na\nE":                      sum(".mode csv\na\n"),
		"sqlite3 a.db <<E\na;\n  .shell a\nE":                    never,
		"sqlite3 a.db < main.go":                                 never,
		"cat main.go | sqlite3 a.db":                             never,
		"duckdb -c 'copy t to x'":                                "",
		"duckdb a.db <<< 'select 1'":                             sum("select 1\n"),
		"duckdb a.db <<< '.shell sh'":                            never,
		"uv run python3.12 - <<< 'run(1)'":                       sum("run(1)\n"),
		"uv run sqlite3 a.db <<< 'select 1'":                     sum("select 1\n"),
		"env uv run python3.12 - <<< 'run(1)'":                   sum("run(1)\n"),
		"uv run python3.12 -":                                    never,
		"cat main.go | uv run python3.12 -":                      never,
		"uv run python3.12 - < main.go":                          never,
		"uv run sh -c 'cat main.go | python3.12 -' <<< 'run(1)'": never,
		"ls | xargs python3.12 - <<< 'run(1)'":                   never,
		"cd /tmp && sqlite3 a.db 'select 1'":                     never,
	} {
		req := bash(text)
		plan := invented().Analyze(t.Context(), req, approvaltest.Named(req.Cwd))
		seg := plan.Segments[len(plan.Segments)-1]
		got := never
		for i, f := range seg.Findings {
			switch {
			case f.Allowed != approval.AllowThisCode, i > 0 && got != f.Value:
				got = never
			case i == 0:
				got = f.Value
			}
			if got == never {
				break
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q: %+v", text, got, want, seg.Findings)
		}
	}
}

// TestUnknownEffects: an entry for exactly these words can cover what nobody knows of a
// program, where the words are all that it gets.
func TestUnknownEffects(t *testing.T) {
	for text, want := range map[string]bool{
		"git frobnicate x":                             true,
		"git status --frobnicate":                      true,
		"cat main.go && git frobnicate x | wc -l":      true,
		"git frobnicate x 2>&1 | head -3":              true,
		"git frobnicate x < /dev/null":                 true,
		"(git frobnicate x)":                           true,
		"timeout 5 git frobnicate x":                   false, // a wrapper may give it an input
		"echo x | git frobnicate":                      false,
		"echo x | cat | git frobnicate":                false,
		"echo x | timeout 5 git frobnicate":            false,
		"echo x | { cat main.go; git frobnicate; }":    false,
		"git frobnicate <<< x":                         false,
		"git frobnicate <<'E'\nx\nE":                   false,
		"git frobnicate < main.go":                     false,
		"timeout 5 git frobnicate < main.go":           false,
		"{ git frobnicate; } < main.go":                false,
		"while git frobnicate; do x; done <<'E'\na\nE": false,
		"git frobnicate \"$x\"":                        false,
		"git frobnicate $(cat main.go)":                false,
		"git frobnicate *.go":                          true,
		"cd /tmp && git frobnicate x":                  false,
		"env --frobnicate git status":                  false,
		"timeout --frobnicate 5 rm x":                  false,
		"xargs --frobnicate rm":                        false,
		"sudo --frobnicate x":                          false,
		"sudo git frobnicate x":                        true, // sudo asks by itself
		"python3.12 --frobnicate x":                    false,
		"sh --frobnicate x":                            false,
	} {
		req := bash(text)
		plan := invented().Analyze(t.Context(), req, approvaltest.Named(req.Cwd))
		got := false
		for _, seg := range plan.Segments {
			for _, f := range seg.Findings {
				got = got || f.Allowed == approval.AllowUnknown
			}
		}
		if got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
