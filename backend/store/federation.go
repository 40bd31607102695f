package store

import (
	"cmp"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
)

// PolicySource is a gateway whose signed policy holds here beside the person's
// own, as far as it tightens. It stands in "policyFrom". Nothing may run as long
// as nothing of it has come.
type PolicySource struct {
	Gateway string `json:"gateway"` // what people call it
	// Key is the public key that signs, of ed25519 in base64url.
	Key string `json:"key"`
	// Serial is that of the newest policy that came: no older one holds.
	Serial int64 `json:"serial,omitempty"`
}

// SignedPolicy is a policy on its way from who signed it.
type SignedPolicy struct {
	// Policy is the text of a document that says nothing but what tightens.
	Policy []byte `json:"policy"`
	// Serial is larger than that of every one before: unix milliseconds.
	Serial    int64  `json:"serial"`
	Key       string `json:"key"`
	Signature string `json:"signature"`
}

// Bounds of what is signed and of who signs.
const (
	maxSigned  = 128 << 10 // bytes; on the local socket it is half as long again
	maxSources = 4
)

// ErrNotFollowed says that nobody here wants the policies of a key.
var ErrNotFollowed = errors.New("no policyFrom of this machine names the key that signed the policy")

// SignPolicy signs the text of a policy that is to hold on other machines. What
// could loosen anything there is an error.
func SignPolicy(key ed25519.PrivateKey, serial int64, text []byte) (SignedPolicy, error) {
	public, _ := key.Public().(ed25519.PublicKey)
	p := SignedPolicy{Policy: text, Serial: serial, Key: base64.RawURLEncoding.EncodeToString(public)}
	p.Signature = base64.RawURLEncoding.EncodeToString(ed25519.Sign(key, p.signed()))
	_, err := p.Open("/")
	return p, err
}

func (p SignedPolicy) signed() []byte {
	return slices.Concat([]byte("countersign policy "+strconv.FormatInt(p.Serial, 10)+"\n"), p.Policy)
}

// Open checks the signature, and reads what was signed. home is what ~ stands
// for.
func (p SignedPolicy) Open(home string) (*Document, error) {
	if len(p.Policy) > maxSigned {
		return nil, fmt.Errorf("the policy is longer than %d bytes", maxSigned)
	}
	key, err := publicKey(p.Key)
	if err != nil {
		return nil, err
	}
	signature, err := base64.RawURLEncoding.DecodeString(p.Signature)
	if err != nil || !ed25519.Verify(key, p.signed(), signature) {
		return nil, errors.New("the signature of the policy is not that of its key")
	}
	doc, err := Parse("policy", p.Policy, home)
	if err != nil {
		return nil, err
	}
	var named struct {
		Agents map[string]json.RawMessage `json:"agents"`
	}
	if err := json.Unmarshal(p.Policy, &named); err != nil || named.Agents[legacyAgent] != nil {
		return nil, fmt.Errorf("a policy for others calls the agent %q %q", legacyAgent, mainAgent)
	}
	return doc, doc.onlyTightens(home)
}

func publicKey(text string) (ed25519.PublicKey, error) {
	key, err := base64.RawURLEncoding.Strict().DecodeString(text)
	if err != nil || len(key) != ed25519.PublicKeySize {
		return nil, errors.New("a key is 32 bytes in base64url")
	}
	return key, nil
}

// onlyTightens refuses what has no business in a policy for other machines.
func (d *Document) onlyTightens(home string) error {
	if d.Socket.Path != "" || d.Socket.Token != "" || d.Socket.Extra != nil {
		return errors.New("a socket is for one machine")
	}
	if d.Projects != nil {
		return errors.New("projects are folders of one machine")
	}
	for key := range d.Extra {
		if key != "tools" {
			return fmt.Errorf("%q cannot tighten: a policy for others has defaults, agents and tools", key)
		}
	}
	if err := d.Defaults.onlyTighten(); err != nil {
		return fmt.Errorf("defaults: %w", err)
	}
	for id, agent := range d.Agents {
		if err := agent.Rules.onlyTighten(); err != nil {
			return fmt.Errorf("agents.%s: %w", plain(id), err)
		}
		if agent.Allowlist != nil || agent.AcceptAnswersFrom != nil || agent.DisplayName != "" || agent.Color != "" {
			return fmt.Errorf("agents.%s: a policy for others has no allowlist, acceptAnswersFrom, displayName and color", plain(id))
		}
	}
	tools, err := toolsOf(d.Extra, home)
	if err != nil {
		return err
	}
	if _, ok := tools.Agents[legacyAgent]; ok {
		return fmt.Errorf("tools: a policy for others calls the agent %q %q", legacyAgent, mainAgent)
	}
	for _, layer := range slices.Concat([]approval.ToolLayer{tools.ToolLayer}, slices.Collect(maps.Values(tools.Agents)), slices.Collect(maps.Values(tools.Sessions))) {
		for name, rule := range layer.Rules {
			switch {
			case rule.Security == approval.SecurityFull:
				return fmt.Errorf("tools: full of %s cannot tighten", plain(name))
			case rule.Category != approval.CategoryUnset: // one may make a tool look harmless
				return fmt.Errorf("tools: the category of %s cannot tighten: say risk", plain(name))
			}
		}
	}
	return nil
}

func (r *Rules) onlyTighten() error {
	switch {
	case r.Security == approval.SecurityFull, r.AskFallback == approval.SecurityFull:
		return errors.New("full cannot tighten")
	case r.Ask == approval.AskOff:
		return errors.New("ask=off cannot tighten: say security=deny")
	case r.AutoAllowSkills != nil && *r.AutoAllowSkills:
		return errors.New("autoAllowSkills cannot tighten")
	case r.SafeBinTrustedDirs != nil, r.SkillBins != nil:
		return errors.New("safeBinTrustedDirs and skillBins cannot tighten")
	case len(r.Extra) > 0:
		return fmt.Errorf("%q cannot tighten", slices.Sorted(maps.Keys(r.Extra))[0])
	}
	return nil
}

// sourcesOf reads "policyFrom".
func sourcesOf(extra Extra) (list []PolicySource, err error) {
	text, ok := extra["policyFrom"]
	if !ok {
		return nil, nil
	}
	if err := strictly(text, &list); err != nil {
		return nil, err
	}
	if len(list) > maxSources {
		return nil, fmt.Errorf("there are more than %d gateways", maxSources)
	}
	for i, s := range list {
		if err := checkSource(s); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(list[:i], func(o PolicySource) bool { return o.Key == s.Key }) {
			return nil, errors.New("a key is there twice")
		}
	}
	return list, nil
}

func checkSource(s PolicySource) error {
	if s.Gateway == "" || len(s.Gateway) > maxToolName || strings.ContainsFunc(s.Gateway, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return errors.New("a gateway needs a name, such as HOST:PORT")
	}
	if s.Serial < 0 {
		return errors.New("a serial cannot be less than 0")
	}
	_, err := publicKey(s.Key)
	return err
}

// Sources are the gateways whose policies hold here too.
func (d *Document) Sources() []PolicySource {
	list, _ := sourcesOf(d.Extra) // it was read when the file was
	return list
}

// Follow has the policies of a gateway hold here too.
func (d *Document) Follow(s PolicySource) error {
	if err := checkSource(s); err != nil {
		return err
	}
	list := d.Sources()
	if i := slices.IndexFunc(list, func(o PolicySource) bool { return o.Key == s.Key }); i >= 0 {
		list[i].Gateway, list[i].Serial = s.Gateway, max(s.Serial, list[i].Serial)
	} else {
		list = append(list, s)
	}
	return d.setSources(list)
}

// Unfollow takes the policies of the gateways with this name back.
func (d *Document) Unfollow(gateway string) error {
	list := d.Sources()
	rest := slices.DeleteFunc(slices.Clone(list), func(s PolicySource) bool { return s.Gateway == gateway })
	if len(rest) == len(list) {
		return fmt.Errorf("no policy of %s holds here", plain(gateway))
	}
	return d.setSources(rest)
}

func (d *Document) setSources(list []PolicySource) error {
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	extra := maps.Clone(d.Extra)
	if extra == nil {
		extra = Extra{}
	}
	extra["policyFrom"] = text
	if _, err := sourcesOf(extra); err != nil {
		return err
	}
	if len(list) == 0 {
		delete(extra, "policyFrom")
	}
	d.Extra = extra
	return nil
}

// tighten adds to what holds for an agent what another document says, which
// permits nothing. It may have more asked about: view.follow keeps to what an
// ask=off of the person denies (approval.Policy.Own).
func tighten(p approval.Policy, whose string, d *Document, home string) approval.Policy {
	layers := d.layers(p.AgentID)
	p.Origins = maps.Clone(p.Origins) // those of the person's own stay as they are
	from := func(field, origin string) { p.Origins[field] = whose + ", " + origin }
	security, at := first(layers, "security", "", func(r *Rules) approval.Security { return r.Security })
	ask, askAt := first(layers, "ask", "", func(r *Rules) approval.Ask { return r.Ask })
	fallback, fallbackAt := first(layers, "askFallback", "", func(r *Rules) approval.Security { return r.AskFallback })
	if (security != "" || ask != "") && fallback == "" { // full would run what is asked about here
		fallback, fallbackAt = approval.SecurityList, cmp.Or(at, askAt)
	}
	if now := approval.StricterSecurity(p.Security, security); now != p.Security {
		p.Security = now
		from("security", at)
	}
	if now := approval.StricterAsk(p.Ask, ask); now != p.Ask {
		p.Ask = now
		from("ask", askAt)
	}
	if now := approval.StricterSecurity(p.AskFallback, fallback); now != p.AskFallback {
		p.AskFallback = now
		from("askFallback", fallbackAt)
	}
	if skills, at := first(layers, "autoAllowSkills", nil, func(r *Rules) *bool { return r.AutoAllowSkills }); skills != nil && p.AutoAllowSkills {
		p.AutoAllowSkills = false
		from("autoAllowSkills", at)
	}
	presence, at := first(layers, "presence", "", func(r *Rules) approval.Presence { return r.Presence })
	if now := approval.StricterPresence(p.Presence, presence); now != p.Presence {
		p.Presence = now
		from("presence", at)
	}
	if bins := firstList(layers, nil, func(r *Rules) []string { return r.SafeBins }); bins != nil {
		p.SafeBins = common(p.SafeBins, bins)
	}
	p.Denylist = slices.Clone(p.Denylist)
	for _, l := range layers {
		for _, rule := range l.rules.Denylist {
			if rule.Reason == "" {
				rule.Reason = whose
			}
			p.Denylist = append(p.Denylist, rule)
		}
	}
	tools, _ := toolsOf(d.Extra, home) // they were read when it was opened
	p.Tools = slices.Clone(p.Tools)
	for _, layer := range tools.layers(p.AgentID) {
		layer.Origin = whose + ", " + layer.Origin
		p.Tools = append(p.Tools, layer)
	}
	return p
}
