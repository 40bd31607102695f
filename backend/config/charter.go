package config

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/toolnames"
)

// Charter says what the agents may do that it holds for: a file
// charters/NAME.json5. Its patterns name a tool ("file_write", "github/*",
// "group:fs") or the first words of a command ("git push --force").
type Charter struct {
	// AutoApprove lets pass, RequireConfirmation asks each time, AlwaysReject
	// denies, Escalate asks the next approver.
	AutoApprove         []string `json:"autoApprove"`
	RequireConfirmation []string `json:"requireConfirmation"`
	AlwaysReject        []string `json:"alwaysReject"`
	Escalate            []string `json:"escalate"`
	// Entries are allowed in every session that it holds for.
	Entries []approval.Entry `json:"entries"`
	// Parent is the name of a charter that holds as well.
	Parent string `json:"parent"`
}

// Bounds of charters.
const (
	maxCharter      = 1 << 20 // bytes
	maxCharterDepth = 8
	maxPatterns     = 1000 // of one list
)

// Charters reads the charters of a state folder.
type Charters struct{ Dir string }

// Read reads a charter with its parents, and names all that it read by one
// SHA-256: what a person accepts.
func (c Charters) Read(name string) (merged Charter, sum string, err error) {
	all := sha256.New()
	for depth := 0; name != ""; depth++ {
		if depth == maxCharterDepth {
			return Charter{}, "", fmt.Errorf("the charter %s has more than %d parents, or is one of its own", name, maxCharterDepth)
		}
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_") != "" {
			return Charter{}, "", fmt.Errorf("%q is no name of a charter", name)
		}
		text, err := readCharter(filepath.Join(c.Dir, name+".json5"))
		if err != nil {
			return Charter{}, "", fmt.Errorf("cannot read the charter %s: %w", name, err)
		}
		one, err := ParseCharter(name+".json5", text)
		if err != nil {
			return Charter{}, "", err
		}
		fmt.Fprintf(all, "%d\n%s", len(text), text)
		if depth == 0 {
			merged = one
		} else {
			merged = merged.Under(one)
		}
		name = one.Parent
	}
	return merged, hex.EncodeToString(all.Sum(nil)), nil
}

// Stamp is another one when a file of the folder is another one, or was written
// to. It does not say what is in them, and is never empty.
func (c Charters) Stamp() string {
	list, err := os.ReadDir(c.Dir)
	if err != nil {
		return err.Error()
	}
	var b strings.Builder
	fmt.Fprintln(&b, len(list))
	for _, file := range list {
		if info, err := file.Info(); err == nil {
			fmt.Fprintln(&b, file.Name(), info.Size(), info.ModTime().UnixNano(), info.Mode())
		}
	}
	return b.String()
}

// readCharter reads a file. What is put in its place cannot hang us.
func readCharter(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.New("it is no plain file")
	}
	text, err := io.ReadAll(io.LimitReader(f, maxCharter+1))
	if err == nil && len(text) > maxCharter {
		err = errors.New("it is larger than 1 MiB")
	}
	return text, err
}

// ParseCharter reads the text of a charter. A key that nobody knows, and an
// empty pattern, are errors: they may have been meant to forbid something.
func ParseCharter(name string, text []byte) (c Charter, err error) {
	bad := func(format string, args ...any) (Charter, error) {
		return Charter{}, fmt.Errorf("%s: %s", name, fmt.Sprintf(format, args...))
	}
	if !utf8.Valid(text) {
		return bad("is not UTF-8")
	}
	if text, err = toJSON(text); err != nil {
		return bad("is not JSON5: %v", err)
	}
	if err := checkCharterKeys(text); err != nil {
		return bad("%v", err)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		line := 1 + bytes.Count(text[:min(d.InputOffset(), int64(len(text)))], []byte("\n"))
		return bad("line %d: %v", line, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return bad("something follows the charter")
	}
	for key, list := range map[string][]string{"autoApprove": c.AutoApprove, "requireConfirmation": c.RequireConfirmation, "alwaysReject": c.AlwaysReject, "escalate": c.Escalate} {
		if len(list) > maxPatterns {
			return bad("%s has more than %d patterns", key, maxPatterns)
		}
		if slices.ContainsFunc(list, func(p string) bool { return strings.TrimSpace(p) == "" }) {
			return bad("%s holds an empty pattern", key)
		}
		for _, pattern := range list {
			if why := toolnames.NoTool(strings.TrimSpace(pattern), approval.ToolMark); why != "" {
				return bad("%q in %s %s", pattern, key, why)
			}
		}
	}
	return c, checkCharterEntries(name, c)
}

// checkCharterKeys refuses what a reader of JSON takes for something else than
// people do: a key that comes twice, in other case too, and null.
func checkCharterKeys(text []byte) error {
	all, err := readValue(json.NewDecoder(bytes.NewReader(text)), 0)
	if err != nil {
		return err
	}
	keys, ok := all.is.(object)
	if !ok {
		return errors.New("is no object")
	}
	for key := range keys {
		switch key {
		case "autoApprove", "requireConfirmation", "alwaysReject", "escalate", "entries", "parent":
		default:
			return fmt.Errorf("unknown field %q", key)
		}
	}
	return checkPlain(keys)
}

func checkPlain(v any) error {
	switch v := v.(type) {
	case nil:
		return errors.New("holds null, which means nothing here")
	case object:
		seen := map[string]bool{}
		for key, sub := range v {
			lower := strings.ToLower(key)
			if seen[lower] {
				return fmt.Errorf("the key %q comes twice", key)
			}
			seen[lower] = true
			if err := checkPlain(sub.is); err != nil {
				return err
			}
		}
	case []value:
		for _, sub := range v {
			if err := checkPlain(sub.is); err != nil {
				return err
			}
		}
	}
	return nil
}

func checkCharterEntries(name string, c Charter) error {
	for _, e := range c.Entries {
		if e.Pattern == "" {
			return fmt.Errorf("%s: an entry has no pattern", name)
		}
	}
	if strings.ContainsAny(c.Parent, `/\.`) {
		return fmt.Errorf("%s: %q is no name of a charter", name, c.Parent)
	}
	return nil
}

// Under returns what holds where both do: all that either forbids, and what both
// permit, of which the narrower counts. A list that one of them does not have says
// nothing.
func (c Charter) Under(parent Charter) Charter {
	c.RequireConfirmation = union(c.RequireConfirmation, parent.RequireConfirmation)
	c.AlwaysReject = union(c.AlwaysReject, parent.AlwaysReject)
	c.Escalate = union(c.Escalate, parent.Escalate)
	c.AutoApprove = both(c.AutoApprove, parent.AutoApprove, func(wide, narrow string) bool { return covers(permitOf(wide), permitOf(narrow)) })
	c.Entries = both(c.Entries, parent.Entries, covers)
	return c
}

func union(a, b []string) []string {
	list := slices.Concat(a, b)
	slices.Sort(list)
	return slices.Compact(list)
}

// On adds to a policy what the charter forbids. What it permits are entries, which
// a person accepts as others, see Permits. name is for people.
func (c Charter) On(p approval.Policy, name string) approval.Policy {
	layer := approval.ToolLayer{Origin: approval.CharterSource(name), Rules: map[string]approval.ToolRule{}}
	p.Denylist, p.Confirm = slices.Clone(p.Denylist), slices.Clone(p.Confirm)
	for _, pattern := range c.AlwaysReject {
		tool, command := charterPattern(pattern)
		if tool != "" {
			layer.Deny = append(layer.Deny, tool)
		}
		if command != nil {
			p.Denylist = append(p.Denylist, approval.DenyRule{Pattern: command[0], Args: command[1:], Anywhere: true, Charter: name})
		}
	}
	confirm := func(pattern string, escalate bool) {
		tool, command := charterPattern(pattern)
		if tool != "" {
			layer.Rules[tool] = approval.ToolRule{Ask: approval.AskAlways, Escalate: escalate}
		}
		if command != nil {
			p.Confirm = append(p.Confirm, approval.DenyRule{Pattern: command[0], Args: command[1:], Anywhere: true, Escalate: escalate, Charter: name})
		}
	}
	for _, pattern := range c.Escalate { // the first rule that fits a command counts
		confirm(pattern, true)
	}
	for _, pattern := range c.RequireConfirmation {
		if !slices.Contains(c.Escalate, pattern) {
			confirm(pattern, false)
		}
	}
	p.Tools = append(slices.Clone(p.Tools), layer)
	return p
}

// Permits are the entries that the charter asks for.
func (c Charter) Permits(name string) []approval.Entry {
	list := slices.Clone(c.Entries)
	for _, pattern := range c.AutoApprove {
		list = append(list, permitOf(pattern))
	}
	for i := range list {
		list[i].ID, list[i].Source = "", approval.CharterSource(name)
	}
	return list
}

// permitOf is the entry that a pattern of what is approved asks for.
func permitOf(pattern string) approval.Entry {
	tool, command := charterPattern(pattern)
	if tool != "" && (command == nil || known(tool)) {
		return approval.Entry{Pattern: approval.ToolMark + tool}
	}
	return approval.Entry{Pattern: command[0], Args: command[1:]}
}

// charterPattern says what a pattern means: a tool, the first words of a
// command, or with a single plain word either.
func charterPattern(pattern string) (tool string, command []string) {
	words := strings.Fields(pattern)
	switch {
	case len(words) > 1:
		return "", words
	case strings.HasPrefix(words[0], "/") || strings.HasPrefix(words[0], "~"):
		return "", words
	case strings.ContainsAny(words[0], "/:"):
		return words[0], nil
	}
	return words[0], words
}

// known reports whether a word names a tool that every agent has, and no program
// that could be meant.
func known(word string) bool {
	return alias(word) || strings.Contains(word, "_") || strings.HasPrefix(word, "group:") || strings.HasPrefix(word, "profile:")
}

// alias reports whether a word is another name of a tool.
func alias(word string) bool {
	switch word {
	case "bash", "shell", "exec", "read", "write", "edit", "delete", "list", "fetch", "search":
		return true
	}
	return false
}
