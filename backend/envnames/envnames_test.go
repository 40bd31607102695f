package envnames

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var requestedTests = []struct {
	name string
	want Class
}{
	{"", Malformed},
	{"A B", Malformed},
	{"1A", Malformed},
	{"A-B", Malformed},
	{" FOO ", Malformed},
	{"A=B", Malformed},
	{"A\x00", Malformed},
	{"A\n", Malformed},
	{"É", Malformed},
	{"\u212aEY", Malformed}, // the Kelvin sign
	{"BASH_FUNC_x%%", Malformed},
	{"ProgramFiles(x86)", Malformed},

	{"LD_PRELOAD", Refused},
	{"ld_preload", Refused},
	{"Ld_Anything", Refused},
	{"LD_", Refused},
	{"LD", Refused},
	{"DYLD_INSERT_LIBRARIES", Refused},
	{"BASH_ENV", Refused},
	{"ENV", Refused},
	{"GIT_CONFIG_COUNT", Refused},
	{"npm_config_registry", Refused},
	{"NPM_CONFIG_MY_TOKEN", Refused}, // also *_TOKEN: the stricter counts
	{"CARGO_REGISTRIES_X_TOKEN", Refused},
	{"MallocStackLogging", Refused},
	{"LUA_INIT_5_4", Refused},
	{"CMAKE_C_COMPILER", Refused},
	{"CMAKE_Fortran_COMPILER", Refused},
	{"CMAKE__COMPILER", Refused},
	{"CARGO_TARGET_X86_64_LINKER", Refused},
	{"CARGO_TARGET_A_RUNNER", Refused},
	{"TF_VAR_x", Refused},
	{"DATABASE_URL", Refused},
	{"GIT_PAGER", Refused},
	{"PS4", Refused},

	{"PATH", Fixed},
	{"path", Fixed},
	{"Home", Fixed},
	{"SHELL", Fixed}, // OpenClaw refuses it too
	{"XDG_CONFIG_HOME", Fixed},
	{"SSH_AUTH_SOCK", Fixed},
	{"COUNTERSIGN", Fixed},
	{"COUNTERSIGN_RUN", Fixed},
	{"COUNTERSIGN_STATE_DIR", Fixed},
	{"OPENCLAW_SHELL", Fixed},

	{"http_proxy", Asks},
	{"GH_TOKEN", Asks},
	{"gh_token", Asks},
	{"MY_SECRETS_FILE", Asks},
	{"OPENAI_API_KEY", Asks},
	{"AWS_PROFILE", Asks},
	{"PIP_INDEX_URL", Asks},
	{"HELM_PLUGINS", Asks},
	{"LESSKEYIN", Asks}, // its file names a program: LESSOPEN
	{"LESSKEY_CONTENT", Asks},
	{"ZIP", Asks},  // zip takes options from it: -TT CMD
	{"GREP", Asks}, // zgrep and bzgrep start it
	{"EGREP", Asks},
	{"BAT_OPTS", Asks},
	{"KUBECTL_EXTERNAL_DIFF", Asks},
	{"NIX_LD", Asks},
	{"SSH_SK_PROVIDER", Asks},
	{"PYENV_VERSION", Asks},
	{"MAGICK_CODER_MODULE_PATH", Asks},

	{"TERM", Other}, // what passes of it hangs on the value
	{"LC_ALL", Other},
	{"FOO", Other},
	{"_", Other},
	{"TERMX", Other},
	{"XPATH", Other},
	{"CMAKE_COMPILER", Other}, // no text for the star and one _ short
	{"CARGO_TARGET_DIR", Other},
	{"GODEBUG", Other},
	{"COMPILER_PATH", Asks},
	{"JAVA_HOME", Asks},
	{"CHROME_BIN", Asks},
	{"PYTHONPYCACHEPREFIX", Asks},
	{"PYTHONUNBUFFERED", Other},
	{"CARGO_TERM_COLOR", Other},
	{"GOOS", Other},
	{"GIT_AUTHOR_NAME", Other},
	{"RUST_BACKTRACE", Other},
	{"NODE_ENV", Other},
}

func TestRequested(t *testing.T) {
	for _, c := range requestedTests {
		if got := Requested(c.name); got != c.want {
			t.Errorf("%q: class %d, want %d", c.name, got, c.want)
		}
	}
}

func TestStripInherited(t *testing.T) {
	for name, want := range map[string]bool{
		"LD_PRELOAD": true, "dyld_x": true, "BASH_ENV": true, "ENV": true, "BASH_FUNC_f%%": true,
		"BASH_FUNC_a/b%%": true, "SHELLOPTS": true, "PS4": true, "PROMPT_COMMAND": true, "IFS": true, "ZDOTDIR": true,
		"PATH": false, "NODE_OPTIONS": false, "EDITOR": false, "GOFLAGS": false, "LDFLAGS": false, "": false, "ENVX": false,
	} {
		if got := StripInherited(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}

// TestSteers: a question says what a variable steers, in a few words.
func TestSteers(t *testing.T) {
	for name, want := range map[string]string{
		"LD_PRELOAD": "loads code", "ld_preload": "loads code", "HTTPS_PROXY": "endpoint", "https_proxy": "endpoint", "DBUS_SESSION_BUS_ADDRESS": "endpoint", "FTP_PROXY": "endpoint",
		"GH_TOKEN": "credentials", "DB_PASSWORD": "credentials", "SSL_CERT_FILE": "trust", "PATH": "where programs and files are found",
		"DATABASE_URL": "endpoint and credentials", "CC": "a compiler, its options or where packages are", "FOO": "", "CI": "", "": "",
	} {
		if got := Steers(name); got != want {
			t.Errorf("%s steers %q, want %q", name, got, want)
		}
	}
	for _, name := range strings.Fields(`GIT_TEST_FSMONITOR GROFF_BIN_PATH MANROFFOPT LESS_IS_MORE MORE SYSTEM_WGETRC PYTHON AS FC PREFIX
		RPM_CONFIGDIR NMAPDIR CLOUDSDK_PYTHON GO_LINUX_ARM64_EXEC`) {
		if Steers(name) != "a program, code or the settings of a tool" || Requested(name) != Other {
			t.Errorf("%s steers %q", name, Steers(name))
		}
	}
	for _, l := range sections() {
		if l.steers == "" || len(l.steers) > 60 {
			t.Errorf("[%s] %q is no short phrase", l.section, l.steers)
		}
	}
}

func TestSecret(t *testing.T) {
	for name, want := range map[string]bool{
		"GH_TOKEN": true, "token": true, "AWS_SECRET_ACCESS_KEY": true, "MY_SECRETS": true, "OPENAI_API_KEY": true,
		"DB_PASSWORD": true, "MYSQL_PASSWORDS": true, "PGPASSWORD": true, "PGPASSFILE": false, "DATABASE_URL": true,
		"MYSQL_PWD": true, "SSHPASS": true, "sshpass": true, "GITHUB_PAT": true, "STRIPE_KEY": true, "OPENAI_KEY": true, "RAILS_MASTER_KEY": true, "SECRET_KEY_BASE": true, "SENTRY_DSN": true,
		"GOOGLE_APPLICATION_CREDENTIALS": true, "PROD_DATABASE_URL": true, "POSTGRES_URL": true, "AZURE_STORAGE_CONNECTION_STRING": true, "NPM_AUTH": true, "SLACK_WEBHOOK_URL": true, "AWS_ACCESS_KEY_ID": true,
		"CI_JOB_JWT": true, "SESSION_COOKIE": true, "WALLET_MNEMONIC": true, "RESTIC_PASS": true, "NPM_AUTHTOKEN": true, "GPG_PASS_FILE": true,
		"PWD": false, "OLDPWD": false, "PATH": false, "KEYBOARD": false, "MONKEY": false, "TOKENIZERS_PARALLELISM": false, "GIT_ASKPASS": false, "SSH_ASKPASS": false, "KEYTIMEOUT": false, "LESSKEY": false, "API_URL": false,
		"HTTP_PROXY": false, "SSL_CERT_FILE": false, "TOKENS": false, "FOO": false, "": false, "SSH_AUTH_SOCK": false,
	} {
		if got := Secret(name); got != want {
			t.Errorf("%q: %v, want %v", name, got, want)
		}
	}
}

// specification cuts the lists out of testdata/environment.md: names and
// patterns of the sections 1 to 3, in order.
func specification(t *testing.T) (lists [3][]string) {
	t.Helper()
	data, err := os.ReadFile("testdata/environment.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(data), "Traps that look")
	quoted, aside := regexp.MustCompile("`([^`]*)`"), regexp.MustCompile(`\([^)]*\)`)
	for i, section := range regexp.MustCompile(`(?m)^\*\*\d `).Split(text, -1)[1:] {
		for _, m := range quoted.FindAllStringSubmatch(section, -1) {
			lists[i] = append(lists[i], strings.Fields(aside.ReplaceAllString(m[1], ""))...)
		}
	}
	return lists
}

// TestSpecification holds every name and pattern of testdata/environment.md
// against the list, in three spellings; a star is tried with text and without.
func TestSpecification(t *testing.T) {
	want := [3]Class{Refused, Fixed, Asks}
	least := [3]int{190, 10, 35}
	for i, names := range specification(t) {
		if len(names) < least[i] {
			t.Errorf("list %d: only %d names were read", i+1, len(names))
		}
		for _, name := range names {
			for _, text := range []string{"", "X", "x_1"} {
				full := strings.ReplaceAll(name, "*", text)
				for _, spelt := range []string{full, strings.ToLower(full), strings.ToUpper(full)} {
					if got := Requested(spelt); got != want[i] {
						t.Errorf("%s of list %d: %s is of class %d, want %d", name, i+1, spelt, got, want[i])
					}
				}
			}
		}
	}
}

// policyVectors are the names that OpenClaw refuses.
type policyVectors struct {
	BlockedEverywhereKeys, BlockedOverrideOnlyKeys []string
	BlockedOverridePrefixes, BlockedPrefixes       []string
	AllowedInheritedOverrideOnlyKeys               []string
}

// keys returns all of them, and two names for each prefix.
func (p policyVectors) keys() []string {
	keys := slices.Concat(p.BlockedEverywhereKeys, p.BlockedOverrideOnlyKeys)
	for _, prefix := range slices.Concat(p.BlockedOverridePrefixes, p.BlockedPrefixes) {
		keys = append(keys, prefix, prefix+"X")
	}
	return keys
}

func readPolicy(t *testing.T) (p policyVectors) {
	t.Helper()
	data, err := os.ReadFile("testdata/env-policy.json")
	if err == nil {
		err = json.Unmarshal(data, &p)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(p.keys()) != 280 || len(p.AllowedInheritedOverrideOnlyKeys) != 42 {
		t.Fatalf("%d keys, %d inherited", len(p.keys()), len(p.AllowedInheritedOverrideOnlyKeys))
	}
	return p
}

// TestInheritedVectors compares with what OpenClaw takes out of the inherited
// environment: nearly every name that it refuses. Ours takes out loaders and
// start-up names of shells, and leaves the rest, because nobody hostile set it
// and builds need it. These are all that both take out, and the one name that
// only ours does.
func TestInheritedVectors(t *testing.T) {
	p := readPolicy(t)
	both, ours := map[string]bool{}, map[string]bool{}
	for _, key := range p.keys() {
		if !StripInherited(key) {
			continue
		}
		if slices.Contains(p.AllowedInheritedOverrideOnlyKeys, key) {
			ours[key] = true
		} else {
			both[key] = true
		}
	}
	if got := slices.Sorted(maps.Keys(both)); !slices.Equal(got, strings.Fields(
		"BASH_ENV BASH_FUNC_ BASH_FUNC_X DYLD_ DYLD_X ENV IFS LD_ LD_X PROMPT_COMMAND PS4 SHELLOPTS")) {
		t.Errorf("both take out %v", got)
	}
	if got := slices.Sorted(maps.Keys(ours)); !slices.Equal(got, []string{"ZDOTDIR"}) { // where zsh finds its start-up files
		t.Errorf("only ours takes out %v", got)
	}
}

// TestVectors compares with what OpenClaw refuses.
func TestVectors(t *testing.T) {
	keys := readPolicy(t).keys()
	// OpenClaw refuses all of them. Ours: Fixed is refused too, Asks is asked
	// where the third list of testdata/environment.md names it, and nothing passes.
	asks := map[string]bool{}
	for _, key := range keys {
		switch Requested(key) {
		case Refused, Fixed:
		case Asks:
			asks[key] = true
		default:
			t.Errorf("%s passes", key)
		}
	}
	got := strings.Join(slices.Sorted(maps.Keys(asks)), " ")
	want := strings.Join(strings.Fields(asked), " ")
	if got != want {
		t.Errorf("asked instead of refused:\n%s\nwant:\n%s", got, want)
	}
}

// asked are the keys that OpenClaw refuses and we ask about: endpoints, trust
// and credentials, which a person can judge.
const asked = `
ALL_PROXY ANSIBLE_CALLBACK_PLUGINS ANSIBLE_COLLECTIONS_PATH ANSIBLE_CONFIG ANSIBLE_CONNECTION_PLUGINS
ANSIBLE_FILTER_PLUGINS ANSIBLE_INVENTORY_PLUGINS ANSIBLE_LIBRARY ANSIBLE_LOOKUP_PLUGINS ANSIBLE_MODULE_UTILS
ANSIBLE_REMOTE_TEMP ANSIBLE_ROLES_PATH ANSIBLE_STRATEGY_PLUGINS AWS_ACCESS_KEY_ID AWS_CONFIG_FILE
AWS_CONTAINER_CREDENTIALS_FULL_URI AWS_CONTAINER_CREDENTIALS_RELATIVE_URI AWS_SECRET_ACCESS_KEY
AWS_SECURITY_TOKEN AWS_SESSION_TOKEN AWS_SHARED_CREDENTIALS_FILE AWS_WEB_IDENTITY_TOKEN_FILE
AZURE_AUTH_LOCATION AZURE_CLIENT_ID AZURE_CLIENT_SECRET BUN_CONFIG_REGISTRY CONDA_DEFAULT_ENV CONDA_PREFIX
CURL_CA_BUNDLE CURL_HOME DENO_DIR DOCKER_CERT_PATH DOCKER_CONTEXT DOCKER_HOST DOCKER_TLS_VERIFY GH_TOKEN
GITHUB_TOKEN GITLAB_TOKEN GOOGLE_APPLICATION_CREDENTIALS HELM_HOME HELM_PLUGINS HTTPS_PROXY HTTP_PROXY
KUBECONFIG NODE_AUTH_TOKEN NODE_EXTRA_CA_CERTS NODE_TLS_REJECT_UNAUTHORIZED NO_PROXY NPM_TOKEN
PACKER_PLUGIN_PATH PIP_CONFIG_FILE PIP_EXTRA_INDEX_URL PIP_FIND_LINKS PIP_INDEX_URL PIP_PYPI_URL
PIP_TRUSTED_HOST REQUESTS_CA_BUNDLE SSLKEYLOGFILE SSL_CERT_DIR SSL_CERT_FILE TF_CLI_CONFIG_FILE
TF_PLUGIN_CACHE_DIR UV_DEFAULT_INDEX UV_EXTRA_INDEX_URL UV_INDEX UV_INDEX_URL UV_PYTHON VAGRANT_VAGRANTFILE
VIRTUAL_ENV WGETRC YARN_RC_FILENAME`

// TestData keeps the list readable by the code: known sections, names in
// capitals, no name twice in a section.
func TestData(t *testing.T) {
	want := []string{"asks", "fixed", "inherited", "known", "protocol", "refused", "secret", "shell", "tools"}
	if got := slices.Sorted(maps.Keys(table())); !slices.Equal(got, want) {
		t.Errorf("sections %v, want %v", got, want)
	}
	word := regexp.MustCompile(`^[A-Z0-9_*]+$`)
	section, seen := "", map[string]bool{}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		if head, _, ok := strings.Cut(line, "]"); ok {
			section = head
			continue
		}
		for _, w := range strings.Fields(line) {
			if !word.MatchString(w) || strings.Contains(w, "**") {
				t.Errorf("%q is no name", w)
			}
			if seen[section+w] {
				t.Errorf("%s is in %s] twice", w, section)
			}
			seen[section+w] = true
		}
	}
	for _, name := range strings.Fields("LD_ DYLD_ BASH_ENV ENV BASH_FUNC_ SHELLOPTS PS4 PROMPT_COMMAND IFS ZDOTDIR") {
		if Requested(name) != Refused {
			t.Errorf("%s is taken out when inherited, but not refused when requested", name)
		}
	}
}

func FuzzRequested(f *testing.F) {
	for _, c := range requestedTests {
		f.Add(c.name)
	}
	portable := regexp.MustCompile(`\A[A-Za-z_][A-Za-z0-9_]*\z`)
	f.Fuzz(func(t *testing.T, name string) {
		class := Requested(name)
		if (class == Malformed) == portable.MatchString(name) {
			t.Errorf("%q: class %d", name, class)
		}
		if Requested(strings.ToLower(name)) != class && portable.MatchString(name) {
			t.Errorf("%q: case counts", name)
		}
	})
}
