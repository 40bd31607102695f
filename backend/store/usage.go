package store

import (
	"sync"
	"time"

	"github.com/countersign-app/countersign/backend/approval"
	"github.com/countersign-app/countersign/backend/rescue"
)

// usagePeriod is the shortest time between two writes of usage.
const usagePeriod = time.Second

// usage is what was used since the last write. It has its own lock, so that
// Used never waits for the disk.
type usage struct {
	mu   sync.Mutex
	last map[useKey]use
	kick chan struct{}
}

type useKey struct{ agentID, entryID string }

type use struct {
	at            int64
	command, path string
}

// Used notes that an entry let a command pass. It returns at once; the note is
// written within about a second, and is lost if the file cannot be changed
// then. The command must be free of secrets; an empty one is not written.
func (s *Store) Used(agentID, entryID, command, resolvedPath string) {
	s.usage.mu.Lock()
	s.usage.last[useKey{agentID, entryID}] = use{s.opt.Now().UnixMilli(), command, resolvedPath}
	s.usage.mu.Unlock()
	select {
	case s.usage.kick <- struct{}{}:
	default:
	}
}

// writeUsage writes at once when nothing was written lately, and then once in
// each period.
func (s *Store) writeUsage() {
	defer s.running.Done()
	for {
		select {
		case <-s.stop:
			s.flushUsage()
			return
		case <-s.usage.kick:
		}
		s.flushUsage()
		select {
		case <-s.stop:
		case <-time.After(usagePeriod):
		}
	}
}

func (s *Store) flushUsage() {
	defer rescue.Catch(s.opt.Log, "when entries were used", nil)
	s.usage.mu.Lock()
	last := s.usage.last
	s.usage.last = map[useKey]use{}
	s.usage.mu.Unlock()
	if len(last) == 0 {
		return
	}
	_, err := s.mutate("", savedUsage, func(d *Document) error {
		if !d.use(last) {
			return errNothing
		}
		return nil
	})
	if err != nil {
		s.opt.Log.Debug("when entries were used was not written", "error", err)
	}
}

// use writes what was used into the entries, in one pass over them.
func (d *Document) use(last map[useKey]use) (changed bool) {
	byID := map[string][]useKey{}
	for key := range last {
		byID[key.entryID] = append(byID[key.entryID], key)
	}
	for id, agent := range d.Agents {
		for i := range agent.Allowlist {
			e := &agent.Allowlist[i].Entry
			for _, key := range byID[e.ID] {
				if id == Every || id == key.agentID {
					last[key].note(e)
					changed = true
				}
			}
		}
	}
	return changed
}

func (u use) note(e *approval.Entry) {
	if u.at < e.LastUsedAt {
		return
	}
	e.LastUsedAt = u.at
	if u.command != "" {
		e.LastUsedCommand = u.command
	}
	if u.path != "" {
		e.LastResolvedPath = u.path
	}
}
