package approval

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// Policy is what holds for one agent, with every layer already applied.
type Policy struct {
	AgentID         string   `json:"agentId,omitempty"`
	Security        Security `json:"security,omitempty"`
	Ask             Ask      `json:"ask,omitempty"`
	AskFallback     Security `json:"askFallback,omitempty"`
	AutoAllowSkills bool     `json:"autoAllowSkills,omitempty"`
	Presence        Presence `json:"presence,omitempty"`
	// Origins tells for each of "security", "ask", "askFallback",
	// "autoAllowSkills" and "presence" where its value comes from, such as
	// "agents.main.security"; empty means built in.
	Origins map[string]string `json:"origins,omitempty"`
	// Allowlist holds the entries of "*" and then those of the agent.
	Allowlist []Entry `json:"allowlist,omitempty"`
	// Denylist wins over everything.
	Denylist           []DenyRule `json:"denylist,omitempty"`
	SafeBins           []string   `json:"safeBins,omitempty"`
	SafeBinTrustedDirs []string   `json:"safeBinTrustedDirs,omitempty"`
	// SafeBinProfiles are what the person says of filters that we know nothing of.
	SafeBinProfiles map[string]SafeBinProfile `json:"safeBinProfiles,omitempty"`
	Skills          []Skill                   `json:"skills,omitempty"`
	// Tools are the layers of what holds for tool calls, and Charters the names
	// of those that hold for the agent.
	Tools    []ToolLayer  `json:"tools,omitempty"`
	Charters []CharterRef `json:"charters,omitempty"`
	// Confirm are commands that are asked about each time, whatever lets them
	// pass.
	Confirm []DenyRule `json:"confirm,omitempty"`
	// Approvers are those whom a question goes to in their order; none for the
	// person here alone. At their end askFallback decides.
	Approvers []Approver `json:"approvers,omitempty"`
	// Projects are what a person said of folders: which of them are projects.
	Projects []Project `json:"projects,omitempty"`
	// Broken says why the file could not be read. Everything is denied then.
	Broken string `json:"broken,omitempty"`
	// Own is what holds without what others add, where nobody is asked under it:
	// what it denies stays denied, whatever they want asked. Else nil.
	Own *Policy `json:"-"`
}

// Listing is the policy with another allowlist.
func (p Policy) Listing(list []Entry) Policy {
	p.Allowlist = list
	if p.Own != nil {
		own := p.Own.Listing(list)
		p.Own = &own
	}
	return p
}

// Entry is one remembered permission: a pattern, and what narrows it. The
// JSON names are those of exec-approvals.json.
type Entry struct {
	ID         string   `json:"id,omitempty"`
	Pattern    string   `json:"pattern"`
	Source     string   `json:"source,omitempty"`
	ArgPattern string   `json:"argPattern,omitempty"`
	Args       []string `json:"args,omitempty"`
	ArgsExact  bool     `json:"argsExact,omitempty"`
	Cwd        string   `json:"cwd,omitempty"`
	// Env are the variables that a program may be given under this entry, each
	// with its values; AnyValue stands for any.
	Env map[string][]string `json:"env,omitempty"`
	// Allows are effects that ask, and that it covers.
	Allows []Allowed `json:"allows,omitempty"`
	// Hosts are those of AllowNetworkReads, in small letters, with a port if it is not
	// that of the scheme; Input the SHA-256 of the input of AllowThisCode.
	Hosts []string `json:"hosts,omitempty"`
	Input string   `json:"input,omitempty"`
	// When narrows an entry for a tool: dotted names of arguments, each with a
	// pattern for its whole value, in which * stands for any text.
	When       map[string]string `json:"when,omitempty"`
	ExpiresAt  int64             `json:"expiresAt,omitempty"` // unix milliseconds
	UsesLeft   *int              `json:"usesLeft,omitempty"`
	SessionKey string            `json:"sessionKey,omitempty"`
	Identity   []Identity        `json:"identity,omitempty"`
	// Interpreters are what was seen to interpret the scripts among them. An
	// entry covers none of these.
	Interpreters []Identity `json:"interpreters,omitempty"`
	// Links are where links led that programs were found through, by a bare name
	// or by the first line of a script, and that more than root can change.
	Links           []Link `json:"links,omitempty"`
	RequireIdentity string `json:"requireIdentity,omitempty"` // "sha256" or "signer"
	Disabled        bool   `json:"disabled,omitempty"`
	Note            string `json:"note,omitempty"`
	AddedAt         int64  `json:"addedAt,omitempty"` // unix milliseconds
	AddedBy         string `json:"addedBy,omitempty"`
	// AddedFor is the run id of the request whose answer wrote it; of the one that
	// led, where agents that asked the same were answered at once.
	AddedFor         string `json:"addedFor,omitempty"`
	LastUsedAt       int64  `json:"lastUsedAt,omitempty"` // unix milliseconds
	LastUsedCommand  string `json:"lastUsedCommand,omitempty"`
	LastResolvedPath string `json:"lastResolvedPath,omitempty"`
}

// AnyValue in Entry.Env stands for any value. Nothing writes it but a person.
const AnyValue = "*"

// Carries says which variables an entry carries, each with its value as quote writes
// it.
func (e Entry) Carries(quote func(string) string) (list []string) {
	for _, name := range slices.Sorted(maps.Keys(e.Env)) {
		for _, value := range e.Env[name] {
			if value == AnyValue {
				list = append(list, "any value of "+name)
				continue
			}
			list = append(list, quote(name+"="+value))
		}
	}
	return list
}

// Limits of Entry.Env: names, values of one, and bytes of a value.
const (
	MaxEnv       = 64
	MaxEnvValues = 64
	MaxEnvValue  = 4096
)

// Identity is what was seen under an entry's pattern.
type Identity struct {
	Path    string `json:"path"`
	Size    int64  `json:"size,omitempty"`
	MTime   int64  `json:"mtime,omitempty"` // unix milliseconds
	SHA256  string `json:"sha256,omitempty"`
	Signer  string `json:"signer,omitempty"`
	Version string `json:"version,omitempty"`
	// Interpreter is the path of what interpreted it, of a script.
	Interpreter string `json:"interpreter,omitempty"`
}

// Link is a path that led through a link, and the real path of the file.
type Link struct {
	Path   string `json:"path"`
	Target string `json:"target"`
}

// DenyRule refuses what its pattern matches, at any depth and in any case.
type DenyRule struct {
	Pattern string   `json:"pattern"`
	Args    []string `json:"args,omitempty"`
	// Anywhere lets Args stand anywhere among the words of a command and be
	// spelled in any way: as they mean it, not as they lie.
	Anywhere bool `json:"anywhere,omitempty"`
	// Escalate asks the next approver at once, of what is asked about.
	Escalate bool `json:"-"`
	// Charter is the name of the charter that it is of, "" for none.
	Charter string `json:"-"`
	Reason  string `json:"reason,omitempty"`
}

// SafeBinProfile says how a filter may be called that needs no entry: with no
// flag but these, and with so many words that are neither a flag nor a path.
// The JSON names are OpenClaw's.
type SafeBinProfile struct {
	MinPositional       int      `json:"minPositional,omitempty"`
	MaxPositional       int      `json:"maxPositional,omitempty"`
	AllowedValueFlags   []string `json:"allowedValueFlags,omitempty"`
	AllowedBooleanFlags []string `json:"allowedBooleanFlags,omitempty"`
	DeniedFlags         []string `json:"deniedFlags,omitempty"`
}

// CharterRef names a charter that holds for an agent, in the version that a
// person accepted, by the SHA-256 of its files.
type CharterRef struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// CharterSource marks the rules and entries that come of a charter.
func CharterSource(name string) string { return "charter " + name }

// Skill is a program of a skill. It runs without a question while its file is the
// one that a person accepted, by its SHA-256; without one nobody has yet.
type Skill struct {
	Name   string `json:"name"`
	Path   string `json:"path"`
	SHA256 string `json:"sha256,omitempty"`
}

// SkillMark begins the words for a skill, and its name follows: the Entry of a
// judgement that a skill is the reason of, and the id of what a yes for good writes
// to accept its file, which is no entry.
const SkillMark = "skill "

// AcceptsSkill returns the name of the skill whose file, which is its identity, a
// yes for good accepts by this, and false for an entry.
func (e Entry) AcceptsSkill() (name string, ok bool) { return strings.CutPrefix(e.ID, SkillMark) }

// Ended reports whether the entry's lease is over at this time.
func (e Entry) Ended(now time.Time) bool {
	if ends := e.Ends(); ends != 0 && now.UnixMilli() >= ends {
		return true
	}
	return e.UsesLeft != nil && *e.UsesLeft <= 0
}

// Judgement is a verdict with everything that explains it.
type Judgement struct {
	Verdict Verdict `json:"verdict"`
	Finding
	// Segments holds one answer for each segment of the plan.
	Segments []SegmentJudgement `json:"segments"`
	// Security and Ask are what held when this was judged.
	Security Security `json:"security"`
	Ask      Ask      `json:"ask"`
	// Risk says how much is at stake if it runs.
	Risk Weighed `json:"risk"`
	// Choices are the decisions that a person may give.
	Choices []Decision `json:"choices,omitempty"`
	// Writes are the entries that allow-always would write.
	Writes []Entry `json:"writes,omitempty"`
	// Offers are narrower and wider ways to remember a yes, from the narrowest
	// on; none where Writes only accepts what changed under other entries.
	Offers []Offer `json:"offers,omitempty"`
	// StillAsks are the reasons for which the same request would ask again whatever
	// is remembered; none where the offers end the question.
	StillAsks []Finding `json:"stillAsks,omitempty"`
	// Escalate tells that the next approver is asked at once.
	Escalate bool `json:"-"`
	// Whole tells that something speaks against the request that is about none of
	// its segments: a part of it alone may not pass either.
	Whole bool `json:"-"`
}

// SegmentJudgement is the verdict on one segment.
type SegmentJudgement struct {
	Verdict Verdict `json:"verdict"`
	Finding
	// Entry is the pattern of the entry or rule, or the safe bin, that decided.
	Entry string `json:"entry,omitempty"`
	// EntryID is the id of the allowlist entry that let it pass, or that would
	// if its files were those that were recorded. Counted tells that the entry
	// allows a number of uses only.
	EntryID string `json:"-"`
	Counted bool   `json:"-"`
	// Escalate tells that a charter has the next approver asked at once.
	Escalate bool `json:"-"`
	// Learn are the files of which the entry holds no record, or another one.
	Learn []Seen `json:"-"`
	// Skill is the name of the skill whose file it asks to be accepted, "" for none.
	Skill string `json:"-"`
}

// Seen is a file that runs under an entry and is to be recorded there.
type Seen struct {
	File File
	// Was is the SHA-256 that the entry holds for its path, "" for none.
	Was string
	// Interprets tells that it interprets the program and is not covered itself.
	Interprets bool
	// By is the path of what interprets it, of a script.
	By string
	// Link is the path that led to it through a link, and is to be recorded; else
	// empty.
	Link string
}
