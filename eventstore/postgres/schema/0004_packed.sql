-- append_packed is append_group with few parameters: each list is a thing of its own to
-- the server, to be read, copied and taken apart, and there were thirty. All numbers, texts and bytes are in one list each, in this order of columns,
-- each of n entries, c claims, m names, g guards or r receipts:
--
--   numbers  entries: record, version, time, actor, 1 for the last one of its record;
--            claims: record; names: record; guards: count;
--            receipts: user, time, record, version, how far behind the head, position;
--            records whose claims and names are released
--   texts    entries: kind, change, client, request, reason; claims: space, key;
--            names: space, key; receipts: key
--   bytes    entries: fields, state, secret, secret of the record after the group;
--            claims: digest; names: digest; guards: digest;
--            receipts: digest, fingerprint, answer
--
-- The first f receipts must not be there yet. leaves are those of the entries one after
-- the other. What is inserted for the first time is not looked for before: when it is
-- there, the insert says so. Processes of before use append_group and the others, which
-- stay.
CREATE FUNCTION append_packed(
    known bigint, known_hash bytea, decided boolean, top bigint,
    n int, c int, m int, g int, r int, f int,
    numbers bigint[], texts text[], bytes bytea[], leaves bytea,
    OUT head bigint, OUT hash bytea
) LANGUAGE plpgsql SECURITY DEFINER
    SET search_path FROM CURRENT
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
    SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
    clock    bigint := extract(epoch FROM clock_timestamp()) * 1000;
    -- Where the columns of claims, names, guards and receipts begin.
    nc int := 5 * n; nm int := nc + c; ng int := nm + m; nr int := ng + g;
    tc int := 5 * n; tm int := tc + 2 * c; tr int := tm + 2 * m;
    bc int := 4 * n; bm int := bc + c; bg int := bm + m; br int := bg + g;
    free     int := nr + 6 * r;
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
    IF NOT decided AND NOT first THEN
        SELECT EXISTS (SELECT FROM generate_series(1, n) i LEFT JOIN records x ON x.id = numbers[i]
                WHERE coalesce(x.version, 0) <> numbers[n + i] - 1 OR x.kind <> texts[i])
            OR EXISTS (SELECT FROM generate_series(1, c) i
                JOIN claims x ON x.digest = bytes[bc + i] WHERE x.record <> numbers[nc + i])
            OR EXISTS (SELECT FROM generate_series(1, r) i
                JOIN receipts x ON x.digest = bytes[br + i] WHERE i <= f OR x.fingerprint <> bytes[br + r + i])
            INTO lost;
    ELSIF first AND r > f THEN
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
                INSERT INTO entries (position, record, version, time, actor, kind, change, leaf, client, request, reason, fields, state, secret)
                    SELECT head + i, numbers[i], numbers[n + i], numbers[2 * n + i], numbers[3 * n + i], texts[i], texts[n + i],
                        substr(leaves, 32 * i - 31, 32), texts[2 * n + i], texts[3 * n + i], texts[4 * n + i],
                        bytes[i], bytes[n + i], bytes[2 * n + i]
                    FROM generate_series(1, n) i
            ), s AS (
                INSERT INTO records (id, kind, version, position, secret)
                    SELECT numbers[i], texts[i], numbers[n + i], head + i, bytes[3 * n + i] FROM generate_series(1, n) i
            ), l AS (
                INSERT INTO claims (digest, record, space, key)
                    SELECT bytes[bc + i], numbers[nc + i], texts[tc + i], texts[tc + c + i] FROM generate_series(1, c) i
            ), k AS (
                INSERT INTO receipts (digest, kept, user_id, key, fingerprint, time, record, version, position, answer)
                    SELECT bytes[br + i], clock, numbers[nr + i], texts[tr + i], bytes[br + r + i], numbers[nr + r + i],
                        numbers[nr + 2 * r + i], numbers[nr + 3 * r + i], head + numbers[nr + 4 * r + i], bytes[br + 2 * r + i]
                    FROM generate_series(1, f) i
            )
            INSERT INTO commits (first, last, hash) VALUES (head + 1, head + n, append_packed.hash);
        EXCEPTION WHEN unique_violation THEN
            head := -1;
            RETURN;
        END;
    ELSE
        IF n > 0 THEN
            INSERT INTO entries (position, record, version, time, actor, kind, change, leaf, client, request, reason, fields, state, secret)
                SELECT head + i, numbers[i], numbers[n + i], numbers[2 * n + i], numbers[3 * n + i], texts[i], texts[n + i],
                    substr(leaves, 32 * i - 31, 32), texts[2 * n + i], texts[3 * n + i], texts[4 * n + i],
                    bytes[i], bytes[n + i], bytes[2 * n + i]
                FROM generate_series(1, n) i;
            INSERT INTO records AS x (id, kind, version, position, secret)
                SELECT numbers[i], texts[i], numbers[n + i], head + i, bytes[3 * n + i] FROM generate_series(1, n) i WHERE numbers[4 * n + i] = 1
                ON CONFLICT (id) DO UPDATE
                    SET version = excluded.version, position = excluded.position, secret = coalesce(excluded.secret, x.secret);
            INSERT INTO commits (first, last, hash) VALUES (head + 1, head + n, append_packed.hash);
        END IF;
        IF releases THEN
            DELETE FROM claims x WHERE x.record = ANY (released) AND x.digest <> ALL (bytes[bc + 1 : bm]);
            DELETE FROM names x WHERE x.record = ANY (released)
                AND x.digest || int8send(x.record) <> ALL (ARRAY (
                    SELECT bytes[bm + i] || int8send(numbers[nm + i]) FROM generate_series(1, m) i));
        END IF;
        IF c > 0 THEN
            INSERT INTO claims AS x (digest, record, space, key)
                SELECT bytes[bc + i], numbers[nc + i], texts[tc + i], texts[tc + c + i] FROM generate_series(1, c) i
                ON CONFLICT (digest) DO UPDATE SET record = excluded.record WHERE x.record <> excluded.record;
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
    IF n > 0 AND top > 0 THEN
        PERFORM use_id(top);
    END IF;
    IF n > 0 THEN
        nothing := pg_notify(current_schema() || '_head', (head + n)::text)::text;
    END IF;
END $$;
