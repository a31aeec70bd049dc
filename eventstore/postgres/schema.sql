-- Everything stands in one schema, which is the first of search_path while this
-- runs. The role that runs it owns the tables; rights.sql has what the service needs.
--
-- The server keeps samples of columns for its plans (pg_statistic). No column with
-- content takes part, because what is erased would stay there: those have STATISTICS 0.

-- The UUID of the store.
CREATE TABLE identity (uuid uuid NOT NULL);
INSERT INTO identity VALUES (gen_random_uuid());

-- The log. Texts are not packed by the server up to 8 kB: what it takes to try is a
-- tenth of what an append takes.
CREATE TABLE entries (
    position bigint PRIMARY KEY CHECK (position > 0),
    record   bigint NOT NULL CHECK (record > 0),
    version  bigint NOT NULL CHECK (version > 0),
    time     bigint NOT NULL, -- milliseconds since 1970, UTC
    actor    bigint NOT NULL,
    kind     text   NOT NULL,
    change   text   NOT NULL,
    leaf     bytea  NOT NULL CHECK (octet_length(leaf) = 32),
    client   text   NOT NULL, -- of the cause
    request  text   NOT NULL,
    reason   text   NOT NULL,
    fields   bytea  NOT NULL, -- JSON
    state    bytea  NOT NULL, -- JSON
    secret   bytea,           -- null: left as it was; empty: removed
    salts    bytea  NOT NULL, -- 16 bytes each: actor, cause, fields, state, secret (zeros where there is none)
    CONSTRAINT entries_salts
        CHECK (octet_length(salts) = 80 AND (secret IS NOT NULL OR substr(salts, 65) = '\x00000000000000000000000000000000'::bytea))
) WITH (toast_tuple_target = 8160);
ALTER TABLE entries ALTER client SET STATISTICS 0, ALTER request SET STATISTICS 0, ALTER reason SET STATISTICS 0, ALTER fields SET STATISTICS 0, ALTER state SET STATISTICS 0, ALTER secret SET STATISTICS 0;

CREATE UNIQUE INDEX entries_history ON entries (record, version);
CREATE INDEX entries_time ON entries (time);

-- Times mostly rise with positions, but those of imports do not. Where they do, the few
-- blocks of the log that may hold an exception are found by this.
CREATE INDEX entries_order ON entries USING brin (position, time) WITH (pages_per_range = 64, autosummarize = on);

-- One row for each group of entries that was committed together; hash is the
-- chain of leaves up to its last entry.
CREATE TABLE commits (
    first bigint PRIMARY KEY,
    last  bigint NOT NULL CHECK (last >= first),
    hash  bytea  NOT NULL CHECK (octet_length(hash) = 32)
);

-- Where each record stands. The record itself is the state of its last entry,
-- so it is not written twice.
CREATE TABLE records (
    id       bigint PRIMARY KEY,
    kind     text   NOT NULL,
    version  bigint NOT NULL,
    position bigint NOT NULL, -- of its last entry
    secret   bytea,           -- null: none
    erased   boolean NOT NULL DEFAULT false -- it takes no change any more
) WITH (fillfactor = 80);
ALTER TABLE records ALTER secret SET STATISTICS 0;

-- Nearly all records are events, so those need no index to be found among all.
CREATE INDEX records_kind ON records (kind, id) WHERE kind <> 'event';

-- Keys may be longer than an index takes, so they are found by digest: SHA-256
-- of the length of the space in 8 bytes, the space and the key.
CREATE TABLE claims (
    digest bytea  PRIMARY KEY CHECK (octet_length(digest) = 32),
    record bigint NOT NULL,
    space  text   NOT NULL,
    key    text   NOT NULL
);
ALTER TABLE claims ALTER key SET STATISTICS 0;

CREATE INDEX claims_record ON claims (record);

CREATE TABLE names (
    digest bytea  NOT NULL CHECK (octet_length(digest) = 32),
    record bigint NOT NULL,
    space  text   NOT NULL,
    key    text   NOT NULL,
    PRIMARY KEY (digest, record)
);
ALTER TABLE names ALTER key SET STATISTICS 0;

CREATE INDEX names_record ON names (record);

-- Requests with an idempotency key; the digest is that of the user in 8 bytes and the key.
CREATE TABLE receipts (
    digest      bytea  PRIMARY KEY CHECK (octet_length(digest) = 32),
    user_id     bigint NOT NULL,
    key         text   NOT NULL,
    fingerprint bytea  NOT NULL CHECK (octet_length(fingerprint) = 32),
    record      bigint NOT NULL,
    version     bigint NOT NULL,
    position    bigint NOT NULL,
    kept        bigint NOT NULL DEFAULT extract(epoch FROM clock_timestamp()) * 1000 -- milliseconds
);
ALTER TABLE receipts ALTER key SET STATISTICS 0;

-- Old receipts are found by when they were kept.
CREATE INDEX receipts_age ON receipts (kept);

-- Its last value is the greatest id that was given or used.
CREATE SEQUENCE ids MINVALUE 0 START 0;
SELECT nextval('ids');

-- term is what a lease was taken for: one that ends later than that from now was taken
-- before the clock went back, and has ended.
CREATE TABLE leases (
    name   text PRIMARY KEY,
    holder text        NOT NULL,
    epoch  bigint      NOT NULL,
    until  timestamptz NOT NULL,
    term   interval    NOT NULL
);

-- What is left of an entry whose record was erased by the entry at a position: the
-- hashes of cause, fields, state and secret, 32 bytes each.
CREATE TABLE redacted (
    position bigint PRIMARY KEY,
    by       bigint NOT NULL,
    hashes   bytea  NOT NULL CHECK (octet_length(hashes) = 128)
);

-- The newest erasure is asked for with each read.
CREATE INDEX redacted_by ON redacted (by);

-- With the entry at a position a record took a slug; the digest is that of the claim.
CREATE TABLE slugs (
    digest   bytea  NOT NULL CHECK (octet_length(digest) = 32),
    position bigint NOT NULL,
    record   bigint NOT NULL,
    PRIMARY KEY (digest, position)
);

-- The signed heads of the log. A note gains lines, and nothing else of it changes.
CREATE TABLE checkpoints (
    size   bigint PRIMARY KEY CHECK (size > 0),
    origin text   NOT NULL,
    note   bytea  NOT NULL,
    time   bigint NOT NULL, -- milliseconds since 1970, UTC
    keys   text   NOT NULL  -- which signed the log, as the signer writes it down
);

-- The log is append only, for its owner too and whatever session_replication_role says.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE TRIGGER entries_append_only BEFORE DELETE OR TRUNCATE ON entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE entries ENABLE ALWAYS TRIGGER entries_append_only;

CREATE TRIGGER commits_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON commits
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE commits ENABLE ALWAYS TRIGGER commits_append_only;

CREATE TRIGGER redacted_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON redacted
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE redacted ENABLE ALWAYS TRIGGER redacted_append_only;

CREATE TRIGGER checkpoints_kept BEFORE DELETE OR TRUNCATE ON checkpoints
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE checkpoints ENABLE ALWAYS TRIGGER checkpoints_kept;

CREATE FUNCTION check_redacted() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
BEGIN
    IF NOT EXISTS (SELECT FROM entries e JOIN entries o ON o.record = e.record AND o.version < e.version
            WHERE e.position = NEW."by" AND e.change LIKE '%.erased' AND o.position = NEW.position) THEN
        RAISE EXCEPTION 'entry % was not erased by entry %', NEW.position, NEW."by" USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER redacted_check BEFORE INSERT ON redacted FOR EACH ROW EXECUTE FUNCTION check_redacted();
ALTER TABLE redacted ENABLE ALWAYS TRIGGER redacted_check;

-- An entry that was erased may become blank, in all that is erased at once. Nothing
-- else of the log is ever changed.
CREATE FUNCTION blank_only() RETURNS trigger LANGUAGE plpgsql SET search_path FROM CURRENT AS $$
DECLARE
    blank entries := OLD;
BEGIN
    blank.client := '';
    blank.request := '';
    blank.reason := '';
    blank.fields := '';
    blank.state := '';
    blank.secret := NULL;
    blank.salts := substr(OLD.salts, 1, 16) || decode(repeat('00', 64), 'hex');
    IF NEW IS DISTINCT FROM blank OR NOT EXISTS (SELECT FROM redacted r WHERE r.position = OLD.position) THEN
        RAISE EXCEPTION '% is append only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
END $$;

CREATE TRIGGER entries_blank_only BEFORE UPDATE ON entries FOR EACH ROW EXECUTE FUNCTION blank_only();
ALTER TABLE entries ENABLE ALWAYS TRIGGER entries_blank_only;

-- body_hash is the hash of a body of a leaf.
CREATE FUNCTION body_hash(name text, salt bytea, body bytea) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT sha256(int8send(14) || 'daybook body 2'::bytea || int8send(length(name)) || name::bytea || salt || int8send(octet_length(body)) || body)
$$;

-- sized is a text with its length before it.
CREATE FUNCTION sized(text) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT int8send(octet_length($1)) || convert_to($1, 'UTF8')
$$;

-- erase takes away what is left of records whose last entries erase them: the content of
-- their other entries and their past slugs. What is done already is passed over. It is the
-- only one that changes entries, so it runs with the rights of the owner.
CREATE FUNCTION erase(ids bigint[]) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
    SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    e    entries;
    zero bytea := decode(repeat('00', 128), 'hex');
BEGIN
    FOR e IN SELECT x.* FROM records r JOIN entries x ON x.position = r.position WHERE r.id = ANY (ids) LOOP
        IF e.change NOT LIKE '%.erased' THEN
            RAISE EXCEPTION 'record % is not erased', e.record;
        END IF;
        INSERT INTO redacted (position, by, hashes)
            SELECT o.position, e.position,
                body_hash('cause', substr(o.salts, 17, 16), sized(o.client) || sized(o.request) || sized(o.reason)) ||
                body_hash('fields', substr(o.salts, 33, 16), o.fields) ||
                body_hash('state', substr(o.salts, 49, 16), o.state) ||
                CASE WHEN o.secret IS NULL THEN substr(zero, 1, 32) ELSE body_hash('secret', substr(o.salts, 65, 16), sha256(o.secret)) END
            FROM entries o WHERE o.record = e.record AND o.version < e.version
                AND NOT EXISTS (SELECT FROM redacted d WHERE d.position = o.position);
        UPDATE entries o SET client = '', request = '', reason = '', fields = '', state = '', secret = NULL,
                salts = substr(o.salts, 1, 16) || substr(zero, 1, 64)
            WHERE o.record = e.record AND o.version < e.version AND o.state <> '';
        DELETE FROM slugs WHERE record = e.record;
    END LOOP;
END $$;

-- last_counted returns the greatest position of entries behind one whose times are not
-- after a moment, last_time the greatest time after a moment of entries up to one: null
-- for none. Both read the index of positions and times only.
CREATE FUNCTION last_counted(behind bigint, moment bigint) RETURNS bigint LANGUAGE sql STABLE
    SET search_path FROM CURRENT
    SET enable_seqscan = off SET enable_indexscan = off SET enable_indexonlyscan = off SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
    SELECT max(e.position) FROM (SELECT position FROM entries WHERE position > behind AND time <= moment OFFSET 0) e
$$;

CREATE FUNCTION last_time(upto bigint, moment bigint) RETURNS bigint LANGUAGE sql STABLE
    SET search_path FROM CURRENT
    SET enable_seqscan = off SET enable_indexscan = off SET enable_indexonlyscan = off SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
    SELECT max(e.time) FROM (SELECT time FROM entries WHERE position <= upto AND time > moment OFFSET 0) e
$$;

REVOKE ALL ON FUNCTION erase, last_counted, last_time FROM PUBLIC;
