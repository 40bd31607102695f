-- From here on the hash of a link also covers its place and its time, n and
-- queued. Links up to this one are by the rule before.
INSERT INTO ends VALUES ('placed', 0, zeroblob(32));

-- Links that say what was removed by the bounds of the history: the rows from
-- the first link on to the last, how many they were, and the hash of the last, in
-- hexadecimal.
CREATE TABLE trims (
	link  INTEGER PRIMARY KEY,
	chain BLOB NOT NULL,
	last  INTEGER NOT NULL,
	count INTEGER NOT NULL,
	hash  TEXT NOT NULL,
	at    INTEGER NOT NULL
) STRICT;
