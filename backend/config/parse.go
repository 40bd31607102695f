package config

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/countersign-app/countersign/backend/approval"
)

// Error says what is wrong in a file, and where.
type Error struct {
	File    string // name of the file
	Line    int    // counted from 1
	Key     string // such as "agents.list[0].tools.exec.ask"; may be empty
	Problem string
}

func (e *Error) Error() string {
	if e.Key == "" {
		return fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Problem)
	}
	return fmt.Sprintf("%s:%d: %s: %s", e.File, e.Line, e.Key, e.Problem)
}

// Parse reads the text of a file, which is JSON5; the name is for errors,
// which are *Error.
// Keys that we do not know belong to others and are not looked at.
func Parse(name string, text []byte) (Config, error) {
	line := func(at int64) int { return 1 + bytes.Count(text[:min(at, int64(len(text)))], []byte("\n")) }
	if len(text) > maxSize || !utf8.Valid(text) {
		return Config{}, &Error{name, 1, "", "is larger than 8 MiB or not UTF-8"}
	}
	text, err := toJSON(text)
	if err != nil {
		return Config{}, &Error{name, line(int64(len(text))), "", "is not JSON5: " + err.Error()}
	}
	if err := json.Unmarshal(text, new(json.RawMessage)); err != nil {
		var at int64
		var bad *json.SyntaxError
		if errors.As(err, &bad) {
			at = bad.Offset
		}
		return Config{}, &Error{name, line(at), "", "is not JSON5: " + err.Error()}
	}
	from := json.NewDecoder(bytes.NewReader(text))
	from.UseNumber()
	root, err := readValue(from, 0)
	if err != nil {
		return Config{}, &Error{name, line(from.InputOffset()), "", err.Error()}
	}
	r := &reader{}
	c := r.config(root)
	if r.problem != "" {
		return Config{}, &Error{name, line(r.at), r.key, r.problem}
	}
	return c, nil
}

// value is a JSON value with the place where it ends in the text. The value
// is an object, a []value, or what the decoder makes of anything else.
type value struct {
	at int64
	is any
}

type object map[string]value

// maxDepth bounds how deep values may lie in each other.
const maxDepth = 200

func readValue(from *json.Decoder, depth int) (value, error) {
	token, err := from.Token()
	if err != nil {
		return value{}, err
	}
	v := value{from.InputOffset(), token}
	switch {
	case depth > maxDepth:
		return v, fmt.Errorf("values lie in each other more than %d deep", maxDepth)
	case token == json.Delim('{'):
		v.is, err = readObject(from, depth)
	case token == json.Delim('['):
		v.is, err = readList(from, depth)
	}
	return v, err
}

func readObject(from *json.Decoder, depth int) (object, error) {
	o := object{}
	for from.More() {
		key, err := from.Token()
		if err != nil {
			return nil, err
		}
		name := key.(string)
		if _, twice := o[name]; twice {
			return nil, fmt.Errorf("the key %q comes twice", name)
		}
		if o[name], err = readValue(from, depth+1); err != nil {
			return nil, err
		}
	}
	_, err := from.Token()
	return o, err
}

func readList(from *json.Decoder, depth int) ([]value, error) {
	list := []value{}
	for from.More() {
		v, err := readValue(from, depth+1)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := from.Token()
	return list, err
}

// reader takes what it knows out of values. It keeps the problem that comes
// first in the text.
type reader struct {
	at      int64
	key     string
	problem string
}

func (r *reader) bad(v value, key, format string, args ...any) {
	if r.problem == "" || v.at < r.at {
		r.at, r.key, r.problem = v.at, key, fmt.Sprintf(format, args...)
	}
}

// as reads a value of one type.
func as[T any](r *reader, v value, key, want string) (T, bool) {
	t, ok := v.is.(T)
	if !ok {
		r.bad(v, key, "must be %s", want)
	}
	return t, ok
}

// child reads an object in an object; none there is an empty one.
func (r *reader) child(o object, key, name string) object {
	v, ok := o[name]
	if !ok {
		return nil
	}
	child, _ := as[object](r, v, join(key, name), "an object")
	return child
}

func join(key, name string) string {
	if key == "" {
		return name
	}
	return key + "." + name
}

func (r *reader) config(root value) Config {
	top, _ := as[object](r, root, "", "an object")
	c := Config{Exec: r.tools(top, ""), Agents: map[string]Layer{}}
	v, ok := r.child(top, "", "agents")["list"]
	if !ok {
		return c
	}
	agents, _ := as[[]value](r, v, "agents.list", "a list")
	for i, item := range agents {
		key := "agents.list[" + strconv.Itoa(i) + "]"
		agent, ok := as[object](r, item, key, "an object")
		if !ok {
			break
		}
		name, ok := agent["id"]
		if !ok {
			r.bad(item, key+".id", "is missing")
			break
		}
		id := r.text(name, key+".id")
		if _, twice := c.Agents[id]; twice {
			r.bad(name, key+".id", "another agent has the id %q too", id)
		}
		c.Agents[id] = r.tools(agent, key)
	}
	return c
}

// tools reads tools.exec of the file or of an agent.
func (r *reader) tools(o object, key string) (l Layer) {
	tools := r.child(o, key, "tools")
	exec := r.child(tools, join(key, "tools"), "exec")
	for name, v := range exec {
		at := join(key, "tools.exec."+name)
		switch name {
		case "host":
			l.Host = word[approval.Host](r, v, at)
		case "hosts":
			l.Hosts = items(r, v, at, word[approval.Host])
		case "security":
			l.Security = word[approval.Security](r, v, at)
		case "ask":
			l.Ask = word[approval.Ask](r, v, at)
		case "node":
			l.Node = r.text(v, at)
		case "timeoutSeconds":
			l.Timeout = r.seconds(v, at)
		case "safeBins":
			l.SafeBins = items(r, v, at, (*reader).program)
		case "safeBinTrustedDirs":
			l.SafeBinTrustedDirs = items(r, v, at, (*reader).folder)
		case "pathPrepend":
			l.PathPrepend = items(r, v, at, (*reader).folder)
		case "sandbox":
			l.Sandbox = r.sandbox(v, at)
		}
	}
	return l
}

// sandbox reads a tools.exec.sandbox. What it does not know could be a limit
// that somebody relies on, so that is an error.
func (r *reader) sandbox(v value, key string) *Sandbox {
	o, ok := as[object](r, v, key, "an object")
	if !ok {
		return nil
	}
	s := &Sandbox{Engine: Docker, Image: defaultImage, Memory: defaultMemory, CPUs: defaultCPUs, Processes: defaultProcesses}
	for name, v := range o {
		at := join(key, name)
		switch name {
		case "engine":
			s.Engine = word[Engine](r, v, at)
		case "image":
			s.Image = r.text(v, at)
		case "socket":
			s.Socket = r.folder(v, at)
		case "workspace":
			s.Workspace = r.folder(v, at)
		case "mounts":
			s.Mounts = items(r, v, at, (*reader).folder)
		case "network":
			s.Network, _ = as[bool](r, v, at, "true or false")
		case "memoryMB":
			s.Memory = int64(r.number(v, at, 16, 1<<20)) << 20
		case "cpus":
			s.CPUs = r.number(v, at, 0.01, 1024)
		case "processes":
			s.Processes = int64(r.number(v, at, 8, 1<<20))
		default:
			r.bad(v, at, "is not known: engine, image, socket, workspace, mounts, network, memoryMB, cpus and processes are")
		}
	}
	if cpus, ok := o["cpus"]; ok && s.Engine == Bubblewrap {
		r.bad(cpus, join(key, "cpus"), "cannot be limited by bubblewrap: leave it out, or set engine to docker")
	}
	if s.Workspace == "" {
		r.bad(v, join(key, "workspace"), "is missing: it is the folder that commands work in")
	}
	return s
}

func word[T ~string, P interface {
	*T
	encoding.TextUnmarshaler
}](r *reader, v value, key string) (w T) {
	text, ok := as[string](r, v, key, "a string")
	if !ok {
		return ""
	}
	if err := P(&w).UnmarshalText([]byte(text)); err != nil {
		r.bad(v, key, "%s", err)
	}
	return w
}

// items reads a list. An empty one is not nil: it says "none".
func items[T any](r *reader, v value, key string, item func(*reader, value, string) T) []T {
	values, _ := as[[]value](r, v, key, "a list")
	list := make([]T, len(values))
	for i, v := range values {
		list[i] = item(r, v, key+"["+strconv.Itoa(i)+"]")
	}
	return list
}

func (r *reader) text(v value, key string) string {
	text, ok := as[string](r, v, key, "a string")
	if ok && strings.TrimSpace(text) == "" {
		r.bad(v, key, "cannot be empty")
	}
	return text
}

func (r *reader) program(v value, key string) string {
	name := r.text(v, key)
	if strings.ContainsAny(name, "/\\ \t\r\n\x00") {
		r.bad(v, key, "must be the name of a program without its folder, not %q", name)
	}
	return name
}

// folder reads a path. It begins with / or with ~/, which stays as it is: the
// home is that of the host that runs the command.
func (r *reader) folder(v value, key string) string {
	path := r.text(v, key)
	if !filepath.IsAbs(path) && path != "~" && !strings.HasPrefix(path, "~/") || strings.ContainsAny(path, ":\x00") {
		r.bad(v, key, "must be a folder that begins with / or ~/ and has no colon, not %q", path)
	}
	return path
}

func (r *reader) seconds(v value, key string) time.Duration {
	return time.Duration(r.number(v, key, 0.001, MaxTimeout.Seconds()) * float64(time.Second))
}

func (r *reader) number(v value, key string, least, most float64) float64 {
	text, ok := as[json.Number](r, v, key, "a number")
	if !ok {
		return 0
	}
	n, err := text.Float64()
	if err != nil || math.IsNaN(n) || n < least || n > most {
		r.bad(v, key, "must be from %v to %.0f", least, most)
		return 0
	}
	return n
}
