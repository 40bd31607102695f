// Package paths is the only place that knows where files live, and the only
// one that looks at the name of the platform.
package paths

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// State is the state folder of one host, and the names of the files in it.
type State struct {
	// Dir is the folder, absolute. All files in it are 0600, it is 0700.
	Dir string
	// Beside is set when Dir is a subfolder because an OpenClaw that keeps
	// its own store lives in the parent.
	Beside bool
}

// Find returns the state folder: the first that is set of flag,
// COUNTERSIGN_STATE_DIR and OPENCLAW_STATE_DIR, else ~/.openclaw. It looks at
// the disk only to see whether OpenClaw's own store is there, and creates
// nothing.
func Find(flag string, getenv func(string) string) (State, error) {
	dir := flag
	for _, name := range []string{"COUNTERSIGN_STATE_DIR", "OPENCLAW_STATE_DIR"} {
		if dir == "" {
			dir = strings.TrimSpace(getenv(name))
		}
	}
	home, err := Home(getenv)
	if err != nil {
		return State{}, err
	}
	if dir == "" {
		dir = "~/.openclaw"
	}
	if dir, err = filepath.Abs(Expand(dir, home)); err != nil {
		return State{}, fmt.Errorf("cannot find the state folder: %w", err)
	}
	return At(dir), nil
}

// At returns the state folder for a base folder. A file called
// exec-approvals.json beside OpenClaw's SQLite store would make that
// OpenClaw refuse every command, so there our files go into a subfolder.
func At(dir string) State {
	if _, err := os.Lstat(filepath.Join(dir, "state", "openclaw.sqlite")); err == nil {
		return State{Dir: filepath.Join(dir, "countersign"), Beside: true}
	}
	return State{Dir: dir}
}

// Home returns the home folder of the person, absolute.
func Home(getenv func(string) string) (string, error) {
	home := getenv("HOME")
	if runtime.GOOS == "windows" {
		home = getenv("USERPROFILE")
	}
	if !filepath.IsAbs(home) {
		return "", fmt.Errorf("cannot tell the home folder: set HOME to an absolute path (it is %q)", home)
	}
	return filepath.Clean(home), nil
}

// Expand replaces a leading ~ by the home folder.
func Expand(path, home string) string {
	if path == "~" {
		return home
	}
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		return filepath.Join(home, rest)
	}
	return path
}

// maxProject is how many folders above one a checkout is looked for.
const maxProject = 100

// Project is the folder at or above dir that is a checkout of git, else dir
// itself; "" for the home folder and what is above it, and for what is no
// folder. It is dir or the beginning of it. exists tells what is there.
func Project(dir, home string, exists func(path string) bool) string {
	if !filepath.IsAbs(dir) {
		return ""
	}
	dir = filepath.Clean(dir)
	project := dir
	for n := 0; n < maxProject && dir != filepath.Dir(dir) && dir != home; n++ {
		if exists(filepath.Join(dir, ".git")) {
			project = dir
			break
		}
		dir = filepath.Dir(dir)
	}
	if rel, err := filepath.Rel(project, home); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return ""
	}
	return project
}

// Approvals is the policy, the socket's path and the request token.
func (s State) Approvals() string { return filepath.Join(s.Dir, "exec-approvals.json") }

// Socket is where the local socket lives unless the policy file says
// otherwise.
func (s State) Socket() string { return filepath.Join(s.Dir, "exec-approvals.sock") }

// Lock is held for the whole life of a host.
func (s State) Lock() string { return s.Socket() + ".lifecycle.lock" }

// OperatorKey is the key of those who may answer and edit.
func (s State) OperatorKey() string { return filepath.Join(s.Dir, "operator.key") }

// OperatorPublic tells whether a person's passphrase is right, and signs nothing.
func (s State) OperatorPublic() string { return filepath.Join(s.Dir, "operator.pub") }

// History is the database of requests.
func (s State) History() string { return filepath.Join(s.Dir, "history.db") }

// Node is the identity of this machine at gateways.
func (s State) Node() string { return filepath.Join(s.Dir, "node.json") }

// Gateway is the configuration of a gateway, and of where commands run.
func (s State) Gateway() string { return filepath.Join(s.Dir, "gateway.json5") }

// Pairing is who may come in at the gateway of this machine.
func (s State) Pairing() string { return filepath.Join(s.Dir, "gateway-pairing.json") }

// Sessions is what /exec save keeps.
func (s State) Sessions() string { return filepath.Join(s.Dir, "gateway-sessions.json") }

// GatewayToken is the secret of the gateway of this machine.
func (s State) GatewayToken() string { return filepath.Join(s.Dir, "gateway.token") }

// NodeToken is the secret of the gateway that the node service of this machine
// joins.
func (s State) NodeToken() string { return filepath.Join(s.Dir, "node.token") }

// NodeStatus is what the node service tells of its connection.
func (s State) NodeStatus() string { return filepath.Join(s.Dir, "node-status.json") }

// Link is what was changed in the store of an OpenClaw.
func (s State) Link() string { return filepath.Join(s.Dir, "openclaw-link.json") }

// Preferences is what a person chose about the app itself.
func (s State) Preferences() string { return filepath.Join(s.Dir, "countersign.json") }

// Grants is which build of the app macOS gave which permission.
func (s State) Grants() string { return filepath.Join(s.Dir, "grants.json") }

// MCPToken is the token of those who speak to the MCP server over HTTP.
func (s State) MCPToken() string { return filepath.Join(s.Dir, "mcp-token") }

// Federated is what gateways signed that holds here too.
func (s State) Federated() string { return filepath.Join(s.Dir, "federated.json") }

// GatewayKey is the key by which the gateway of this machine signs policies.
func (s State) GatewayKey() string { return filepath.Join(s.Dir, "gateway-policy.key") }

// GatewayPolicy is the policy that it signed for the nodes.
func (s State) GatewayPolicy() string { return filepath.Join(s.Dir, "gateway-policy.json") }

// Charters is the folder of the charters.
func (s State) Charters() string { return filepath.Join(s.Dir, "charters") }

// Hooks is what was written into the settings of which agent.
func (s State) Hooks() string { return filepath.Join(s.Dir, "hooks.json") }

// Backups is the folder of the last accepted versions of the policy file.
func (s State) Backups() string { return filepath.Join(s.Dir, "backups") }

// DockerSockets are where a Docker engine of this person or of this machine may
// listen, the likeliest first.
func DockerSockets(getenv func(string) string, home string) (list []string) {
	if at, ok := strings.CutPrefix(getenv("DOCKER_HOST"), "unix://"); ok && filepath.IsAbs(at) {
		return []string{at}
	}
	if dir := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		list = append(list, filepath.Join(dir, "docker.sock"))
	}
	return append(list, filepath.Join(home, ".docker/run/docker.sock"), "/var/run/docker.sock")
}

// Autostart is the file by which a desktop that follows XDG opens the app at
// login.
func Autostart(getenv func(string) string, home string) string {
	config := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) {
		config = filepath.Join(home, ".config")
	}
	return filepath.Join(config, "autostart", "countersign.desktop")
}

// SessionSockets are the folders in which programs of the person's session
// listen.
func SessionSockets(getenv func(string) string) []string {
	if dir := getenv("XDG_RUNTIME_DIR"); filepath.IsAbs(dir) {
		return []string{dir}
	}
	return nil
}

// Service is the file by which the service manager of a person knows one of our
// services.
func Service(getenv func(string) string, home, name string) string {
	if runtime.GOOS == "darwin" {
		return filepath.Join(home, "Library/LaunchAgents", "app.countersign."+name+".plist")
	}
	config := getenv("XDG_CONFIG_HOME")
	if !filepath.IsAbs(config) {
		config = filepath.Join(home, ".config")
	}
	return filepath.Join(config, "systemd/user", "countersign-"+name+".service")
}

// SocketLimit is the length of the longest socket path, in bytes.
func SocketLimit() int {
	if runtime.GOOS == "darwin" {
		return 103
	}
	return 107
}

// DefaultPath is the PATH for a person whose login shell does not tell one.
func DefaultPath() string {
	if runtime.GOOS == "darwin" {
		return "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
	}
	return "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
}

// PackageStores are folders in which a package manager keeps the files that
// its links lead to: a newer version under the same one is the same program.
func PackageStores() []string {
	return []string{
		"/opt/homebrew/Cellar", "/opt/homebrew/Caskroom",
		"/usr/local/Cellar", "/usr/local/Caskroom",
		"/home/linuxbrew/.linuxbrew/Cellar", "/nix/store",
	}
}

// OfSystem reports whether a path lies where the system keeps its programs.
func OfSystem(path string) bool {
	in := func(dir string) bool { return path == dir || strings.HasPrefix(path, dir+"/") }
	return slices.ContainsFunc(systemPlaces, in) && !slices.ContainsFunc(othersPlaces, in)
}

var (
	systemPlaces = []string{"/usr", "/bin", "/sbin", "/lib", "/lib64", "/System", "/Library"}
	// othersPlaces lie in them and hold what everybody installs: on macOS the
	// second holds every home, too.
	othersPlaces = []string{"/usr/local", "/System/Volumes/Data"}
)
