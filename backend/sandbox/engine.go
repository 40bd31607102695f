package sandbox

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// engine is the API of a Docker engine, as far as we need it, at a socket of
// this machine. Whoever can talk to it is root there: no box gets near it.
type engine struct {
	socket  string
	version string // of the API, such as "1.40"
	http    *http.Client
}

// apiVersion is the one that we know, which is spoken by engines from 2019 on.
// A newer engine may ask for a later one.
const apiVersion = "1.40"

func newEngine(socket string) *engine {
	return &engine{socket, apiVersion, &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
		MaxIdleConnsPerHost: 8, IdleConnTimeout: time.Minute,
	}}}
}

// engineError is a refusal of the engine.
type engineError struct {
	Status  int
	Message string
}

func (e *engineError) Error() string {
	return fmt.Sprintf("the Docker engine refused (%d): %s", e.Status, e.Message)
}

// maxAnswer is the longest answer in bytes that is read, streams aside.
const maxAnswer = 4 << 20

// do calls the engine and reads its answer into out, which may be nil.
func (e *engine) do(ctx context.Context, method, path string, in, out any) error {
	body, err := e.send(ctx, method, path, in)
	if err != nil {
		return err
	}
	defer body.Close()
	if out == nil {
		_, err = io.Copy(io.Discard, io.LimitReader(body, maxAnswer))
		return err
	}
	return json.NewDecoder(io.LimitReader(body, maxAnswer)).Decode(out)
}

func (e *engine) send(ctx context.Context, method, path string, in any) (io.ReadCloser, error) {
	var text []byte
	if in != nil {
		var err error
		if text, err = json.Marshal(in); err != nil {
			return nil, err
		}
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://docker/v"+e.version+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := e.http.Do(req)
	if err != nil {
		return nil, e.silent(err)
	}
	if resp.StatusCode < 300 {
		return resp.Body, nil
	}
	defer resp.Body.Close()
	refusal := &engineError{Status: resp.StatusCode}
	_ = json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(refusal) // its status says enough
	return nil, refusal
}

// silent says why there is no answer, and what to do.
func (e *engine) silent(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return fmt.Errorf("you may not talk to the Docker engine at %s: join the group that owns it, or use an engine without root", e.socket)
	}
	return fmt.Errorf("no Docker engine answers at %s: start Docker, or name its socket in tools.exec.sandbox.socket", e.socket)
}

// agree settles the version of the API.
func (e *engine) agree(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://docker/version", nil)
	if err != nil {
		return err
	}
	resp, err := e.http.Do(req)
	if err != nil {
		return e.silent(err)
	}
	defer resp.Body.Close()
	var v struct{ MinAPIVersion string }
	if resp.StatusCode != http.StatusOK || json.NewDecoder(io.LimitReader(resp.Body, maxAnswer)).Decode(&v) != nil {
		return fmt.Errorf("what answers at %s is no Docker engine (%s)", e.socket, resp.Status)
	}
	if later(v.MinAPIVersion, apiVersion) {
		e.version = v.MinAPIVersion
	}
	return nil
}

// later compares versions of the API; one that cannot be read is not later.
func later(a, b string) bool {
	var a1, a2, b1, b2 int
	if n, _ := fmt.Sscanf(a, "%d.%d", &a1, &a2); n != 2 {
		return false
	}
	_, _ = fmt.Sscanf(b, "%d.%d", &b1, &b2) // ours
	return a1 > b1 || a1 == b1 && a2 > b2
}

// mine lists the containers with a label.
func (e *engine) mine(ctx context.Context, label string) (list []container, err error) {
	filters, err := json.Marshal(map[string][]string{"label": {label}})
	if err != nil {
		return nil, err
	}
	return list, e.do(ctx, http.MethodGet, "/containers/json?all=true&filters="+url.QueryEscape(string(filters)), nil, &list)
}

type container struct {
	ID     string `json:"Id"`
	Labels map[string]string
}

// remove ends a container and whatever runs in it.
func (e *engine) remove(ctx context.Context, id string) error {
	return e.do(ctx, http.MethodDelete, "/containers/"+id+"?force=true&v=true", nil, nil)
}

// execSpec is a program to be started in a container.
type execSpec struct {
	AttachStdout bool
	AttachStderr bool
	Env          []string `json:",omitempty"`
	Cmd          []string
	WorkingDir   string `json:",omitempty"`
}

// exec starts a program in a container and hands its output to take until
// both streams end. The program itself may live on.
// It is not started once still has ended, which may be nil.
func (e *engine) exec(ctx, still context.Context, container string, spec execSpec, take func(stream int, b []byte)) (id string, err error) {
	var made struct {
		ID string `json:"Id"`
	}
	if err := e.do(ctx, http.MethodPost, "/containers/"+container+"/exec", spec, &made); err != nil {
		return "", err
	}
	if still != nil && still.Err() != nil {
		return made.ID, context.Cause(still)
	}
	body, err := e.send(ctx, http.MethodPost, "/exec/"+made.ID+"/start", map[string]bool{"Detach": false, "Tty": false})
	if err != nil {
		return made.ID, err
	}
	defer body.Close()
	return made.ID, demux(body, take)
}

// demux takes the two streams apart that an engine sends as one: frames with
// eight bytes before them, of which the first is the stream's number and the
// last four are the length.
func demux(r io.Reader, take func(stream int, b []byte)) error {
	var head [8]byte
	buf := make([]byte, 32<<10)
	for {
		if _, err := io.ReadFull(r, head[:]); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		for left := int(binary.BigEndian.Uint32(head[4:])); left > 0; {
			n, err := r.Read(buf[:min(left, len(buf))])
			if left -= n; n > 0 && (head[0] == 1 || head[0] == 2) {
				take(int(head[0])-1, buf[:n])
			}
			if err != nil && left > 0 {
				return io.ErrUnexpectedEOF
			}
		}
	}
}

// ended tells how a program ended. It reports false while it runs.
func (e *engine) ended(ctx context.Context, id string) (status int, over bool, err error) {
	var x struct {
		Running  bool
		ExitCode *int
	}
	err = e.do(ctx, http.MethodGet, "/exec/"+id+"/json", nil, &x)
	if err != nil || x.Running || x.ExitCode == nil {
		return 0, false, err
	}
	return *x.ExitCode, true, nil
}

// missing says what to do where there is no such image.
func missing(image string, err error) error {
	if refusal, ok := err.(*engineError); ok && refusal.Status == http.StatusNotFound && strings.Contains(refusal.Message, "image") {
		return fmt.Errorf("the sandbox has no image %s: run \"docker pull %s\"", image, image)
	}
	return err
}
