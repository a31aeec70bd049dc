-- What the past is read by, and what erasure needs.

-- Salts of an entry of form 2, 16 bytes each: actor, cause, fields, state, secret
-- (zeros where there is none). Null marks form 1.
ALTER TABLE entries ADD COLUMN salts bytea;
ALTER TABLE entries ADD CONSTRAINT entries_salts
    CHECK (octet_length(salts) = 80 AND (secret IS NOT NULL OR substr(salts, 65) = '\x00000000000000000000000000000000'::bytea)) NOT VALID;

-- A record that was erased takes no change any more.
ALTER TABLE records ADD COLUMN erased boolean NOT NULL DEFAULT false;
CREATE INDEX records_erased ON records (id) WHERE erased;

-- The server keeps samples of columns for its plans, which none of these has a part in:
-- what is erased would stay there. A type that is set anew drops those that there are.
ALTER TABLE entries ALTER client TYPE text, ALTER request TYPE text, ALTER reason TYPE text, ALTER fields TYPE bytea, ALTER state TYPE bytea, ALTER secret TYPE bytea;
ALTER TABLE entries ALTER client SET STATISTICS 0, ALTER request SET STATISTICS 0, ALTER reason SET STATISTICS 0, ALTER fields SET STATISTICS 0, ALTER state SET STATISTICS 0, ALTER secret SET STATISTICS 0;
ALTER TABLE records ALTER secret TYPE bytea;
ALTER TABLE records ALTER secret SET STATISTICS 0;
ALTER TABLE claims ALTER key TYPE text;
ALTER TABLE claims ALTER key SET STATISTICS 0;
ALTER TABLE names ALTER key TYPE text;
ALTER TABLE names ALTER key SET STATISTICS 0;
ALTER TABLE receipts ALTER key TYPE text, ALTER answer TYPE bytea;
ALTER TABLE receipts ALTER key SET STATISTICS 0, ALTER answer SET STATISTICS 0;

-- What is left of an entry whose record was erased by the entry at a position: the
-- hashes of cause, fields, state and secret, 32 bytes each; zeros in form 1.
CREATE TABLE redacted (
    position bigint PRIMARY KEY,
    by       bigint NOT NULL,
    hashes   bytea  NOT NULL CHECK (octet_length(hashes) = 128)
);

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

CREATE TRIGGER redacted_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON redacted
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE redacted ENABLE ALWAYS TRIGGER redacted_append_only;

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

DROP TRIGGER entries_append_only ON entries;
CREATE TRIGGER entries_append_only BEFORE DELETE OR TRUNCATE ON entries
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE entries ENABLE ALWAYS TRIGGER entries_append_only;
CREATE TRIGGER entries_blank_only BEFORE UPDATE ON entries FOR EACH ROW EXECUTE FUNCTION blank_only();
ALTER TABLE entries ENABLE ALWAYS TRIGGER entries_blank_only;

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

-- Null: from before, or by a process of before.
ALTER TABLE claims ADD COLUMN since bigint;

-- slug_since tells with which entry a record took a slug last, where its claim does not.
CREATE FUNCTION slug_since(id bigint, slug text) RETURNS bigint LANGUAGE sql STABLE SECURITY DEFINER SET search_path FROM CURRENT AS $$
    SELECT coalesce(max(e.position) FILTER (WHERE position(convert_to('"slug":"' || slug || '"', 'UTF8') IN e.fields) > 0), min(e.position))
    FROM entries e WHERE e.record = id
$$;

CREATE FUNCTION keep_slug() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO slugs (digest, position, record, kind, slug)
        SELECT OLD.digest, p, OLD.record, substr(OLD.space, 6), OLD.key
        FROM coalesce(OLD.since, slug_since(OLD.record, OLD.key)) p WHERE p IS NOT NULL
        ON CONFLICT DO NOTHING;
    RETURN NULL;
END $$;

CREATE TRIGGER claims_gone AFTER DELETE ON claims
    FOR EACH ROW WHEN (OLD.space LIKE 'slug/%') EXECUTE FUNCTION keep_slug();
CREATE TRIGGER claims_moved AFTER UPDATE ON claims
    FOR EACH ROW WHEN (OLD.space LIKE 'slug/%' AND OLD.record <> NEW.record) EXECUTE FUNCTION keep_slug();

-- Up to where the slugs of entries of before have to be noted, and are; see fill_slugs.
CREATE TABLE filling (
    done bigint NOT NULL,
    upto bigint NOT NULL
);
INSERT INTO filling (done, upto) SELECT 0, coalesce(max(position), 0) FROM entries;

-- The signed heads of the log. A note gains lines, and nothing else of it changes.
CREATE TABLE checkpoints (
    size   bigint PRIMARY KEY CHECK (size > 0),
    origin text   NOT NULL,
    note   bytea  NOT NULL,
    time   bigint NOT NULL, -- milliseconds since 1970, UTC
    keys   text   NOT NULL  -- which signed the log, as the signer writes it down
);

CREATE TRIGGER checkpoints_kept BEFORE DELETE OR TRUNCATE ON checkpoints
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE checkpoints ENABLE ALWAYS TRIGGER checkpoints_kept;

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

-- body_hash is the hash of a body of a leaf of form 2.
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
            SELECT o.position, e.position, CASE WHEN o.salts IS NULL THEN zero ELSE
                body_hash('cause', substr(o.salts, 17, 16), sized(o.client) || sized(o.request) || sized(o.reason)) ||
                body_hash('fields', substr(o.salts, 33, 16), o.fields) ||
                body_hash('state', substr(o.salts, 49, 16), o.state) ||
                CASE WHEN o.secret IS NULL THEN substr(zero, 1, 32) ELSE body_hash('secret', substr(o.salts, 65, 16), sha256(o.secret)) END END
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

-- append_salted is append_packed for entries of form 2. Beside what that is told:
--
--   numbers  claims, behind their records: the entry of the group that takes it, 1 for
--            the first; before the records that release: slugs that are taken and given
--            up in the group, entry and record
--   texts    at the end: kind and slug of these
--   bytes    at the end: their digests
--   salts    those of the entries one after the other
--   named    all numbers that answers of receipts have: when a record of such an id is
--            erased, the caller decides what becomes of the answers
--
-- Processes of before use append_packed and the others, which stay.
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
