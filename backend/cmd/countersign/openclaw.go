package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/store"
)

// openclaw is the command line of an installed OpenClaw. All that we change in
// its store goes through it.
type openclaw struct {
	program string
	environ []string
}

// openclawTime is how long one call of it may take.
const openclawTime = time.Minute

// call runs it, with input on stdin: a token is never among its words.
func (o openclaw) call(ctx context.Context, input []byte, words ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, openclawTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, o.program, words...)
	var stdout, stderr bytes.Buffer
	cmd.WaitDelay = time.Second // it may leave somebody behind with its output
	cmd.Stdin, cmd.Stdout, cmd.Stderr, cmd.Env = bytes.NewReader(input), &stdout, &stderr, o.environ
	if err := cmd.Run(); err != nil {
		said := strings.TrimSpace(stderr.String())
		return nil, fmt.Errorf("%s %s: %w: %s", o.program, strings.Join(words, " "), err, said[max(0, len(said)-500):])
	}
	return stdout.Bytes(), nil
}

// approvals is the exec approvals document of OpenClaw. What we do not know in
// it stays as it is.
type approvals struct {
	Path string
	File map[string]json.RawMessage
}

// get reads the document. It comes without its token.
func (o openclaw) get(ctx context.Context) (a approvals, err error) {
	out, err := o.call(ctx, nil, "approvals", "get", "--json")
	if err == nil {
		err = json.Unmarshal(out[max(0, bytes.IndexByte(out, '{')):], &a)
	}
	if err == nil && a.File == nil {
		err = errors.New("it tells no document")
	}
	if err != nil {
		return a, fmt.Errorf("the approvals of OpenClaw cannot be read: %w", err)
	}
	return a, nil
}

// set writes the document.
func (o openclaw) set(ctx context.Context, file map[string]json.RawMessage) error {
	text, err := json.Marshal(file)
	if err != nil {
		return err
	}
	if _, err := o.call(ctx, text, "approvals", "set", "--stdin", "--json"); err != nil {
		return fmt.Errorf("the approvals of OpenClaw cannot be written: %w", err)
	}
	return nil
}

// folder is the state folder of OpenClaw, which holds its store. Versions
// before it had one share a file with us, and are not linked.
func (a approvals) folder() (string, error) {
	file, _, _ := strings.Cut(a.Path, "#")
	folder, inside := strings.CutSuffix(filepath.Clean(file), "/state/openclaw.sqlite")
	if !inside || !filepath.IsAbs(folder) {
		return "", fmt.Errorf("this OpenClaw keeps its approvals in %s, where we do not write: use a version from mid 2026 on", a.Path)
	}
	return filepath.EvalSymlinks(folder)
}

// field is a place in the document: a name in one of its objects.
type field struct {
	Object string `json:"object"` // "socket", "defaults", or "agents/ID"
	Name   string `json:"name"`
}

func (f field) String() string { return strings.Replace(f.Object, "/", ".", 1) + "." + f.Name }

// edit is one change. Was is null where there was nothing.
type edit struct {
	field
	Was json.RawMessage `json:"was"`
	Now json.RawMessage `json:"now"`
}

// objectAt returns an object of a document, empty where there is none.
func objectAt(file map[string]json.RawMessage, object string) (map[string]json.RawMessage, error) {
	name, id, inside := strings.Cut(object, "/")
	o := map[string]json.RawMessage{}
	if text := file[name]; text != nil {
		if err := json.Unmarshal(text, &o); err != nil {
			return nil, fmt.Errorf("%s is not what it should be: %w", name, err)
		}
	}
	if inside {
		return objectAt(o, id)
	}
	return o, nil
}

// place changes a field of a document; null takes it away.
func place(file map[string]json.RawMessage, f field, value json.RawMessage) error {
	o, err := objectAt(file, f.Object)
	if err != nil {
		return err
	}
	if o[f.Name] = value; value == nil || string(value) == "null" {
		delete(o, f.Name)
	}
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	name, id, inside := strings.Cut(f.Object, "/")
	if inside {
		return place(file, field{name, id}, text)
	}
	file[name] = text
	return nil
}

func jsonText(text string) json.RawMessage {
	b, _ := json.Marshal(text) // a string always has one
	return b
}

// linking returns the change that leads OpenClaw's node host to our socket.
func linking(file map[string]json.RawMessage, socket string) ([]edit, error) {
	o, err := objectAt(file, "socket")
	if err != nil || string(o["path"]) == string(jsonText(socket)) {
		return nil, err
	}
	return []edit{{field{"socket", "path"}, o["path"], jsonText(socket)}}, nil
}

// finishing returns the changes by which the policy of OpenClaw's node host
// steps back, so that everything is judged once, by us. Where it denies
// everything, for all or for one agent, it goes on to do so.
func finishing(file map[string]json.RawMessage) (list []edit, err error) {
	agents, err := objectAt(file, "agents")
	if err != nil {
		return nil, err
	}
	defaults, err := objectAt(file, "defaults")
	if err != nil {
		return nil, err
	}
	everybody, err := objectAt(file, "agents/*")
	if err != nil {
		return nil, err
	}
	change := func(object string, o map[string]json.RawMessage, layers ...json.RawMessage) {
		security := json.RawMessage(nil)
		for _, l := range layers {
			if security == nil {
				security = l
			}
		}
		if string(security) == `"deny"` {
			return
		}
		for _, want := range [][2]string{{"security", "full"}, {"ask", "off"}, {"askFallback", "deny"}} {
			if now := jsonText(want[1]); string(o[want[0]]) != string(now) {
				list = append(list, edit{field{object, want[0]}, o[want[0]], now})
			}
		}
	}
	change("defaults", defaults, defaults["security"])
	for _, id := range slices.Sorted(maps.Keys(agents)) {
		own, err := objectAt(agents, id)
		if err != nil {
			return nil, err
		}
		if own["security"] != nil || own["ask"] != nil {
			change("agents/"+id, own, own["security"], everybody["security"], defaults["security"])
		}
	}
	return list, nil
}

// unlinking returns the document as it was before, except for what somebody
// changed since: that stays, and is told. A token is new, so that nobody
// reaches us with the old one.
func unlinking(file map[string]json.RawMessage, made []edit) (kept []field, err error) {
	for _, e := range made {
		o, err := objectAt(file, e.Object)
		if err != nil {
			return nil, err
		}
		if string(o[e.Name]) != string(e.Now) {
			kept = append(kept, e.field)
			continue
		}
		if err := place(file, e.field, e.Was); err != nil {
			return nil, err
		}
	}
	token := make([]byte, 24)
	_, _ = rand.Read(token) // it never fails
	return kept, place(file, field{"socket", "token"}, jsonText(base64.RawURLEncoding.EncodeToString(token)))
}

// forwardLine has OpenClaw's node host ask an app, and run nothing without it.
const forwardLine = "OPENCLAW_NODE_EXEC_HOST=app"

// setsForwarding finds a line that sets the same variable, as dotenv reads it.
var setsForwarding = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\s*(export\s+)?OPENCLAW_NODE_EXEC_HOST\s*[=:]`) })

// forwarding makes sure that a .env of OpenClaw has our line, or that it has
// not. It reports whether that changes something.
func forwarding(path string, want, write bool) (changes bool, err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	var lines []string
	has := false
	for line := range strings.Lines(string(text)) {
		ours := strings.TrimSpace(line) == forwardLine
		if want && !ours && setsForwarding().MatchString(line) {
			return false, fmt.Errorf("%s sets OPENCLAW_NODE_EXEC_HOST in another line: take that away first", path)
		}
		if has = has || ours; !ours || want {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	if has == want {
		return false, nil
	}
	if want {
		lines = append(lines, forwardLine)
	}
	if !write {
		return true, nil
	}
	all := strings.Join(lines, "\n")
	if all != "" {
		all += "\n"
	}
	return true, store.Replace(path, []byte(all))
}
