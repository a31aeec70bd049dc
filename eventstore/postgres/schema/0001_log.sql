-- Everything stands in one schema, which is the first of search_path while this
-- runs. Whoever runs it owns the tables; the program needs no right on them but
-- to read, and writes through the functions below.

-- The log.
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
    secret   bytea            -- null: left as it was; empty: removed
);

CREATE UNIQUE INDEX entries_history ON entries (record, version);

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
    secret   bytea            -- empty: removed
) WITH (fillfactor = 80);

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

CREATE INDEX claims_record ON claims (record);

CREATE TABLE names (
    digest bytea  NOT NULL CHECK (octet_length(digest) = 32),
    record bigint NOT NULL,
    space  text   NOT NULL,
    key    text   NOT NULL,
    PRIMARY KEY (digest, record)
);

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

CREATE INDEX receipts_kept ON receipts USING brin (kept);

-- Its last value is the greatest id that was given or used.
CREATE SEQUENCE ids MINVALUE 0 START 0;
SELECT nextval('ids');

CREATE TABLE leases (
    name   text PRIMARY KEY,
    holder text        NOT NULL,
    epoch  bigint      NOT NULL,
    until  timestamptz NOT NULL
);

-- The log is append only, for its owner too and whatever
-- session_replication_role says.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION '% is append only', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END $$;

CREATE TRIGGER entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE entries ENABLE ALWAYS TRIGGER entries_append_only;

CREATE TRIGGER commits_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON commits
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE commits ENABLE ALWAYS TRIGGER commits_append_only;

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

-- append writes a group of appends in one commit, and gives the head before it.
-- Lists that begin with the same letter have one element for each entry (e),
-- claim (c), name (n), guard (g) and receipt (r); leaves are those of the entries
-- one after the other. top is the greatest id when new_ids may not have given it.
--
-- Unless the caller decided under hold_log, it expects that all of them win, and
-- the group is written only when they do; otherwise nothing is and the answer is
-- -1. No two appends of such a group touch the same record, claim or key.
--
-- Each table is looked up by index whatever the planner believes of its size: a
-- plan that was made while the tables were empty is used when they are not.
CREATE FUNCTION append(
    decided boolean, top bigint, released bigint[],
    e_kind text[], e_record bigint[], e_version bigint[], e_time bigint[], e_actor bigint[], e_change text[], e_leaf bytea[],
    e_client text[], e_request text[], e_reason text[], e_fields bytea[], e_state bytea[], e_secret bytea[],
    e_last boolean[], e_keeps bytea[],
    c_digest bytea[], c_record bigint[], c_space text[], c_key text[],
    n_digest bytea[], n_record bigint[], n_space text[], n_key text[],
    g_digest bytea[], g_count bigint[],
    r_digest bytea[], r_fresh boolean[], r_user bigint[], r_key text[], r_fingerprint bytea[], r_time bigint[],
    r_record bigint[], r_version bigint[], r_behind bigint[], r_position bigint[], r_answer bytea[],
    leaves bytea
) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER
    SET search_path FROM CURRENT
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
    SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
    n     int := cardinality(e_record);
    clock bigint := extract(epoch FROM clock_timestamp()) * 1000;
    -- All are first entries, and the check showed that nothing of them is there.
    fresh boolean := NOT decided AND cardinality(released) = 0;
    head  bigint;
    chain bytea;
    g     record;
BEGIN
    IF current_setting('transaction_isolation') <> 'read committed' OR current_setting('synchronous_commit') = 'off' THEN
        PERFORM hold_log(); -- deals with both
    END IF;
    PERFORM pg_advisory_xact_lock(1684109666, hashtext(current_schema()));
    SELECT last, hash INTO head, chain FROM commits ORDER BY first DESC LIMIT 1;
    IF NOT FOUND THEN
        head := 0;
        chain := decode(repeat('00', 32), 'hex');
    END IF;

    IF NOT decided THEN
        IF EXISTS (SELECT FROM generate_series(1, n) i LEFT JOIN records r ON r.id = e_record[i]
                    WHERE coalesce(r.version, 0) <> e_version[i] - 1 OR r.kind <> e_kind[i])
                OR EXISTS (SELECT FROM generate_series(1, cardinality(c_digest)) i
                    JOIN claims c ON c.digest = c_digest[i] WHERE c.record <> c_record[i])
                OR EXISTS (SELECT FROM generate_series(1, cardinality(r_digest)) i
                    JOIN receipts r ON r.digest = r_digest[i] WHERE r_fresh[i] OR r.fingerprint <> r_fingerprint[i]) THEN
            RETURN -1;
        END IF;
        FOR g IN SELECT * FROM unnest(g_digest, g_count) n (digest, wanted) LOOP
            -- A record of the group that has the name may lose it before its turn.
            IF (SELECT count(*) FROM names x WHERE x.digest = g.digest) <> g.wanted
                    OR EXISTS (SELECT FROM names x WHERE x.digest = g.digest AND x.record = ANY (released)) THEN
                RETURN -1;
            END IF;
        END LOOP;
    END IF;

    IF n > 0 THEN
        INSERT INTO entries (position, record, version, time, actor, kind, change, leaf, client, request, reason, fields, state, secret)
            SELECT head + i, e_record[i], e_version[i], e_time[i], e_actor[i], e_kind[i], e_change[i], e_leaf[i],
                e_client[i], e_request[i], e_reason[i], e_fields[i], e_state[i], e_secret[i]
            FROM generate_series(1, n) i;
        IF fresh THEN
            INSERT INTO records (id, kind, version, position, secret)
                SELECT e_record[i], e_kind[i], e_version[i], head + i, e_keeps[i] FROM generate_series(1, n) i;
        ELSE
            INSERT INTO records AS r (id, kind, version, position, secret)
                SELECT e_record[i], e_kind[i], e_version[i], head + i, e_keeps[i] FROM generate_series(1, n) i WHERE e_last[i]
                ON CONFLICT (id) DO UPDATE
                    SET version = excluded.version, position = excluded.position, secret = coalesce(excluded.secret, r.secret);
        END IF;
        INSERT INTO commits (first, last, hash)
            VALUES (head + 1, head + n, sha256(chain || int8send(head + 1) || leaves));
    END IF;

    IF cardinality(released) > 0 THEN
        DELETE FROM claims c WHERE c.record = ANY (released) AND c.digest <> ALL (c_digest);
        DELETE FROM names x WHERE x.record = ANY (released)
            AND x.digest || int8send(x.record) <> ALL (ARRAY (
                SELECT n.digest || int8send(n.record) FROM unnest(n_digest, n_record) n (digest, record)));
    END IF;
    IF cardinality(c_digest) > 0 THEN
        IF fresh THEN
            INSERT INTO claims (digest, record, space, key)
                SELECT c_digest[i], c_record[i], c_space[i], c_key[i] FROM generate_series(1, cardinality(c_digest)) i;
        ELSE
            INSERT INTO claims AS c (digest, record, space, key)
                SELECT c_digest[i], c_record[i], c_space[i], c_key[i] FROM generate_series(1, cardinality(c_digest)) i
                ON CONFLICT (digest) DO UPDATE SET record = excluded.record WHERE c.record <> excluded.record;
        END IF;
    END IF;
    IF cardinality(n_digest) > 0 THEN
        IF fresh THEN
            INSERT INTO names (digest, record, space, key)
                SELECT n_digest[i], n_record[i], n_space[i], n_key[i] FROM generate_series(1, cardinality(n_digest)) i;
        ELSE
            INSERT INTO names (digest, record, space, key)
                SELECT n_digest[i], n_record[i], n_space[i], n_key[i] FROM generate_series(1, cardinality(n_digest)) i
                ON CONFLICT DO NOTHING;
        END IF;
    END IF;
    IF cardinality(r_digest) > 0 THEN
        IF NOT decided AND true = ALL (r_fresh) THEN
            INSERT INTO receipts (digest, kept, user_id, key, fingerprint, time, record, version, position, answer)
                SELECT r_digest[i], clock, r_user[i], r_key[i], r_fingerprint[i], r_time[i], r_record[i], r_version[i],
                    head + r_behind[i], r_answer[i]
                FROM generate_series(1, cardinality(r_digest)) i;
        ELSE
            INSERT INTO receipts (digest, kept, user_id, key, fingerprint, time, record, version, position, answer)
                SELECT r_digest[i], clock, r_user[i], r_key[i], r_fingerprint[i], r_time[i], r_record[i], r_version[i],
                    CASE WHEN r_behind[i] > 0 THEN head + r_behind[i] ELSE r_position[i] END, r_answer[i]
                FROM generate_series(1, cardinality(r_digest)) i
                ON CONFLICT (digest) DO UPDATE SET answer = excluded.answer;
        END IF;
    END IF;

    IF n > 0 THEN
        IF top > 0 THEN
            PERFORM use_id(top);
        END IF;
        PERFORM pg_notify(current_schema() || '_head', (head + n)::text);
    END IF;
    RETURN head;
END $$;

-- purge_receipts removes up to 1,000 receipts that were kept for longer than an
-- age, and gives how many it removed. Receipts are kept for a day at least.
CREATE FUNCTION purge_receipts(age interval) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
DECLARE
    gone bigint;
BEGIN
    DELETE FROM receipts WHERE digest IN (SELECT r.digest FROM receipts r
        WHERE r.kept < extract(epoch FROM clock_timestamp() - greatest(age, interval '1 day')) * 1000
        LIMIT 1000 FOR UPDATE SKIP LOCKED);
    GET DIAGNOSTICS gone = ROW_COUNT;
    RETURN gone;
END $$;

-- acquire_lease takes or renews a lease where it is free, ended or the holder's
-- own, and gives it as it is then.
CREATE FUNCTION acquire_lease(lease text, who text, span interval, OUT holder text, OUT epoch bigint, OUT remaining interval)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO leases AS l (name, holder, epoch, until) VALUES (lease, who, 1, clock_timestamp() + span)
        ON CONFLICT (name) DO UPDATE
            SET holder = excluded.holder, until = clock_timestamp() + span,
                epoch = l.epoch + CASE WHEN l.holder = excluded.holder THEN 0 ELSE 1 END
            WHERE l.holder = excluded.holder OR l.until <= clock_timestamp();
    SELECT l.holder, l.epoch, greatest(l.until - clock_timestamp(), interval '0')
        INTO acquire_lease.holder, acquire_lease.epoch, acquire_lease.remaining FROM leases l WHERE l.name = lease;
END $$;

CREATE FUNCTION release_lease(lease text, who text) RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path FROM CURRENT AS $$
    UPDATE leases SET until = 'epoch' WHERE name = lease AND holder = who AND until > 'epoch'
$$;
