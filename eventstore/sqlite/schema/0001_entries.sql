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
    fields   BLOB    NOT NULL, -- JSON
    state    BLOB    NOT NULL, -- JSON
    secret   BLOB              -- null: left as it was; empty: removed
) STRICT;

CREATE UNIQUE INDEX entries_history ON entries (record, version);

-- One row for each group of entries that was committed together; hash is the
-- chain of leaves up to its last entry.
CREATE TABLE commits (
    first INTEGER PRIMARY KEY,
    last  INTEGER NOT NULL CHECK (last >= first),
    hash  BLOB    NOT NULL CHECK (length(hash) = 32)
) STRICT;

-- Positions are dense, and REPLACE cannot take the place of an entry.
CREATE TRIGGER entries_dense BEFORE INSERT ON entries
WHEN NEW.position IS NOT (SELECT coalesce(max(position), 0) + 1 FROM entries)
BEGIN SELECT RAISE(ABORT, 'positions are dense'); END;

CREATE TRIGGER entries_no_update BEFORE UPDATE ON entries
BEGIN SELECT RAISE(ABORT, 'entries are append only'); END;

CREATE TRIGGER entries_no_delete BEFORE DELETE ON entries
BEGIN SELECT RAISE(ABORT, 'entries are append only'); END;

CREATE TRIGGER commits_dense BEFORE INSERT ON commits
WHEN NEW.first IS NOT coalesce((SELECT last + 1 FROM commits ORDER BY first DESC LIMIT 1), 1)
BEGIN SELECT RAISE(ABORT, 'commits are dense'); END;

CREATE TRIGGER commits_no_update BEFORE UPDATE ON commits
BEGIN SELECT RAISE(ABORT, 'commits are append only'); END;

CREATE TRIGGER commits_no_delete BEFORE DELETE ON commits
BEGIN SELECT RAISE(ABORT, 'commits are append only'); END;

-- Present state of records, with the claims and names that each has as JSON
-- ([["space","key"], …]).
CREATE TABLE records (
    id       INTEGER PRIMARY KEY,
    kind     TEXT    NOT NULL,
    version  INTEGER NOT NULL,
    position INTEGER NOT NULL,
    claims   TEXT    NOT NULL,
    names    TEXT    NOT NULL,
    secret   BLOB,
    state    BLOB    NOT NULL
) STRICT;

CREATE INDEX records_kind ON records (kind, id);

CREATE TABLE claims (
    space  TEXT    NOT NULL,
    key    TEXT    NOT NULL,
    record INTEGER NOT NULL,
    PRIMARY KEY (space, key)
) STRICT, WITHOUT ROWID;

CREATE TABLE names (
    space  TEXT    NOT NULL,
    key    TEXT    NOT NULL,
    record INTEGER NOT NULL,
    PRIMARY KEY (space, key, record)
) STRICT, WITHOUT ROWID;

-- Answers to requests with an idempotency key; purged by age in order of rowid.
CREATE TABLE receipts (
    user        INTEGER NOT NULL,
    key         TEXT    NOT NULL,
    fingerprint BLOB    NOT NULL CHECK (length(fingerprint) = 32),
    kept        INTEGER NOT NULL, -- by the clock of the store, milliseconds
    time        INTEGER NOT NULL, -- by the clock of the caller, milliseconds
    record      INTEGER NOT NULL,
    version     INTEGER NOT NULL,
    position    INTEGER NOT NULL,
    answer      BLOB,
    UNIQUE (user, key)
) STRICT;
