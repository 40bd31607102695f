-- Rows by time, with all that counting them needs (see Count), in the place of
-- the index that had the time alone.
DROP INDEX runs_queued;
CREATE INDEX runs_time ON runs (queued, parent, agent_id, asked);
