package history

// Bounds of what waits in memory, together with what is being written.
const (
	maxQueued      = 10_000
	maxQueuedBytes = 32 << 20
)

// entry is a row on its way to the disk.
type entry struct {
	row    Row
	size   int
	queued int64 // unix milliseconds
	beyond bool  // it is beyond the quota, and only written if its beginning was
}

// queue holds rows in the order in which they first came. A row that comes
// again before it is written takes the place of the older one: a short run
// costs one write, not three.
type queue struct {
	entries []entry
	at      map[string]int // where the row with this id is
	bytes   int
}

// put takes a row unless that would make this queue and ahead, which is still
// being written, too large together.
func (q *queue) put(row Row, now int64, ahead queue) bool {
	row = row.own()
	e := entry{row: row, size: row.size(), queued: now}
	i, again := q.at[row.ID]
	grown := q.bytes + e.size
	if again {
		grown -= q.entries[i].size
		e.queued = q.entries[i].queued
	}
	if grown+ahead.bytes > maxQueuedBytes || !again && len(q.entries)+len(ahead.entries) >= maxQueued {
		return false
	}
	q.bytes = grown
	if again {
		q.entries[i] = e
		return true
	}
	if q.at == nil {
		q.at = map[string]int{}
	}
	q.at[row.ID] = len(q.entries)
	q.entries = append(q.entries, e)
	return true
}

// heavy reports whether it is better to write now than to wait for more.
func (q *queue) heavy() bool {
	return len(q.entries) >= maxQueued/8 || q.bytes >= maxQueuedBytes/8
}
