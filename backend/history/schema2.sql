-- What was judged is kept beside what came of it.
ALTER TABLE runs ADD COLUMN judged TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN judged_reason TEXT NOT NULL DEFAULT '';
ALTER TABLE runs ADD COLUMN judged_sentence TEXT NOT NULL DEFAULT '';

-- Rows that are over are links of a chain, in the order in which they ended.
-- Both are NULL for a row that is not over.
ALTER TABLE runs ADD COLUMN link INTEGER;
ALTER TABLE runs ADD COLUMN chain BLOB;
CREATE UNIQUE INDEX runs_link ON runs (link) WHERE link IS NOT NULL;

-- The last link that was removed, and the last one of all.
CREATE TABLE ends (
	which TEXT PRIMARY KEY,
	link  INTEGER NOT NULL,
	chain BLOB NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO ends VALUES ('removed', 0, zeroblob(32)), ('last', 0, zeroblob(32));

-- The words of requests that are over, by their n, and what they are filtered
-- by (see tags in search.go).
CREATE VIRTUAL TABLE words USING fts5(text, tags, content='', contentless_delete=1, detail=column, tokenize='unicode61');
