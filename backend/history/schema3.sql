-- Rows by time, with all that counting them needs (see Count), in the place of
-- the index that had the time alone.
DROP INDEX runs_queued;
CREATE INDEX runs_time ON runs (queued, parent, agent_id, asked);

-- When a session asked last, which a lease of it hangs on.
CREATE INDEX runs_session ON runs (session_key, agent_id);

-- How high the risk was, the answers that a person could give, and how wide and
-- how long the one that was given is remembered.
ALTER TABLE runs ADD COLUMN risk TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN choices TEXT;
ALTER TABLE runs ADD COLUMN choice TEXT NOT NULL DEFAULT '';
