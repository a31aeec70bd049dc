-- The log. Small columns come first, so that leaves are read without the
-- overflow pages of long records.
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
    secret   BLOB,             -- null: left as it was; empty: removed
    salts    BLOB    NOT NULL CHECK (length(salts) = 80) -- 16 bytes each: actor, cause, fields, state, secret
) STRICT;

CREATE UNIQUE INDEX entries_history ON entries (record, version);

CREATE INDEX entries_time ON entries (time);

-- Positions are dense, and REPLACE cannot take the place of an entry.
CREATE TRIGGER entries_dense BEFORE INSERT ON entries
WHEN NEW.position IS NOT (SELECT coalesce(max(position), 0) + 1 FROM entries)
BEGIN SELECT RAISE(ABORT, 'positions are dense'); END;

-- What is redacted may be blanked, and nothing else changes.
CREATE TRIGGER entries_no_update BEFORE UPDATE ON entries
WHEN NOT EXISTS (SELECT 1 FROM redacted WHERE position = OLD.position)
    OR NEW.position IS NOT OLD.position OR NEW.kind IS NOT OLD.kind OR NEW.record IS NOT OLD.record
    OR NEW.version IS NOT OLD.version OR NEW.time IS NOT OLD.time OR NEW.actor IS NOT OLD.actor
    OR NEW.change IS NOT OLD.change OR NEW.leaf IS NOT OLD.leaf
    OR NEW.client <> '' OR NEW.request <> '' OR NEW.reason <> '' OR length(NEW.body) > 0 OR NEW.secret IS NOT NULL
    OR substr(NEW.salts, 1, 16) IS NOT substr(OLD.salts, 1, 16) OR substr(NEW.salts, 17) IS NOT zeroblob(64)
BEGIN SELECT RAISE(ABORT, 'entries are append only'); END;

CREATE TRIGGER entries_no_delete BEFORE DELETE ON entries
BEGIN SELECT RAISE(ABORT, 'entries are append only'); END;

-- One row for each group of entries that was committed together; hash is the
-- chain of leaves up to its last entry.
CREATE TABLE commits (
    first INTEGER PRIMARY KEY,
    last  INTEGER NOT NULL CHECK (last >= first),
    hash  BLOB    NOT NULL CHECK (length(hash) = 32)
) STRICT;

CREATE TRIGGER commits_dense BEFORE INSERT ON commits
WHEN NEW.first IS NOT coalesce((SELECT last + 1 FROM commits ORDER BY first DESC LIMIT 1), 1)
BEGIN SELECT RAISE(ABORT, 'commits are dense'); END;

CREATE TRIGGER commits_no_update BEFORE UPDATE ON commits
BEGIN SELECT RAISE(ABORT, 'commits are append only'); END;

CREATE TRIGGER commits_no_delete BEFORE DELETE ON commits
BEGIN SELECT RAISE(ABORT, 'commits are append only'); END;

-- The least and the greatest time of each block of 1,024 positions, so that the last
-- entry before a time is found however many there are.
CREATE TABLE times (
    block    INTEGER PRIMARY KEY, -- position / 1024
    least    INTEGER NOT NULL,
    greatest INTEGER NOT NULL
) STRICT;

-- Entries whose content was erased by a later one of their record.
CREATE TABLE redacted (
    position INTEGER PRIMARY KEY,
    by       INTEGER NOT NULL,
    hashes   BLOB    NOT NULL CHECK (length(hashes) = 128) -- cause, fields, state, secret
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

-- Present records, whose states are those of their last entries.
CREATE TABLE records (
    id       INTEGER PRIMARY KEY,
    kind     TEXT    NOT NULL,
    version  INTEGER NOT NULL,
    position INTEGER NOT NULL,
    secret   BLOB,
    erased   INTEGER NOT NULL -- 1: it takes no change any more
) STRICT;

CREATE INDEX records_kind ON records (kind, id);

-- What records hold: a claim has one holder, a name any number.
CREATE TABLE claims (
    space  TEXT    NOT NULL,
    key    TEXT    NOT NULL,
    record INTEGER NOT NULL,
    PRIMARY KEY (space, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX claims_record ON claims (record);

CREATE TABLE names (
    space  TEXT    NOT NULL,
    key    TEXT    NOT NULL,
    record INTEGER NOT NULL,
    PRIMARY KEY (space, key, record)
) STRICT, WITHOUT ROWID;

CREATE INDEX names_record ON names (record);

-- A record took a claim on a slug with the entry at a position. Erasures are rare: they
-- look through all of them, and appends pay for no index.
CREATE TABLE slugs (
    space    TEXT    NOT NULL,
    key      TEXT    NOT NULL,
    position INTEGER NOT NULL,
    record   INTEGER NOT NULL,
    PRIMARY KEY (space, key, position)
) STRICT, WITHOUT ROWID;

-- What requests with an idempotency key wrote.
CREATE TABLE receipts (
    user        INTEGER NOT NULL,
    key         TEXT    NOT NULL,
    fingerprint BLOB    NOT NULL CHECK (length(fingerprint) = 32),
    kept        INTEGER NOT NULL, -- by the clock of the store, milliseconds
    record      INTEGER NOT NULL,
    version     INTEGER NOT NULL,
    position    INTEGER NOT NULL,
    UNIQUE (user, key)
) STRICT;

-- Old receipts are found by when they were stored: after a clock that was wrong the
-- order in which they came says nothing of it.
CREATE INDEX receipts_kept ON receipts (kept);

-- Signed heads of the log; notes gain lines.
CREATE TABLE checkpoints (
    size   INTEGER PRIMARY KEY CHECK (size > 0),
    origin TEXT    NOT NULL,
    note   BLOB    NOT NULL,
    time   INTEGER NOT NULL, -- milliseconds since 1970, UTC
    keys   TEXT    NOT NULL  -- which of them signed the log, as its signer writes it down
) STRICT;

CREATE TRIGGER checkpoints_no_delete BEFORE DELETE ON checkpoints
BEGIN SELECT RAISE(ABORT, 'checkpoints stay'); END;

CREATE TRIGGER checkpoints_no_update BEFORE UPDATE OF size, origin, time, keys ON checkpoints
BEGIN SELECT RAISE(ABORT, 'checkpoints gain lines only'); END;

-- The UUID of the store.
CREATE TABLE identity (uuid BLOB NOT NULL CHECK (length(uuid) = 16)) STRICT;
INSERT INTO identity VALUES (randomblob(16));
