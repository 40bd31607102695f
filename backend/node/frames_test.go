//go:build linux || darwin

package node

import (
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// script is a gateway that knows nothing of our own frames: it sends the texts
// of the protocol of OpenClaw and looks at what comes back.
type script struct {
	*testing.T
	*websocket.Conn
	early []map[string]any // frames that came and were not asked for yet
}

// say sends one frame as it is written.
func (s *script) say(frame string) {
	s.Helper()
	if err := s.Write(s.Context(), websocket.MessageText, []byte(frame)); err != nil {
		s.Error(err)
	}
}

// hear waits for the frame that this is about.
func (s *script) hear(about string, is func(frame map[string]any) bool) map[string]any {
	s.Helper()
	for i, f := range s.early {
		if is(f) {
			s.early = append(s.early[:i:i], s.early[i+1:]...)
			return f
		}
	}
	for {
		_, text, err := s.Read(s.Context())
		if err != nil {
			s.Errorf("%s does not come: %v", about, err)
			return map[string]any{}
		}
		var f map[string]any
		if err := json.Unmarshal(text, &f); err != nil {
			s.Errorf("%s: %v", text, err)
		}
		if is(f) {
			return f
		}
		s.early = append(s.early, f)
	}
}

func requests(method string) func(map[string]any) bool {
	return func(f map[string]any) bool { return f["type"] == "req" && f["method"] == method }
}

func object(f map[string]any, names ...string) map[string]any {
	for _, n := range names {
		f, _ = f[n].(map[string]any)
	}
	return f
}

// result waits for the result of an invocation and acknowledges it.
func (s *script) result(id string) map[string]any {
	s.Helper()
	f := s.hear("the result of "+id, func(f map[string]any) bool {
		return requests("node.invoke.result")(f) && object(f, "params")["id"] == id
	})
	s.say(fmt.Sprintf(`{"type":"res","id":%q,"ok":true,"payload":{"ok":true}}`, f["id"]))
	return object(f, "params")
}

// TestFrames plays a gateway from written frames, with clocks that are 30
// seconds apart, and frames that come twice, too early, or for nobody.
func TestFrames(t *testing.T) {
	for _, skew := range []time.Duration{0, 30 * time.Second, -30 * time.Second} {
		t.Run(fmt.Sprint(skew), func(t *testing.T) {
			played, joined := make(chan struct{}), atomic.Bool{}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				conn, err := websocket.Accept(w, r, nil)
				if err != nil {
					return
				}
				defer conn.CloseNow()
				if joined.Swap(true) {
					return // it came back after the script
				}
				conn.SetReadLimit(1 << 20)
				play(&script{T: t, Conn: conn}, time.Now().Add(skew).UnixMilli())
				close(played)
			}))
			t.Cleanup(server.Close)
			m := newMachine(t, &gateway{http: server}, "/usr/bin/printf", "/bin/printf", "/usr/bin/sleep", "/bin/sleep")
			n, err := New(m.opt)
			must(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			over := make(chan error, 1)
			go func() { over <- n.Run(ctx) }()
			defer func() {
				cancel()
				must(t, <-over)
			}()
			select {
			case <-played:
			case <-time.After(patience):
				t.Fatal("the script does not end")
			}
		})
	}
}

func play(s *script, now int64) {
	s.say(fmt.Sprintf(`{"type":"event","event":"connect.challenge","payload":{"nonce":"the-nonce","ts":%d}}`, now))
	connect := s.hear("connect", requests("connect"))
	if problem := signed(object(connect, "params"), now); problem != "" {
		s.Error(problem)
	}
	s.say(fmt.Sprintf(`{"type":"res","id":%q,"ok":true,"payload":{"type":"hello-ok","protocol":4,"server":{"version":"2026.9.6","connId":"c"},"features":{"methods":[],"events":[]},
		"auth":{"deviceToken":"given","role":"node","scopes":[]},"policy":{"maxPayload":26214400,"tickIntervalMs":30000}}}`, connect["id"]))
	// What is for nobody, in any order: nothing comes of it.
	for _, frame := range []string{
		`{"type":"event","event":"tick","payload":{"ts":1},"seq":9}`, `{"type":"event","event":"tick","payload":{"ts":1},"seq":3}`,
		`{"type":"event","event":"no.such.event","payload":[]}`, `{"type":"res","id":"never-asked","ok":true,"payload":{}}`,
		`{"type":"event","event":"node.invoke.cancel","payload":{"invokeId":"late","nodeId":"x"}}`, `{"type":"event","event":"node.invoke.cancel","payload":7}`,
		`{"type":"event","event":"node.invoke.request","payload":"x"}`, `{"type":"event","event":"node.invoke.request","payload":{"command":"system.run"}}`,
	} {
		s.say(frame)
	}
	me := object(connect, "params", "device")["id"]
	invoke := func(id, words string) {
		params, _ := json.Marshal(`{"command":[` + words + `],"agentId":"main","sessionKey":"agent:main:main","runId":"run-` + id + `"}`)
		s.say(fmt.Sprintf(`{"type":"event","event":"node.invoke.request","payload":{"id":%q,"nodeId":%q,"command":"system.run","paramsJSON":%s,"timeoutMs":60000,"idempotencyKey":%q}}`, id, me, params, id))
	}
	// A cancellation that came before its request cancels nothing.
	invoke("late", `"printf","late"`)
	if got := s.result("late"); got["ok"] != true || !strings.Contains(fmt.Sprint(got["payloadJSON"], got["payload"]), "late") {
		s.Errorf("%v", got)
	}
	// The first of two is slow, and the second one's answer comes before.
	invoke("slow", `"sleep","1000"`)
	invoke("slow", `"sleep","1000"`) // the same again is not run again
	invoke("quick", `"printf","quick"`)
	if got := s.result("quick"); got["ok"] != true {
		s.Errorf("%v", got)
	}
	s.say(`{"type":"event","event":"node.invoke.cancel","payload":{"invokeId":"slow","nodeId":"x"}}`)
	s.say(`{"type":"event","event":"node.invoke.cancel","payload":{"invokeId":"slow","nodeId":"x"}}`)
	for range 2 { // the end of the one that ran, and the refusal of the other
		if got := s.result("slow"); got["ok"] == true && !strings.Contains(fmt.Sprint(got["payloadJSON"], got["payload"]), "signal") {
			s.Errorf("%v", got)
		}
	}
	s.say(`{"type":"event","event":"node.invoke.request","payload":{"id":"other","nodeId":"x","command":"system.run","paramsJSON":"{\"command\":[\"printf\",\"x\"]}"}}`)
	if got := s.result("other"); got["ok"] == true || !strings.Contains(fmt.Sprint(got["error"]), "for another node") {
		s.Errorf("%v", got)
	}
	invoke("after", `"printf","after"`)
	if got := s.result("after"); got["ok"] != true {
		s.Errorf("%v", got)
	}
}

// signed checks the device of a connect by the words of the protocol notes,
// with none of our own code.
func signed(p map[string]any, now int64) string {
	device, client := object(p, "device"), object(p, "client")
	key, err := base64.RawURLEncoding.DecodeString(fmt.Sprint(device["publicKey"]))
	if err != nil || len(key) != ed25519.PublicKeySize {
		return fmt.Sprint("the key cannot be read: ", device)
	}
	if sum := sha256.Sum256(key); device["id"] != hex.EncodeToString(sum[:]) {
		return "the id is not that of the key"
	}
	if signedAt, _ := device["signedAt"].(float64); int64(signedAt) != now || device["nonce"] != "the-nonce" {
		return fmt.Sprint("it was signed for another challenge: ", device)
	}
	text := strings.Join([]string{"v3", fmt.Sprint(device["id"]), fmt.Sprint(client["id"]), fmt.Sprint(client["mode"]), fmt.Sprint(p["role"]), "", fmt.Sprint(now),
		fmt.Sprint(object(p, "auth")["token"]), "the-nonce", strings.ToLower(fmt.Sprint(client["platform"])), strings.ToLower(fmt.Sprint(client["deviceFamily"]))}, "|")
	signature, err := base64.RawURLEncoding.DecodeString(fmt.Sprint(device["signature"]))
	if err != nil || !ed25519.Verify(key, []byte(text), signature) {
		return "the signature is not of " + text
	}
	return ""
}
