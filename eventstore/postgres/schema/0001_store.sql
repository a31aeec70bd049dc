-- Everything stands in one schema, which is the first of search_path while this
-- runs. Whoever runs it owns the tables; the program needs no right on them but
-- to read, and writes through the functions below.
--
-- The server keeps samples of columns for its plans (pg_statistic), which no column with
-- content has a part in: what is erased would stay there. Those have STATISTICS 0.

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
    secret   bytea,           -- empty: removed
    erased   boolean NOT NULL DEFAULT false -- it takes no change any more
) WITH (fillfactor = 80);
ALTER TABLE records ALTER secret SET STATISTICS 0;

-- Nearly all records are events, so those need no index to be found among all.
CREATE INDEX records_kind ON records (kind, id) WHERE kind <> 'event';
CREATE INDEX records_erased ON records (id) WHERE erased;

-- Keys may be longer than an index takes, so they are found by digest: SHA-256
-- of the length of the space in 8 bytes, the space and the key.
CREATE TABLE claims (
    digest bytea  PRIMARY KEY CHECK (octet_length(digest) = 32),
    record bigint NOT NULL,
    space  text   NOT NULL,
    key    text   NOT NULL,
    since  bigint NOT NULL -- position of the entry with which the record took it
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

-- Answers to requests with an idempotency key; the digest is that of the user in
-- 8 bytes and the key.
CREATE TABLE receipts (
    digest      bytea  PRIMARY KEY CHECK (octet_length(digest) = 32),
    kept        bigint NOT NULL, -- by the clock of the database, milliseconds
    user_id     bigint NOT NULL,
    key         text   NOT NULL,
    fingerprint bytea  NOT NULL CHECK (octet_length(fingerprint) = 32),
    time        bigint NOT NULL, -- by the clock of the caller, milliseconds
    record      bigint NOT NULL,
    version     bigint NOT NULL,
    position    bigint NOT NULL,
    answer      bytea
);
ALTER TABLE receipts ALTER key SET STATISTICS 0, ALTER answer SET STATISTICS 0;

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

-- Who had a slug: with the entry at a position a record took it. Of slugs that are held
-- the claim tells it (since), so an append writes nothing here but for what was taken
-- and given up inside of one group; a claim that goes leaves its row.
CREATE TABLE slugs (
    digest   bytea  NOT NULL, -- that of the claim
    position bigint NOT NULL,
    record   bigint NOT NULL,
    kind     text   NOT NULL,
    slug     text   NOT NULL,
    PRIMARY KEY (digest, position)
);
ALTER TABLE slugs ALTER slug SET STATISTICS 0;

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

CREATE FUNCTION keep_slug() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO slugs (digest, position, record, kind, slug)
        VALUES (OLD.digest, OLD.since, OLD.record, substr(OLD.space, 6), OLD.key) ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE TRIGGER claims_gone AFTER DELETE ON claims
    FOR EACH ROW WHEN (OLD.space LIKE 'slug/%') EXECUTE FUNCTION keep_slug();
CREATE TRIGGER claims_moved AFTER UPDATE ON claims
    FOR EACH ROW WHEN (OLD.space LIKE 'slug/%' AND OLD.record <> NEW.record) EXECUTE FUNCTION keep_slug();

-- hold_log lets one transaction at a time append. What is read in statements
-- after it is the newest, because each has a snapshot of its own.
CREATE FUNCTION hold_log() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'appends need transactions that are read committed';
    END IF;
    -- What is acknowledged is durable, also where the role or the database has
    -- other defaults.
    IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    PERFORM pg_advisory_xact_lock(1684109666, hashtext(current_schema())); -- "dayb"
END $$;

-- new_ids gives the first of n fresh ids in a row.
CREATE FUNCTION new_ids(n bigint) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    fresh bigint;
BEGIN
    PERFORM pg_advisory_xact_lock(1684109667, hashtext(current_schema()));
    fresh := nextval('ids');
    IF n > 1 THEN
        PERFORM setval('ids', fresh + n - 1);
    END IF;
    RETURN fresh;
END $$;

-- use_id notes that an id is in use, so that it is not given again.
CREATE FUNCTION use_id(id bigint) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    PERFORM pg_advisory_xact_lock(1684109667, hashtext(current_schema()));
    PERFORM setval('ids', id) FROM ids WHERE last_value < id;
END $$;

-- settle makes the transaction that calls it one that is committed with something
-- written: what others committed before it is then as durable as it is, at
-- synchronous standbys too. A commit whose wait for a standby was cut off is visible
-- and may be lost.
CREATE FUNCTION settle() RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    PERFORM pg_logical_emit_message(true, 'daybook', '');
END $$;

-- append_salted writes a group of appends in one commit for a process that knows the log
-- up to a commit: its last position and its hash, 0 for none. Where the log does not hold
-- that commit it is another history than the one the appends were decided on (a failover
-- lost the last entries, a backup was put back): nothing is written and head is -2. Else
-- head is that before the group, and hash that of the last commit afterwards, null for an
-- empty log.
--
-- Unless the caller decided under hold_log, it expects that all of them win, and the group
-- is written only when they do; otherwise nothing is and head is -1. No two appends of such
-- a group touch the same record, claim or key. What is inserted for the first time is not
-- looked for before: when it is there, the insert says so.
--
-- All numbers, texts and bytes are in one list each, in this order of columns, each of n
-- entries, c claims, m names, g guards, r receipts or s slugs that are taken and given up in
-- the group: each list is a thing of its own to the server, to be read, copied and taken
-- apart.
--
--   numbers  entries: record, version, time, actor, 1 for the last one of its record;
--            claims: record, the entry of the group that takes it, 1 for the first;
--            names: record; guards: count;
--            receipts: user, time, record, version, how far behind the head, position;
--            slugs: entry, record; records whose claims and names are released
--   texts    entries: kind, change, client, request, reason; claims: space, key;
--            names: space, key; receipts: key; slugs: kind, slug
--   bytes    entries: fields, state, secret, secret of the record after the group;
--            claims: digest; names: digest; guards: digest;
--            receipts: digest, fingerprint, answer; slugs: digest
--
-- The first f receipts must not be there yet. leaves and salts are those of the entries one
-- after the other, top is the greatest id when new_ids may not have given it. named are all
-- numbers that answers of receipts have: when a record of such an id is erased, the caller
-- decides what becomes of the answers.
--
-- Each table is looked up by index whatever the planner believes of its size: a
-- plan that was made while the tables were empty is used when they are not.
CREATE FUNCTION append_salted(
    known bigint, known_hash bytea, decided boolean, top bigint,
    n int, c int, m int, g int, r int, f int, s int,
    numbers bigint[], texts text[], bytes bytea[], leaves bytea, salts bytea, named bigint[],
    OUT head bigint, OUT hash bytea
) LANGUAGE plpgsql SECURITY DEFINER
    SET search_path FROM CURRENT
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
    SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
    clock    bigint := extract(epoch FROM clock_timestamp()) * 1000;
    -- Where the columns of claims, names, guards and receipts begin.
    nc int := 5 * n; nm int := nc + 2 * c; ng int := nm + m; nr int := ng + g; ns int := nr + 6 * r;
    tc int := 5 * n; tm int := tc + 2 * c; tr int := tm + 2 * m; ts int := tr + r;
    bc int := 4 * n; bm int := bc + c; bg int := bm + m; br int := bg + g; bs int := br + 3 * r;
    free     int := ns + 2 * s;
    releases boolean := cardinality(numbers) > free;
    released bigint[];
    first    boolean := NOT decided AND NOT releases AND n > 0; -- all are first entries
    chain    bytea;
    lost     boolean := false;
    nothing  text; -- of functions that give none
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' THEN
        RAISE EXCEPTION 'appends need transactions that are read committed';
    END IF;
    -- What is acknowledged is durable, also where the role or the database has
    -- other defaults.
    IF current_setting('synchronous_commit') = 'off' THEN
        nothing := set_config('synchronous_commit', 'on', true);
    END IF;
    nothing := pg_advisory_xact_lock(1684109666, hashtext(current_schema()))::text; -- as hold_log

    SELECT k.last, k.hash INTO head, chain FROM commits k ORDER BY k.first DESC LIMIT 1;
    IF known > 0 AND (head IS DISTINCT FROM known OR chain <> known_hash)
            AND NOT coalesce((SELECT k.last = known AND k.hash = known_hash FROM commits k
                WHERE k.first <= known ORDER BY k.first DESC LIMIT 1), false) THEN
        head := -2;
        RETURN;
    END IF;
    hash := chain;
    IF head IS NULL THEN
        head := 0;
        chain := decode(repeat('00', 32), 'hex');
    END IF;
    IF releases THEN
        released := numbers[free + 1 : cardinality(numbers)];
    END IF;
    IF NOT decided AND cardinality(named) > 0 THEN
        lost := EXISTS (SELECT FROM records x WHERE x.erased AND x.id = ANY (named));
    END IF;
    IF NOT decided AND NOT first AND NOT lost THEN
        SELECT EXISTS (SELECT FROM generate_series(1, n) i LEFT JOIN records x ON x.id = numbers[i]
                WHERE coalesce(x.version, 0) <> numbers[n + i] - 1 OR x.kind <> texts[i] OR x.erased)
            OR EXISTS (SELECT FROM generate_series(1, c) i
                JOIN claims x ON x.digest = bytes[bc + i] WHERE x.record <> numbers[nc + i])
            OR EXISTS (SELECT FROM generate_series(1, r) i
                JOIN receipts x ON x.digest = bytes[br + i] WHERE i <= f OR x.fingerprint <> bytes[br + r + i])
            INTO lost;
    ELSIF first AND r > f AND NOT lost THEN
        lost := EXISTS (SELECT FROM generate_series(f + 1, r) i
            JOIN receipts x ON x.digest = bytes[br + i] WHERE x.fingerprint <> bytes[br + r + i]);
    END IF;
    IF NOT decided AND g > 0 THEN
        FOR i IN 1 .. g LOOP
            -- A record of the group that has the name may lose it before its turn.
            lost := lost OR (SELECT count(*) FROM names x WHERE x.digest = bytes[bg + i]) <> numbers[ng + i]
                OR EXISTS (SELECT FROM names x WHERE x.digest = bytes[bg + i] AND x.record = ANY (released));
        END LOOP;
    END IF;
    IF lost THEN
        head := -1;
        RETURN;
    END IF;
    IF n > 0 THEN
        hash := sha256(chain || int8send(head + 1) || leaves);
    END IF;

    IF first THEN
        BEGIN
            WITH e AS (
                INSERT INTO entries (position, record, version, time, actor, kind, change, leaf, client, request, reason, fields, state, secret, salts)
                    SELECT head + i, numbers[i], numbers[n + i], numbers[2 * n + i], numbers[3 * n + i], texts[i], texts[n + i],
                        substr(leaves, 32 * i - 31, 32), texts[2 * n + i], texts[3 * n + i], texts[4 * n + i],
                        bytes[i], bytes[n + i], bytes[2 * n + i], substr(append_salted.salts, 80 * i - 79, 80)
                    FROM generate_series(1, n) i
            ), s AS (
                INSERT INTO records (id, kind, version, position, secret)
                    SELECT numbers[i], texts[i], numbers[n + i], head + i, bytes[3 * n + i] FROM generate_series(1, n) i
            ), l AS (
                INSERT INTO claims (digest, record, space, key, since)
                    SELECT bytes[bc + i], numbers[nc + i], texts[tc + i], texts[tc + c + i], head + numbers[nc + c + i] FROM generate_series(1, c) i
            ), k AS (
                INSERT INTO receipts (digest, kept, user_id, key, fingerprint, time, record, version, position, answer)
                    SELECT bytes[br + i], clock, numbers[nr + i], texts[tr + i], bytes[br + r + i], numbers[nr + r + i],
                        numbers[nr + 2 * r + i], numbers[nr + 3 * r + i], head + numbers[nr + 4 * r + i], bytes[br + 2 * r + i]
                    FROM generate_series(1, f) i
            )
            INSERT INTO commits (first, last, hash) VALUES (head + 1, head + n, append_salted.hash);
        EXCEPTION WHEN unique_violation THEN
            head := -1;
            RETURN;
        END;
    ELSE
        IF n > 0 THEN
            INSERT INTO entries (position, record, version, time, actor, kind, change, leaf, client, request, reason, fields, state, secret, salts)
                SELECT head + i, numbers[i], numbers[n + i], numbers[2 * n + i], numbers[3 * n + i], texts[i], texts[n + i],
                    substr(leaves, 32 * i - 31, 32), texts[2 * n + i], texts[3 * n + i], texts[4 * n + i],
                    bytes[i], bytes[n + i], bytes[2 * n + i], substr(append_salted.salts, 80 * i - 79, 80)
                FROM generate_series(1, n) i;
            INSERT INTO records AS x (id, kind, version, position, secret)
                SELECT numbers[i], texts[i], numbers[n + i], head + i, bytes[3 * n + i] FROM generate_series(1, n) i WHERE numbers[4 * n + i] = 1
                ON CONFLICT (id) DO UPDATE
                    SET version = excluded.version, position = excluded.position, secret = coalesce(excluded.secret, x.secret);
            INSERT INTO commits (first, last, hash) VALUES (head + 1, head + n, append_salted.hash);
        END IF;
        IF releases THEN
            DELETE FROM claims x WHERE x.record = ANY (released) AND x.digest <> ALL (bytes[bc + 1 : bm]);
            DELETE FROM names x WHERE x.record = ANY (released)
                AND x.digest || int8send(x.record) <> ALL (ARRAY (
                    SELECT bytes[bm + i] || int8send(numbers[nm + i]) FROM generate_series(1, m) i));
        END IF;
        IF c > 0 THEN
            INSERT INTO claims AS x (digest, record, space, key, since)
                SELECT bytes[bc + i], numbers[nc + i], texts[tc + i], texts[tc + c + i], head + numbers[nc + c + i] FROM generate_series(1, c) i
                ON CONFLICT (digest) DO UPDATE SET record = excluded.record, since = excluded.since WHERE x.record <> excluded.record;
        END IF;
    END IF;
    IF NOT first AND r > 0 OR r > f THEN
        INSERT INTO receipts (digest, kept, user_id, key, fingerprint, time, record, version, position, answer)
            SELECT bytes[br + i], clock, numbers[nr + i], texts[tr + i], bytes[br + r + i], numbers[nr + r + i],
                numbers[nr + 2 * r + i], numbers[nr + 3 * r + i],
                CASE WHEN numbers[nr + 4 * r + i] > 0 THEN head + numbers[nr + 4 * r + i] ELSE numbers[nr + 5 * r + i] END,
                bytes[br + 2 * r + i]
            FROM generate_series(CASE WHEN first THEN f + 1 ELSE 1 END, r) i
            ON CONFLICT (digest) DO UPDATE SET answer = excluded.answer;
    END IF;
    IF m > 0 THEN
        INSERT INTO names (digest, record, space, key)
            SELECT bytes[bm + i], numbers[nm + i], texts[tm + i], texts[tm + m + i] FROM generate_series(1, m) i
            ON CONFLICT DO NOTHING;
    END IF;
    IF s > 0 THEN
        INSERT INTO slugs (digest, position, record, kind, slug)
            SELECT bytes[bs + i], head + numbers[ns + i], numbers[ns + s + i], texts[ts + i], texts[ts + s + i] FROM generate_series(1, s) i
            ON CONFLICT DO NOTHING;
    END IF;
    IF n > 0 AND top > 0 THEN
        PERFORM use_id(top);
    END IF;
    IF n > 0 THEN
        nothing := pg_notify(current_schema() || '_head', (head + n)::text)::text;
    END IF;
END $$;

-- purge_receipts removes up to 1,000 receipts that were kept for longer than an
-- age, and gives how many it dealt with. What was kept in a time that has not come,
-- under a clock that was wrong, counts as kept now. Receipts are kept for a day at
-- least.
CREATE FUNCTION purge_receipts(age interval) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
    SET enable_seqscan = off
AS $$
DECLARE
    clock bigint := extract(epoch FROM clock_timestamp()) * 1000;
    span  bigint := extract(epoch FROM greatest(age, interval '1 day')) * 1000;
    gone  bigint;
    moved bigint;
BEGIN
    DELETE FROM receipts WHERE digest IN (SELECT r.digest FROM receipts r
        WHERE r.kept < clock - span ORDER BY r.kept LIMIT 1000 FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS gone = ROW_COUNT;
    UPDATE receipts SET kept = clock WHERE digest IN (SELECT r.digest FROM receipts r
        WHERE r.kept > clock + span ORDER BY r.kept LIMIT 1000 - gone FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS moved = ROW_COUNT;
    RETURN gone + moved;
END $$;

-- acquire_lease takes or renews a lease where it is free, ended or the holder's
-- own, and returns it as it is then. A span of 0 ends it.
CREATE FUNCTION acquire_lease(lease text, who text, span interval, OUT holder text, OUT epoch bigint, OUT remaining interval)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO leases AS l (name, holder, epoch, until, term) VALUES (lease, who, 1, clock_timestamp() + span, span)
        ON CONFLICT (name) DO UPDATE
            SET holder = excluded.holder, until = clock_timestamp() + span, term = excluded.term,
                epoch = l.epoch + CASE WHEN l.holder = excluded.holder THEN 0 ELSE 1 END
            WHERE l.holder = excluded.holder OR l.until <= clock_timestamp() OR l.until > clock_timestamp() + l.term;
    SELECT l.holder, l.epoch, greatest(l.until - clock_timestamp(), interval '0')
        INTO acquire_lease.holder, acquire_lease.epoch, acquire_lease.remaining FROM leases l WHERE l.name = lease;
END $$;

-- put_checkpoint keeps a checkpoint that is larger than the newest one, or the note of
-- one whose note is still the one that the caller knows, and tells whether it did.
CREATE FUNCTION put_checkpoint(size bigint, origin text, note bytea, "time" bigint, keys text, known bytea) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    IF current_setting('synchronous_commit') = 'off' THEN
        PERFORM set_config('synchronous_commit', 'on', true);
    END IF;
    PERFORM pg_advisory_xact_lock(1684109669, hashtext(current_schema()));
    IF known IS NULL THEN
        INSERT INTO checkpoints AS c SELECT $1, $2, $3, $4, $5
            WHERE $1 <= (SELECT max(k.last) FROM commits k) AND NOT EXISTS (SELECT FROM checkpoints c WHERE c.size >= $1);
    ELSE
        UPDATE checkpoints c SET note = $3 WHERE c.size = $1 AND c.note = known AND octet_length($3) > octet_length(known);
    END IF;
    RETURN FOUND;
END $$;

-- body_hash is the hash of a body of a leaf.
CREATE FUNCTION body_hash(name text, salt bytea, body bytea) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT sha256(int8send(14) || 'daybook body 2'::bytea || int8send(length(name)) || name::bytea || salt || int8send(octet_length(body)) || body)
$$;

-- sized is a text with its length before it.
CREATE FUNCTION sized(text) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT int8send(octet_length($1)) || convert_to($1, 'UTF8')
$$;

-- erase takes away what is left of records whose last entries say that they are erased:
-- the content of their other entries, their past slugs, and the answers of receipts that
-- are of them or name them. What is done already is passed over.
CREATE FUNCTION erase(ids bigint[]) RETURNS void LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
    SET enable_seqscan = off SET jit = off
AS $$
DECLARE
    e    entries;
    zero bytea := decode(repeat('00', 128), 'hex');
BEGIN
    PERFORM hold_log();
    FOR e IN SELECT x.* FROM records r JOIN entries x ON x.position = r.position WHERE r.id = ANY (ids) LOOP
        IF e.change NOT LIKE '%.erased' THEN
            RAISE EXCEPTION 'record % is not erased', e.record;
        END IF;
        UPDATE records SET erased = true, secret = '' WHERE id = e.record;
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
        UPDATE receipts SET answer = NULL WHERE answer IS NOT NULL AND (record = e.record
            OR position('\x00'::bytea IN answer) > 0 OR convert_from(answer, 'LATIN1') ~ ('(^|[^0-9])' || e.record || '([^0-9]|$)'));
    END LOOP;
END $$;

-- last_counted gives the greatest position of entries behind one whose times are not
-- after a moment, last_time the greatest time after a moment of entries up to one: null
-- for none.
CREATE FUNCTION last_counted(behind bigint, moment bigint) RETURNS bigint LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path FROM CURRENT
    SET enable_seqscan = off SET enable_indexscan = off SET enable_indexonlyscan = off SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
    SELECT max(e.position) FROM (SELECT position FROM entries WHERE position > behind AND time <= moment OFFSET 0) e
$$;

CREATE FUNCTION last_time(upto bigint, moment bigint) RETURNS bigint LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path FROM CURRENT
    SET enable_seqscan = off SET enable_indexscan = off SET enable_indexonlyscan = off SET max_parallel_workers_per_gather = 0 SET jit = off
AS $$
    SELECT max(e.time) FROM (SELECT time FROM entries WHERE position <= upto AND time > moment OFFSET 0) e
$$;
