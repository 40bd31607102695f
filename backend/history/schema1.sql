-- One row is one request, or one program that was started for a request.
-- n is the order in which rows were first queued; it is never given twice, so
-- that an index for search or a chain of hashes can lean on it.
-- Times are unix milliseconds, lists are JSON.
CREATE TABLE runs (
	n           INTEGER PRIMARY KEY AUTOINCREMENT,
	queued      INTEGER NOT NULL,
	id          TEXT NOT NULL UNIQUE,
	parent      TEXT NOT NULL,
	seq         INTEGER NOT NULL,
	state       TEXT NOT NULL,
	agent_id    TEXT NOT NULL,
	session_key TEXT NOT NULL,
	peer_pid    INTEGER NOT NULL,
	peer_exe    TEXT NOT NULL,
	who         TEXT NOT NULL,
	command     TEXT NOT NULL,
	argv        TEXT,
	cwd         TEXT NOT NULL,
	env_names   TEXT,
	program     TEXT NOT NULL,
	verdict     TEXT NOT NULL,
	reason      TEXT NOT NULL,
	sentence    TEXT NOT NULL,
	security    TEXT NOT NULL,
	ask         TEXT NOT NULL,
	entry       TEXT NOT NULL,
	decision    TEXT NOT NULL,
	answered_by TEXT NOT NULL,
	note        TEXT NOT NULL,
	pgid        INTEGER NOT NULL,
	pstarted    INTEGER NOT NULL,
	arrived     INTEGER,
	asked       INTEGER,
	answered    INTEGER,
	started     INTEGER,
	ended       INTEGER,
	exit_code   INTEGER,
	signal      TEXT NOT NULL,
	timed_out   INTEGER NOT NULL,
	output_size INTEGER NOT NULL,
	output_hash TEXT NOT NULL,
	error       TEXT NOT NULL
) STRICT;

CREATE INDEX runs_queued ON runs (queued);
CREATE INDEX runs_parent ON runs (parent);
CREATE INDEX runs_agent ON runs (agent_id);
CREATE INDEX runs_state ON runs (state);
