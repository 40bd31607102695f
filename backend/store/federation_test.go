package store

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/countersign-app/countersign/backend/approval"
)

// signer makes the key of a gateway, and what people write in policyFrom.
func signer(t *testing.T) (ed25519.PrivateKey, string) {
	t.Helper()
	public, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	return key, base64.RawURLEncoding.EncodeToString(public)
}

func sign(t *testing.T, key ed25519.PrivateKey, serial int64, members ...string) SignedPolicy {
	t.Helper()
	p, err := SignPolicy(key, serial, []byte(`{"version": 1, `+strings.Join(members, ", ")+`}`))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestTighten joins what a person and a gateway say. The gateway's policy never
// lets anything pass, and lets nobody be asked, that the person's does not.
func TestTighten(t *testing.T) {
	key, public := signer(t)
	for _, c := range []struct{ name, own, gateway, want string }{
		{"nothing", `"security": "full", "ask": "off"`, ``, "full/off/deny and off"},
		{"deny", `"security": "full", "ask": "off"`, `"security": "deny"`, "deny/off/deny and off"},
		{"looser", `"security": "deny", "ask": "always"`, `"security": "allowlist", "ask": "on-miss"`, "deny/always/deny"},
		{"allow all is listed", `"security": "full", "ask": "off", "askFallback": "full"`, `"security": "allowlist"`, "allowlist/off/allowlist and off"},
		{"allow all is asked", `"security": "full", "ask": "off", "askFallback": "full"`, `"ask": "always"`, "full/always/allowlist and off"},
		{"more questions", `"security": "allowlist", "ask": "on-miss"`, `"ask": "always"`, "allowlist/always/deny"},
		{"only listed stays", `"security": "allowlist", "ask": "off"`, `"ask": "on-miss"`, "allowlist/on-miss/deny and off"},
		{"only listed, and all asked", `"security": "allowlist", "ask": "off"`, `"ask": "always"`, "allowlist/always/deny and off"},
		{"fallback", `"security": "allowlist", "askFallback": "full"`, `"askFallback": "allowlist"`, "allowlist/on-miss/allowlist"},
		{"fallback not said", `"security": "allowlist", "askFallback": "full"`, `"ask": "on-miss"`, "allowlist/on-miss/allowlist"},
		{"presence", `"presence": "risky"`, `"presence": "always"`, "deny/on-miss/deny presence always"},
		{"less presence", `"presence": "always"`, `"presence": "never"`, "deny/on-miss/deny presence always"},
		{"skills", `"autoAllowSkills": true`, `"autoAllowSkills": false`, "deny/on-miss/deny"},
		{"skills stay", `"autoAllowSkills": true`, ``, "deny/on-miss/deny skills"},
		{"safe bins", `"safeBins": ["cut", "wc"]`, `"safeBins": ["wc", "tr"]`, "deny/on-miss/deny bins wc"},
		{"denylist", `"denylist": ["/bin/x"]`, `"denylist": ["rm"]`, "deny/on-miss/deny denies /bin/x rm (the policy of home:1)"},
	} {
		s := openWith(t, doc(`"defaults": {`+c.own+`}`, `"policyFrom": [{"gateway": "home:1", "key": "`+public+`"}]`))
		if err := s.Federate(sign(t, key, 5, `"defaults": {`+c.gateway+`}`)); err != nil {
			t.Fatal(c.name, err)
		}
		p := s.Snapshot().Policy("nobody knows it")
		got := string(p.Security) + "/" + string(p.Ask) + "/" + string(p.AskFallback)
		if p.Own != nil { // what this denies stays denied
			got += " and " + string(p.Own.Ask)
			for field, origin := range p.Own.Origins {
				if strings.Contains(origin, "home:1") {
					t.Errorf("%s: %s of the person is from %s", c.name, field, origin)
				}
			}
		}
		if p.Presence != "" && p.Presence != approval.PresenceNever {
			got += " presence " + string(p.Presence)
		}
		if p.AutoAllowSkills {
			got += " skills"
		}
		if len(p.SafeBins) < 6 {
			got += " bins " + strings.Join(p.SafeBins, " ")
		}
		if p.Denylist != nil {
			got += " denies"
		}
		for _, d := range p.Denylist {
			got += " " + d.Pattern
			if d.Reason != "" {
				got += " (" + d.Reason + ")"
			}
		}
		if got != c.want || p.Broken != "" {
			t.Errorf("%s: %s, want %s %s", c.name, got, c.want, p.Broken)
		}
	}
}

// TestFederatedAgents finds what a gateway says of one agent, and leaves the
// entries as they are.
func TestFederatedAgents(t *testing.T) {
	key, public := signer(t)
	s := openWith(t, doc(`"defaults": {"security": "allowlist"}`, `"agents": {"main": {"allowlist": ["/bin/ls"]}}`,
		`"policyFrom": [{"gateway": "home:1", "key": "`+public+`"}]`))
	err := s.Federate(sign(t, key, 1, `"agents": {"*": {"ask": "always"}, "other": {"security": "deny"}}`,
		`"tools": {"deny": ["web_fetch"], "agents": {"third": {"rules": {"file_write": {"security": "deny"}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	main, other, third := s.Snapshot().Policy("main"), s.Snapshot().Policy("other"), s.Snapshot().Policy("third")
	if main.Security != approval.SecurityList || main.Ask != approval.AskAlways || len(main.Allowlist) != 1 || len(main.Tools) != 1 ||
		main.Origins["ask"] != "the policy of home:1, agents.*.ask" || main.Tools[0].Origin != "the policy of home:1, tools" {
		t.Errorf("%+v", main)
	}
	if other.Security != approval.SecurityDeny || third.Security != approval.SecurityList || len(third.Tools) != 2 {
		t.Errorf("%+v\n%+v", other, third)
	}
}

// TestFederate takes policies in the order of their serials, of keys that the
// person named, and keeps them over a restart.
func TestFederate(t *testing.T) {
	key, public := signer(t)
	stranger, _ := signer(t)
	dir := stateDir(t)
	write(t, dir, doc(`"defaults": {"security": "full"}`, `"policyFrom": [{"gateway": "home:1", "key": "`+public+`"}]`))
	s := open(t, options(dir))
	security := func(s *Store) approval.Security { return s.Snapshot().Policy("main").Security }
	if p := s.Snapshot().Policy("main"); p.Security != approval.SecurityDeny || !strings.Contains(p.Broken, "policy of home:1") {
		t.Errorf("before it came: %+v", p)
	}
	first := sign(t, key, 10, `"defaults": {"denylist": ["rm"]}`)
	if err := s.Federate(first); err != nil || security(s) != approval.SecurityFull || len(s.Snapshot().Policy("main").Denylist) != 1 {
		t.Fatal(err, security(s))
	}
	generation := s.Snapshot().Generation
	forged, otherKey, otherSerial, cut := first, first, first, first
	forged.Policy = []byte(strings.Replace(string(first.Policy), "rm", "xx", 1))
	otherKey.Key = sign(t, stranger, 1, `"defaults": {}`).Key
	otherSerial.Serial = 11
	cut.Signature = cut.Signature[:20]
	for name, row := range map[string]struct {
		p    SignedPolicy
		want string
	}{
		"forged":        {forged, "signature"},
		"another key":   {otherKey, "signature"},
		"other serial":  {otherSerial, "signature"},
		"no signature":  {cut, "signature"},
		"no key":        {SignedPolicy{Policy: first.Policy, Serial: 10}, "key"},
		"a stranger's":  {sign(t, stranger, 99, `"defaults": {}`), ErrNotFollowed.Error()},
		"older":         {sign(t, key, 9, `"defaults": {}`), "older"},
		"two of one":    {sign(t, key, 10, `"defaults": {}`), "two policies"},
		"the same":      {first, ""},
		"much too long": {SignedPolicy{Policy: make([]byte, maxSigned+1), Key: public}, "longer"},
	} {
		err := s.Federate(row.p)
		if (err == nil) != (row.want == "") || err != nil && !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", name, err, row.want)
		}
	}
	if s.Snapshot().Generation != generation || len(s.Snapshot().Policy("main").Denylist) != 1 {
		t.Error("what was refused changed something")
	}
	if err := s.Federate(sign(t, key, 20, `"defaults": {"security": "allowlist"}`)); err != nil || security(s) != approval.SecurityList {
		t.Fatal(err, security(s))
	}
	if got := s.Snapshot().Document.Sources(); len(got) != 1 || got[0].Serial != 20 {
		t.Errorf("%+v", got)
	}
	s.Close()

	kept, path := read(t, options(dir).State.Federated()), options(dir).State.Federated()
	restart := func(text string) *Store {
		t.Helper()
		if text == "" {
			os.Remove(path)
		} else if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return open(t, options(dir))
	}
	old, _ := json.Marshal([]SignedPolicy{first})
	for name, row := range map[string]struct {
		text string
		want approval.Security
	}{
		"as it was":       {kept, approval.SecurityList},
		"gone":            {"", approval.SecurityDeny},
		"garbage":         {"{", approval.SecurityDeny},
		"the one before":  {string(old), approval.SecurityDeny},
		"changed":         {strings.Replace(kept, `"serial":20`, `"serial":21`, 1), approval.SecurityDeny},
		"and as it was":   {kept, approval.SecurityList},
		"with a stranger": {strings.Replace(kept, "]", `,{"policy":"e30=","serial":1,"key":"x","signature":"y"}]`, 1), approval.SecurityList},
	} {
		s := restart(row.text)
		if got := security(s); got != row.want {
			t.Errorf("%s: %s, want %s", name, got, row.want)
		}
		s.Close()
	}
}

// TestFollow adds gateways freely, and takes none away unasked.
func TestFollow(t *testing.T) {
	_, public := signer(t)
	_, second := signer(t)
	source := func(gateway, key string, more string) string {
		return `"policyFrom": [{"gateway": "` + gateway + `", "key": "` + key + `"` + more + `}]`
	}
	for _, c := range []struct{ name, old, new, want string }{
		{"added", doc(), doc(source("home:1", public, "")), ""},
		{"gone", doc(source("home:1", public, "")), doc(), "home:1 holds no more"},
		{"another key", doc(source("home:1", public, "")), doc(source("home:1", second, "")), "holds no more"},
		{"newer", doc(source("home:1", public, "")), doc(source("home:1", public, `, "serial": 5`)), ""},
		{"older", doc(source("home:1", public, `, "serial": 5`)), doc(source("home:1", public, `, "serial": 4`)), "an older one may"},
		{"renamed", doc(source("home:1", public, "")), doc(source("other:2", public, "")), ""},
	} {
		got := strings.Join(Loosens(parse(t, c.old), parse(t, c.new)), "; ")
		if (got == "") != (c.want == "") || !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	for _, bad := range []string{
		`"policyFrom": {}`, `"policyFrom": [{}]`, `"policyFrom": [null]`, source("", public, ""), source("a b", public, ""), source("home:1", "AAAA", ""),
		source("home:1", public, `, "serial": -1`), source("home:1", public, `, "x": 1`), source("home:1", public+"=", ""),
		`"policyFrom": [{"gateway": "a", "key": "` + public + `"}, {"gateway": "b", "key": "` + public + `"}]`,
	} {
		if _, err := Parse("f", []byte(doc(bad)), home); err == nil {
			t.Errorf("%s is taken", bad)
		}
	}

	d := parse(t, doc())
	if err := errors.Join(d.Follow(PolicySource{"home:1", public, 0}), d.Follow(PolicySource{"home:1", public, 7}), d.Follow(PolicySource{"home:1", public, 3})); err != nil {
		t.Fatal(err)
	}
	if got := d.Sources(); len(got) != 1 || got[0].Serial != 7 {
		t.Errorf("%+v", got)
	}
	if err := d.Unfollow("other:2"); err == nil {
		t.Error("who is not followed is taken out")
	}
	if err := d.Unfollow("home:1"); err != nil || d.Extra["policyFrom"] != nil {
		t.Error(err, d.Extra)
	}
}

// TestHeldFollow keeps to a gateway while an edit waits that takes it out.
func TestHeldFollow(t *testing.T) {
	key, public := signer(t)
	dir := stateDir(t)
	write(t, dir, doc(`"defaults": {"security": "full"}`, `"policyFrom": [{"gateway": "home:1", "key": "`+public+`"}]`))
	s := open(t, options(dir))
	if err := s.Federate(sign(t, key, 1, `"defaults": {"ask": "always"}`)); err != nil {
		t.Fatal(err)
	}
	write(t, dir, doc(`"defaults": {"security": "full"}`))
	if now := s.Current(); now.Held == nil || now.Policy("main").Ask != approval.AskAlways {
		t.Errorf("%+v %+v", now.Held, now.Policy("main"))
	}
	if err := s.Federate(sign(t, key, 2, `"defaults": {"security": "deny"}`)); err != nil {
		t.Error(err)
	}
	if p := s.Snapshot().Policy("main"); p.Security != approval.SecurityDeny {
		t.Errorf("the newer one does not hold: %+v", p)
	}
	if err := s.Reject(""); err != nil {
		t.Fatal(err)
	}
	if s.Snapshot().Document.Sources()[0].Serial != 2 {
		t.Errorf("%+v", s.Snapshot().Document.Sources())
	}
}

// TestHeldSerial takes no older policy after one that came while an edit waited,
// whatever became of the edit and of what was kept.
func TestHeldSerial(t *testing.T) {
	key, public := signer(t)
	with := func(more string) string {
		return doc(`"defaults": {"security": "full"`+more+`}`, `"policyFrom": [{"gateway": "home:1", "key": "`+public+`", "serial": 1}]`)
	}
	for name, end := range map[string]func(*Store) error{
		"waits":    func(*Store) error { return nil },
		"accepted": func(s *Store) error { return s.Accept(s.Current().Held.Hash) },
		"rejected": func(s *Store) error { return s.Reject("") },
	} {
		dir := stateDir(t)
		write(t, dir, with(""))
		s := open(t, options(dir))
		if err := s.Federate(sign(t, key, 1, `"defaults": {}`)); err != nil {
			t.Fatal(err)
		}
		old := read(t, options(dir).State.Federated())
		write(t, dir, with(`, "askFallback": "full"`))
		if s.Current().Held == nil {
			t.Fatal("nothing waits")
		}
		if err := errors.Join(s.Federate(sign(t, key, 2, `"defaults": {"security": "deny"}`)), end(s)); err != nil {
			t.Fatal(name, err)
		}
		s.Close()
		if err := os.WriteFile(options(dir).State.Federated(), []byte(old), 0o600); err != nil {
			t.Fatal(err)
		}
		s = open(t, options(dir))
		if p := s.Snapshot().Policy("main"); p.Security != approval.SecurityDeny || (s.Snapshot().Held != nil) != (name == "waits") {
			t.Errorf("%s: the older one holds: %+v", name, p)
		}
	}
}

// TestSignPolicy signs nothing that could loosen.
func TestSignPolicy(t *testing.T) {
	key, _ := signer(t)
	for _, bad := range []string{
		`"defaults": {"security": "full"}`, `"defaults": {"ask": "off"}`, `"defaults": {"askFallback": "full"}`, `"defaults": {"autoAllowSkills": true}`,
		`"defaults": {"safeBinTrustedDirs": ["/x"]}`, `"defaults": {"skillBins": []}`, `"defaults": {"safeBinProfiles": {}}`, `"defaults": {"whatever": 1}`,
		`"agents": {"main": {"allowlist": ["/bin/ls"]}}`, `"agents": {"main": {"acceptAnswersFrom": ["home:1"]}}`, `"agents": {"main": {"security": "full"}}`,
		`"agents": {"default": {"security": "full"}}`, `"agents": {"main": {"color": "red"}}`,
		`"tools": {"rules": {"file_write": {"security": "full"}}}`, `"tools": {"agents": {"main": {"rules": {"*": {"security": "full"}}}}}`,
		`"tools": {"sessions": {"x": {"rules": {"*": {"security": "full"}}}}}`,
		`"tools": {"rules": {"github/*": {"category": "read"}}}`, `"tools": {"sessions": {"x": {"rules": {"*": {"category": "admin"}}}}}`,
		`"agents": {"default": {"security": "deny"}}`, `"tools": {"agents": {"default": {"deny": ["file_read"]}}}`,
		`"charters": {}`, `"approvers": []`, `"policyFrom": []`, `"socket": {"path": "/x"}`, `"unknown": 1`, `"defaults": {"denylist": [""]}`, `"defaults": 1`, `"defaults": {`,
	} {
		if _, err := SignPolicy(key, 1, []byte(`{"version": 1, `+bad+`}`)); err == nil {
			t.Errorf("%s is signed", bad)
		}
	}
	good := sign(t, key, 1, `"defaults": {"security": "allowlist", "ask": "always", "askFallback": "deny", "autoAllowSkills": false, "presence": "always", "safeBins": [], "denylist": ["rm"]}`,
		`"tools": {"allow": ["file_read"], "deny": ["web_fetch"], "rules": {"file_read": {"ask": "always", "security": "allowlist"}}}`)
	if _, err := good.Open(home); err != nil {
		t.Error(err)
	}
}

// FuzzSignedPolicy opens what comes from the network.
func FuzzSignedPolicy(f *testing.F) {
	_, key, _ := ed25519.GenerateKey(nil)
	p, _ := SignPolicy(key, 1, []byte(`{"version": 1}`))
	f.Add(p.Policy, p.Serial, p.Key, p.Signature)
	f.Fuzz(func(t *testing.T, text []byte, serial int64, public, signature string) {
		got := SignedPolicy{text, serial, public, signature}
		if _, err := got.Open(home); err == nil && (string(text) != string(p.Policy) || serial != p.Serial || public != p.Key) {
			t.Errorf("%+v is taken", got)
		}
		if signed, err := SignPolicy(key, serial, text); err == nil {
			if _, err := signed.Open(home); err != nil {
				t.Error(err)
			}
		}
	})
}
