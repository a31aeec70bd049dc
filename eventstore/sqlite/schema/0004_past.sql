-- The past: salts of leaves of form 2, what is left of erased entries, who had which
-- slug, times, signed heads of the log. Slugs and times of entries that are there
-- already are filled in by the program, in the transaction of this step.

-- Five salts of 16 bytes: actor, cause, fields, state, secret; null in form 1.
ALTER TABLE entries ADD COLUMN salts BLOB CHECK (salts IS NULL OR length(salts) = 80);

CREATE INDEX entries_time ON entries (time);

-- The least and the greatest time of each block of 1,024 positions, so that the last
-- entry before a time is found however many there are.
CREATE TABLE times (
    block    INTEGER PRIMARY KEY, -- position / 1024
    least    INTEGER NOT NULL,
    greatest INTEGER NOT NULL
) STRICT;

-- A record took a slug with the entry at a position.
CREATE TABLE slugs (
    kind     TEXT    NOT NULL,
    slug     TEXT    NOT NULL,
    position INTEGER NOT NULL,
    record   INTEGER NOT NULL,
    PRIMARY KEY (kind, slug, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX slugs_record ON slugs (record);

-- Entries whose content was erased by a later one of their record.
CREATE TABLE redacted (
    position INTEGER PRIMARY KEY,
    by       INTEGER NOT NULL,
    hashes   BLOB    NOT NULL CHECK (length(hashes) = 128) -- cause, fields, state, secret; zeros in form 1
) STRICT;

CREATE TRIGGER redacted_by_erasure BEFORE INSERT ON redacted
WHEN EXISTS (SELECT 1 FROM redacted WHERE position = NEW.position)
    OR NOT EXISTS (
        SELECT 1 FROM entries b JOIN entries e ON e.position = NEW.position
        WHERE b.position = NEW.by AND b.change = b.kind || '.erased' AND b.record = e.record AND b.version > e.version)
BEGIN SELECT RAISE(ABORT, 'only an erasure redacts, and once'); END;

CREATE TRIGGER redacted_no_update BEFORE UPDATE ON redacted
BEGIN SELECT RAISE(ABORT, 'redacted entries stay so'); END;

CREATE TRIGGER redacted_no_delete BEFORE DELETE ON redacted
BEGIN SELECT RAISE(ABORT, 'redacted entries stay so'); END;

-- What is redacted may be blanked, and nothing else changes.
DROP TRIGGER entries_no_update;

CREATE TRIGGER entries_no_update BEFORE UPDATE ON entries
WHEN NOT EXISTS (SELECT 1 FROM redacted WHERE position = OLD.position)
    OR NEW.position IS NOT OLD.position OR NEW.kind IS NOT OLD.kind OR NEW.record IS NOT OLD.record
    OR NEW.version IS NOT OLD.version OR NEW.time IS NOT OLD.time OR NEW.actor IS NOT OLD.actor
    OR NEW.change IS NOT OLD.change OR NEW.leaf IS NOT OLD.leaf
    OR NEW.client <> '' OR NEW.request <> '' OR NEW.reason <> '' OR length(NEW.body) > 0 OR NEW.secret IS NOT NULL
    OR substr(NEW.salts, 1, 16) IS NOT substr(OLD.salts, 1, 16)
    OR substr(NEW.salts, 17) IS NOT CASE WHEN OLD.salts IS NOT NULL THEN zeroblob(64) END
BEGIN SELECT RAISE(ABORT, 'entries are append only'); END;

-- Signed heads of the log; notes gain lines.
CREATE TABLE checkpoints (
    size   INTEGER PRIMARY KEY CHECK (size > 0),
    origin TEXT    NOT NULL,
    note   BLOB    NOT NULL,
    time   INTEGER NOT NULL -- milliseconds since 1970, UTC
) STRICT;

CREATE TRIGGER checkpoints_no_delete BEFORE DELETE ON checkpoints
BEGIN SELECT RAISE(ABORT, 'checkpoints stay'); END;

CREATE TRIGGER checkpoints_no_update BEFORE UPDATE OF size, origin, time ON checkpoints
BEGIN SELECT RAISE(ABORT, 'checkpoints gain lines only'); END;
