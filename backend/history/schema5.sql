-- A long text is kept once, under its SHA-256 in hexadecimal. A row that needs it
-- has nothing in the column, and in texts which hash belongs there, as JSON.
ALTER TABLE runs ADD COLUMN texts TEXT;
CREATE TABLE texts (
	id   INTEGER PRIMARY KEY,
	hash TEXT NOT NULL UNIQUE,
	text TEXT NOT NULL
) STRICT;

-- Which rows need which texts: what runs.texts says, by the text. A text that
-- none needs goes.
CREATE TABLE needs (
	n    INTEGER NOT NULL,
	text INTEGER NOT NULL,
	PRIMARY KEY (n, text)
) STRICT, WITHOUT ROWID;
CREATE INDEX needs_text ON needs (text);

-- The words of those texts that a search looks in, by their id.
CREATE VIRTUAL TABLE textwords USING fts5(text, content='', contentless_delete=1, detail=column, tokenize='unicode61');
