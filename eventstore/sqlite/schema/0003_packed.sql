-- Fields and state of an entry are one packed text, and a record has no state of its
-- own: it is that of its last entry. A file that holds something is not brought here by
-- these statements; its rows are carried into a new one.
DROP TABLE entries;

CREATE TABLE entries (
    position INTEGER PRIMARY KEY,
    kind     TEXT    NOT NULL,
    record   INTEGER NOT NULL CHECK (record > 0),
    version  INTEGER NOT NULL CHECK (version > 0),
    time     INTEGER NOT NULL, -- milliseconds since 1970, UTC
    actor    INTEGER NOT NULL,
    change   TEXT    NOT NULL,
    leaf     BLOB    NOT NULL CHECK (length(leaf) = 32),
    client   TEXT    NOT NULL, -- of the cause
    request  TEXT    NOT NULL,
    reason   TEXT    NOT NULL,
    body     BLOB    NOT NULL, -- packed: length of the fields, fields and state as JSON
    secret   BLOB              -- null: left as it was; empty: removed
) STRICT;

CREATE UNIQUE INDEX entries_history ON entries (record, version);

-- Positions are dense, and REPLACE cannot take the place of an entry.
CREATE TRIGGER entries_dense BEFORE INSERT ON entries
WHEN NEW.position IS NOT (SELECT coalesce(max(position), 0) + 1 FROM entries)
BEGIN SELECT RAISE(ABORT, 'positions are dense'); END;

CREATE TRIGGER entries_no_update BEFORE UPDATE ON entries
BEGIN SELECT RAISE(ABORT, 'entries are append only'); END;

CREATE TRIGGER entries_no_delete BEFORE DELETE ON entries
BEGIN SELECT RAISE(ABORT, 'entries are append only'); END;

ALTER TABLE records DROP COLUMN state;
