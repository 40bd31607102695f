//go:build linux || darwin

package main

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// foreignToken is in the policy file before our host ever sees it.
const foreignToken = "Zm9yZWlnbi10b2tlbi0wMTIzNDU2Nzg5"

const foreignPolicy = `{
  "version": 1,
  "socket": {"token": "` + foreignToken + `"},
  "defaults": {"security": "full", "ask": "off"}
}
`

// foreign is a node host that is not ours: it knows the frames of OpenClaw's
// socket and the policy file, and uses nothing of our code.
type foreign struct {
	socket, token string
}

// frame signs a request as the protocol says.
func (f foreign) frame(kind, key string, ts int64, request any) []byte {
	text, err := json.Marshal(request)
	if err != nil {
		panic(err)
	}
	var random [16]byte
	rand.Read(random[:])
	nonce := hex.EncodeToString(random[:])
	m := hmac.New(sha256.New, []byte(key))
	fmt.Fprintf(m, "%s:%d:%s", nonce, ts, text)
	line, err := json.Marshal(map[string]any{
		"type": kind, "id": "id-" + nonce, "nonce": nonce, "ts": ts,
		"hmac": hex.EncodeToString(m.Sum(nil)), "requestJson": string(text),
	})
	if err != nil {
		panic(err)
	}
	return append(line, '\n')
}

func (f foreign) exec(request any) []byte {
	return f.frame("exec", f.token, time.Now().UnixMilli(), request)
}

// send writes a line, half-closes, and returns the connection.
func (f foreign) send(line []byte) (*net.UnixConn, error) {
	nc, err := net.Dial("unix", f.socket)
	if err != nil {
		return nil, err
	}
	c := nc.(*net.UnixConn)
	c.SetDeadline(time.Now().Add(patience))
	if _, err = c.Write(line); err == nil {
		err = c.CloseWrite()
	}
	return c, err
}

// say sends a line and returns all that is answered until the host closes.
func (f foreign) say(line []byte) (string, error) {
	c, err := f.send(line)
	if err != nil {
		return "", err
	}
	defer c.Close()
	all, err := io.ReadAll(c)
	return string(all), err
}

// answer is an exec-res, with its fields as they were sent.
type foreignAnswer struct {
	Type    string                     `json:"type"`
	ID      string                     `json:"id"`
	OK      bool                       `json:"ok"`
	Payload map[string]json.RawMessage `json:"payload"`
	Error   map[string]string          `json:"error"`
}

// run sends one exec frame and reads its one answer.
func (f foreign) run(request any) (foreignAnswer, error) {
	line := f.exec(request)
	var sent, got foreignAnswer
	if err := json.Unmarshal(line, &sent); err != nil {
		return got, err
	}
	text, err := f.say(line)
	if err != nil {
		return got, err
	}
	if !strings.HasSuffix(text, "\n") || strings.Count(text, "\n") != 1 {
		return got, fmt.Errorf("not one line: %.200q", text)
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil {
		return got, err
	}
	if got.Type != "exec-res" || got.ID != sent.ID {
		return got, fmt.Errorf("an answer to something else: %.200q", text)
	}
	return got, nil
}

// request is what the real client sends: all keys, null where there is
// nothing, and some of later versions that we do not know.
func foreignRequest(command ...string) map[string]any {
	return map[string]any{
		"command": command, "rawCommand": nil, "cwd": nil, "env": nil, "timeoutMs": nil,
		"needsScreenRecording": false, "agentId": nil, "sessionKey": "node", "approvalDecision": nil,
		"someLaterKey": map[string]any{"a": 1},
	}
}

func with(request map[string]any, key string, value any) map[string]any {
	request = maps.Clone(request)
	request[key] = value
	return request
}

func foreignHost(t *testing.T, policy string, flags ...string) (*world, foreign) {
	t.Helper()
	w := testWorld(t)
	w.policy(t, policy)
	if err := w.startHost(nil, append([]string{"host", "run", "--state-dir", w.state.Dir}, flags...)...); err != nil {
		t.Fatal(err)
	}
	return w, foreign{w.state.Socket(), foreignToken}
}

// TestForeignNodeHost answers a node host that is not ours, field by field.
func TestForeignNodeHost(t *testing.T) {
	t.Parallel()
	w, f := foreignHost(t, foreignPolicy)
	folder := filepath.Join(w.home, "in here")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	sh := func(text string) map[string]any { return foreignRequest("/bin/sh", "-lc", text) }
	const mib = 1 << 20
	for _, c := range []struct {
		name           string
		request        map[string]any
		code           string // as JSON
		timedOut, good bool
		stdout, stderr string
		error          string // as JSON, or * for any text
	}{
		{"echo", foreignRequest("/bin/echo", "hi"), "0", false, true, "hi\n", "", "null"},
		{"the display text of the real client", with(sh("echo hi"), "rawCommand", `/bin/sh -lc "echo hi"`), "0", false, true, "hi\n", "", "null"},
		{"exit code and stderr", sh("echo out; echo err >&2; exit 3"), "3", false, false, "out\n", "err\n", "null"},
		{"cwd", with(foreignRequest("/bin/pwd"), "cwd", folder), "0", false, true, folder + "\n", "", "null"},
		{"home without a cwd", foreignRequest("/bin/pwd"), "0", false, true, w.home + "\n", "", "null"},
		{"an environment override", with(foreignRequest("/usr/bin/env", "printenv", "GREETING"), "env", map[string]string{"GREETING": "hello"}), "0", false, true, "hello\n", "", "null"},
		{"an override for a shell", with(sh("echo $LC_ALL"), "env", map[string]string{"LC_ALL": "C"}), "0", false, true, "C\n", "", "null"},
		{"timeout", with(sh("echo begun; sleep 1000"), "timeoutMs", 500), "null", true, false, "begun\n", "", "*"},
		{"unicode", foreignRequest("/bin/echo", "grüß 你好 👋🏽 <&> \u2028"), "0", false, true, "grüß 你好 👋🏽 <&> \u2028\n", "", "null"},
		{"1 MiB of output", sh("head -c 1048576 /dev/zero | tr '\\0' x"), "0", false, true, strings.Repeat("x", 200_000) + "\n… (truncated)", "", "null"},
		{"1 MiB and stderr", sh("echo first >&2; sleep 0.1; head -c 1048576 /dev/zero | tr '\\0' x"), "0", false, true, strings.Repeat("x", 200_000-len("first\n")), "first\n\n… (truncated)", "null"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := f.run(c.request)
			if err != nil {
				t.Fatal(err)
			}
			if !got.OK || got.Error != nil {
				t.Fatalf("refused: %v", got.Error)
			}
			keys := slices.Sorted(maps.Keys(got.Payload))
			if want := []string{"error", "exitCode", "stderr", "stdout", "success", "timedOut"}; !slices.Equal(keys, want) {
				t.Errorf("the payload has %v, want %v", keys, want)
			}
			check := func(key, want string) {
				if have := string(got.Payload[key]); have != want {
					t.Errorf("%s is %.300s, want %.300s", key, have, want)
				}
			}
			check("exitCode", c.code)
			check("timedOut", strconv.FormatBool(c.timedOut))
			check("success", strconv.FormatBool(c.good))
			checkText(t, "stdout", got.Payload["stdout"], c.stdout)
			checkText(t, "stderr", got.Payload["stderr"], c.stderr)
			if c.error != "*" {
				check("error", c.error)
			} else if !strings.HasPrefix(string(got.Payload["error"]), `"`) {
				t.Errorf("error is %s, want a sentence", got.Payload["error"])
			}
		})
	}
}

func checkText(t *testing.T, key string, have json.RawMessage, want string) {
	t.Helper()
	var text string
	if err := json.Unmarshal(have, &text); err != nil || text != want {
		t.Errorf("%s is %d bytes %.100q, want %d bytes %.100q (%v)", key, len(text), text, len(want), want, err)
	}
}

// TestForeignMany runs 20 commands at once, each on its own connection.
func TestForeignMany(t *testing.T) {
	t.Parallel()
	w, f := foreignHost(t, foreignPolicy)
	gate := filepath.Join(w.home, "gate")
	if err := syscall.Mkfifo(gate, 0o600); err != nil {
		t.Fatal(err)
	}
	const many = 20
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() {
			// Each waits until all are there: they really run at once.
			got, err := f.run(with(foreignRequest("/bin/sh", "-c", fmt.Sprintf("echo >at.%d; read x <gate; echo %d; exit %d", i, i, i)), "cwd", w.home))
			if err != nil || !got.OK {
				t.Errorf("%d: %v %v", i, err, got.Error)
				return
			}
			if code, want := string(got.Payload["exitCode"]), strconv.Itoa(i); code != want {
				t.Errorf("%d: exit code %s", i, code)
			}
			checkText(t, "stdout", got.Payload["stdout"], fmt.Sprintln(i))
		})
	}
	if !eventually(func() bool {
		there, _ := filepath.Glob(filepath.Join(w.home, "at.*"))
		return len(there) == many
	}) {
		t.Error("they do not run at once")
	}
	open, err := os.OpenFile(gate, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	fmt.Fprint(open, strings.Repeat("go\n", many))
	all.Wait()
}

// TestForeignRefusals are the refusals of the protocol, as the client knows
// them.
func TestForeignRefusals(t *testing.T) {
	t.Parallel()
	w, f := foreignHost(t, foreignPolicy)
	echo := foreignRequest("/bin/echo", "hi")
	now := func() int64 { return time.Now().UnixMilli() }
	for _, c := range []struct {
		name                  string
		line                  []byte
		code, message, reason string
	}{
		{"another token", f.frame("exec", "wrong", now(), echo), "INVALID_REQUEST", "invalid auth", "hmac"},
		{"too old", f.frame("exec", f.token, now()-11_000, echo), "INVALID_REQUEST", "expired request", "ttl"},
		{"from the future", f.frame("exec", f.token, now()+11_000, echo), "INVALID_REQUEST", "expired request", "ttl"},
		{"too old and another token", f.frame("exec", "wrong", now()-11_000, echo), "INVALID_REQUEST", "expired request", "ttl"},
		{"no object", f.exec("echo hi"), "INVALID_REQUEST", "invalid payload", "json"},
		{"command of a wrong type", f.exec(with(echo, "command", "echo hi")), "INVALID_REQUEST", "invalid payload", "json"},
		{"no command", f.exec(with(echo, "command", []string{})), "INVALID_REQUEST", "command required", "invalid"},
		{"blanks around the program", f.exec(with(echo, "command", []string{" /bin/echo"})), "INVALID_REQUEST", "executable has surrounding whitespace", "invalid"},
		{"a source that nobody knows", f.exec(with(echo, "approvalSource", "my-own")), "INVALID_REQUEST", "approvalSource invalid", "invalid"},
		{"a grant without a snapshot", f.exec(with(echo, "approvalDecision", "allow-once")), "INVALID_REQUEST", "delayed approval requires a prepared policy snapshot", "invalid"},
		{"a display text of another command", f.exec(with(echo, "rawCommand", "/bin/rm -rf /")), "INVALID_REQUEST", "*", "invalid"},
		{"a loader variable", f.exec(with(echo, "env", map[string]string{"LD_PRELOAD": "x"})), "INVALID_REQUEST", "*", "env-refused"},
		{"a person said no", f.exec(with(echo, "approvalDecision", "deny")), "UNAVAILABLE", "*", "user-denied"},
		{"no such folder", f.exec(with(echo, "cwd", filepath.Join(w.home, "nowhere"))), "UNAVAILABLE", "*", "cwd-unavailable"},
		{"the screen", f.exec(with(echo, "needsScreenRecording", true)), "UNAVAILABLE", "*", "permission:screenRecording"},
		{"the operator's methods", f.frame("call", f.token, now(), map[string]any{"method": "policy.set"}), "INVALID_REQUEST", "invalid auth", "hmac"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := f.say(c.line)
			if err != nil {
				t.Fatal(err)
			}
			var got foreignAnswer
			if err := json.Unmarshal([]byte(text), &got); err != nil {
				t.Fatalf("%v: %q", err, text)
			}
			if got.OK || got.Error["code"] != c.code || got.Error["reason"] != c.reason || c.message != "*" && got.Error["message"] != c.message {
				t.Errorf("answered %s", text)
			}
		})
	}

	t.Run("replay", func(t *testing.T) {
		line := f.exec(echo)
		first, err1 := f.say(line)
		second, err2 := f.say(line)
		if err1 != nil || err2 != nil || !strings.Contains(first, `"ok":true`) || !strings.Contains(second, `"reason":"replay"`) {
			t.Errorf("answered %q %v and %q %v", first, err1, second, err2)
		}
	})
	for name, line := range map[string][]byte{
		"not JSON":     []byte("GET / HTTP/1.1\r\n\r\n"),
		"no type":      []byte("{\"id\":\"x\"}\n"),
		"unknown type": []byte("{\"type\":\"dance\",\"id\":\"x\"}\n"),
		"nothing":      nil,
		"too long":     append(bytes.Repeat([]byte(" "), 256_001), f.exec(echo)...),
	} {
		t.Run("closed without a word: "+name, func(t *testing.T) {
			c, err := f.send(line)
			if c == nil {
				t.Fatal(err) // a host that closes while we still write is fine
			}
			defer c.Close()
			if text, _ := io.ReadAll(c); len(text) > 0 {
				t.Errorf("answered %q", text)
			}
		})
	}
	if got, err := f.run(echo); err != nil || !got.OK {
		t.Errorf("after all that: %v %v", got, err)
	}
}

// TestForeignHangsUp closes the connection fully, which ends what runs.
func TestForeignHangsUp(t *testing.T) {
	t.Parallel()
	w, f := foreignHost(t, foreignPolicy)
	c, err := f.send(f.exec(with(foreignRequest("/bin/sh", "-c", "sleep 1000 & echo $! >kid; echo $$ >sh; wait"), "cwd", w.home)))
	if err != nil {
		t.Fatal(err)
	}
	var pids []int
	for _, name := range []string{"kid", "sh"} {
		pid, err := readPID(filepath.Join(w.home, name))
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	if slices.ContainsFunc(pids, isGone) {
		t.Fatal("the half-close ended the command")
	}
	c.Close()
	for _, pid := range pids {
		if !eventually(func() bool { return isGone(pid) }) {
			t.Errorf("process %d lives on", pid)
		}
	}
}

// TestForeignAsks asks with both kinds of frames, and hangs up while the
// question is open.
func TestForeignAsks(t *testing.T) {
	t.Parallel()
	policy := strings.NewReplacer("full", "allowlist", "off", "on-miss").Replace(foreignPolicy)
	w, f := foreignHost(t, policy, "--ask=command-line")
	touch := with(foreignRequest("/usr/bin/touch", "ran"), "cwd", w.home)
	ran := func() bool { _, err := os.Lstat(filepath.Join(w.home, "ran")); return err == nil }

	c, err := f.send(f.exec(touch))
	if err != nil {
		t.Fatal(err)
	}
	w.mustQuestions(t, 1)
	c.Close()
	if !eventually(func() bool { open := w.mustQuestions(t, 1); return open[0].CallerGone }) {
		t.Error("nobody saw that the caller has gone")
	}
	if ran() {
		t.Error("it ran without an answer")
	}

	// A caller that runs the command itself.
	decision := func(token string, request map[string]any) string {
		line, err := json.Marshal(map[string]any{"type": "request", "token": token, "id": "q1", "request": request})
		if err != nil {
			t.Fatal(err)
		}
		text, err := f.say(append(line, '\n'))
		if err != nil {
			t.Error(err)
		}
		return strings.TrimSpace(text)
	}
	const no = `{"type":"decision","id":"q1","decision":"deny"}`
	if got := decision("wrong", map[string]any{"command": "id"}); got != no {
		t.Errorf("a wrong token was answered %s", got)
	}
	if got := decision(f.token, map[string]any{"command": "id", "security": "deny"}); got != no {
		t.Errorf("a caller that denies itself was answered %s", got)
	}
	answered := make(chan string)
	go func() { answered <- decision(f.token, map[string]any{"command": "uname -a", "agentId": "main"}) }()
	open := w.mustQuestions(t, 2)
	// The test process asked, so its family may not answer. It may read.
	if err := w.command("approvals", "deny", open[0].ID).Run(); err == nil {
		t.Error("the family of a process that asked could answer")
	}
	w.end(syscall.SIGTERM)
	if got := <-answered; got != "" && got != no {
		t.Errorf("a host that ends answered %s", got)
	}
}

// TestForeignKeepsReading sends many frames on one connection without closing
// it, as a later client may.
func TestForeignKeepsReading(t *testing.T) {
	t.Parallel()
	_, f := foreignHost(t, foreignPolicy)
	nc, err := net.Dial("unix", f.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(patience))
	const many = 20
	want := map[string]string{}
	for i := range many {
		line := f.exec(foreignRequest("/bin/echo", strconv.Itoa(i)))
		var sent foreignAnswer
		if err := json.Unmarshal(line, &sent); err != nil {
			t.Fatal(err)
		}
		want[sent.ID] = fmt.Sprintln(i)
		if _, err := nc.Write(line); err != nil {
			t.Fatal(err)
		}
	}
	lines := bufio.NewScanner(nc)
	for len(want) > 0 && lines.Scan() {
		var got foreignAnswer
		if err := json.Unmarshal(lines.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		checkText(t, "stdout of "+got.ID, got.Payload["stdout"], want[got.ID])
		delete(want, got.ID)
	}
	if len(want) > 0 {
		t.Errorf("%d answers are missing: %v", len(want), lines.Err())
	}
}
