package main

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/countersign-app/countersign/app/shown"
	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/host"
	"github.com/countersign-app/countersign/backend/paths"
)

const (
	// maxTried bounds a text that is tried, in bytes: longer ones are never read.
	maxTried = 64 << 10
	// tryTime is how long one trial may wait for the host to be ready.
	tryTime = 5 * time.Second
)

// Try judges a text as a command of an agent in a folder, "" for the home
// folder. Nothing is asked, run or recorded.
//
// It is judged as `bash -c` would get it, which is the form in which agents
// send a text and in which `countersign policy explain` takes one. The other
// form, a text for the caller's own shell, is judged more strictly.
func (s *Settings) Try(text, agentID, folder string) shown.Trial {
	began := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), tryTime)
	defer cancel()
	e, err := s.app.try(ctx, text, agentID, folder)
	in := s.app.names()
	if err != nil {
		e.Plan.Invalid = sentence(err)
	}
	t := shown.NewTrial(agentID, e.Plan, e.Judgement, e.Told(), in)
	t.Took = time.Since(began).Microseconds()
	return t
}

func (a *app) try(ctx context.Context, text, agentID, folder string) (host.Explanation, error) {
	if strings.TrimSpace(text) == "" {
		return host.Explanation{}, errors.New("there is no command in it")
	}
	if len(text) > maxTried {
		return host.Explanation{}, errors.New("this is longer than 64 KiB: a text of this length is always put to you whole")
	}
	return a.host.Explain(ctx, approval.Request{
		Command: []string{"bash", "-c", text}, AgentID: agentID, Cwd: paths.Expand(folder, a.person.Home), Who: approval.Ours,
	})
}
