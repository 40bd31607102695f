package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/command"
	"github.com/countersign-app/countersign/backend/corpus"
)

// Labels of a listed command: it is harmless, ordinary work with an effect, or
// something that a person should see.
const (
	labelHarmless = "H"
	labelWork     = "W"
	labelPerson   = "P"
)

// listed is a command of a list: a line of ours, or of a history export.
type listed struct {
	Person  string `json:"person"`
	Agent   string `json:"agent"`
	Session string `json:"session"`
	Folder  string `json:"folder"`
	Command string `json:"command"`
	Label   string `json:"label"`
	// World is the file that describes its machine, beside the list; "" for that of
	// --world.
	World string `json:"world"`

	Argv       []string     `json:"argv"`
	AgentID    string       `json:"agentId"`
	SessionKey string       `json:"sessionKey"`
	Cwd        string       `json:"cwd"`
	Who        approval.Who `json:"who"`
}

// readList reads one JSON object from each line. A command that a session repeats
// word for word counts once: seen holds those that were read.
func readList(file string, seen map[string]bool) ([]listed, error) {
	text, err := readPlain(file, corpus.MaxSize)
	if err != nil {
		return nil, err
	}
	var list []listed
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		one, err := readListed(line)
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", filepath.Base(file), n, err)
		}
		key := strings.Join([]string{one.Person, one.Agent, one.Session, one.Folder, one.Command}, "\x00")
		if seen[key] {
			continue
		}
		if seen[key] = true; len(seen) > corpus.MaxCases {
			return nil, fmt.Errorf("there are more than %d commands: part the lists", corpus.MaxCases)
		}
		if one.World != "" {
			one.World = filepath.Join(filepath.Dir(file), one.World)
		}
		list = append(list, one)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s holds no commands", filepath.Base(file))
	}
	return list, nil
}

func readListed(line []byte) (one listed, err error) {
	if err := json.Unmarshal(line, &one); err != nil {
		return one, fmt.Errorf("is no command of a list: %w", err)
	}
	one.Agent = cmp.Or(one.Agent, one.AgentID, testAgent)
	one.Session = cmp.Or(one.Session, one.SessionKey)
	one.Folder = cmp.Or(one.Folder, one.Cwd)
	one.Who = cmp.Or(one.Who, approval.Ours)
	if len(one.Argv) > 0 {
		one.Command = command.Quote(one.Argv) // what is judged is what is shown
	}
	switch {
	case one.Command == "":
		err = errors.New(`has no "command"`)
	case !path.IsAbs(one.Folder):
		err = errors.New(`has no "folder" with an absolute path`)
	case one.World != "" && filepath.Base(one.World) != one.World:
		err = errors.New("the world is a file beside the list, by its name alone")
	case one.Label != "" && !slices.Contains([]string{labelHarmless, labelWork, labelPerson}, one.Label):
		err = fmt.Errorf("the label is H, W or P, not %q", one.Label)
	}
	return one, err
}

// request is the command as a hook of an agent asks about it.
func (l listed) request() *approval.Request {
	r := &approval.Request{Command: l.Argv, Who: l.Who, Cwd: l.Folder, AgentID: l.Agent, SessionKey: l.Session}
	if len(l.Argv) == 0 {
		r.Command = []string{"bash", "-c", l.Command}
	}
	return r
}
