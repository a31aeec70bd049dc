-- append_group is append_known with less to do for the same: what is looked at is one
-- statement, what a group of first entries writes is another one, and what needs no
-- statement is an assignment. Processes of before use append_known, those of before them
-- append; both stay.
CREATE FUNCTION append_group(
    known bigint, known_hash bytea,
    decided boolean, top bigint, released bigint[],
    e_kind text[], e_record bigint[], e_version bigint[], e_time bigint[], e_actor bigint[], e_change text[], e_leaf bytea[],
    e_client text[], e_request text[], e_reason text[], e_fields bytea[], e_state bytea[], e_secret bytea[],
    e_last boolean[], e_keeps bytea[],
    c_digest bytea[], c_record bigint[], c_space text[], c_key text[],
    n_digest bytea[], n_record bigint[], n_space text[], n_key text[],
    g_digest bytea[], g_count bigint[],
    r_digest bytea[], r_fresh boolean[], r_user bigint[], r_key text[], r_fingerprint bytea[], r_time bigint[],
    r_record bigint[], r_version bigint[], r_behind bigint[], r_position bigint[], r_answer bytea[],
    leaves bytea,
    OUT head bigint, OUT hash bytea
) LANGUAGE plpgsql SECURITY DEFINER
    SET search_path FROM CURRENT
    SET enable_seqscan = off SET enable_hashjoin = off SET enable_mergejoin = off
    SET plan_cache_mode = force_generic_plan SET jit = off
AS $$
DECLARE
    n       int := cardinality(e_record);
    clock   bigint := extract(epoch FROM clock_timestamp()) * 1000;
    -- All are first entries, and the look showed that nothing of them is there.
    fresh   boolean := NOT decided AND cardinality(released) = 0 AND n > 0;
    chain   bytea;
    lost    boolean;
    nothing text; -- of functions that give none
    g       record;
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

    SELECT c.last, c.hash, NOT decided AND (
            EXISTS (SELECT FROM generate_series(1, n) i LEFT JOIN records r ON r.id = e_record[i]
                WHERE coalesce(r.version, 0) <> e_version[i] - 1 OR r.kind <> e_kind[i])
            OR EXISTS (SELECT FROM generate_series(1, cardinality(c_digest)) i
                JOIN claims x ON x.digest = c_digest[i] WHERE x.record <> c_record[i])
            OR EXISTS (SELECT FROM generate_series(1, cardinality(r_digest)) i
                JOIN receipts r ON r.digest = r_digest[i] WHERE r_fresh[i] OR r.fingerprint <> r_fingerprint[i]))
        INTO head, chain, lost
        FROM (VALUES (0)) one LEFT JOIN LATERAL (SELECT * FROM commits ORDER BY first DESC LIMIT 1) c ON true;
    IF known > 0 AND (head IS DISTINCT FROM known OR chain <> known_hash)
            AND NOT coalesce((SELECT c.last = known AND c.hash = known_hash FROM commits c
                WHERE c.first <= known ORDER BY c.first DESC LIMIT 1), false) THEN
        head := -2;
        RETURN;
    END IF;
    hash := chain;
    IF head IS NULL THEN
        head := 0;
        chain := decode(repeat('00', 32), 'hex');
    END IF;
    IF NOT decided AND cardinality(g_digest) > 0 THEN
        FOR g IN SELECT * FROM unnest(g_digest, g_count) n (digest, wanted) LOOP
            -- A record of the group that has the name may lose it before its turn.
            lost := lost OR (SELECT count(*) FROM names x WHERE x.digest = g.digest) <> g.wanted
                OR EXISTS (SELECT FROM names x WHERE x.digest = g.digest AND x.record = ANY (released));
        END LOOP;
    END IF;
    IF lost THEN
        head := -1;
        RETURN;
    END IF;
    IF n > 0 THEN
        hash := sha256(chain || int8send(head + 1) || leaves);
    END IF;

    IF fresh THEN
        WITH e AS (
            INSERT INTO entries (position, record, version, time, actor, kind, change, leaf, client, request, reason, fields, state, secret)
                SELECT head + i, e_record[i], e_version[i], e_time[i], e_actor[i], e_kind[i], e_change[i], e_leaf[i],
                    e_client[i], e_request[i], e_reason[i], e_fields[i], e_state[i], e_secret[i]
                FROM generate_series(1, n) i
        ), r AS (
            INSERT INTO records (id, kind, version, position, secret)
                SELECT e_record[i], e_kind[i], e_version[i], head + i, e_keeps[i] FROM generate_series(1, n) i
        ), c AS (
            INSERT INTO claims (digest, record, space, key)
                SELECT c_digest[i], c_record[i], c_space[i], c_key[i] FROM generate_series(1, cardinality(c_digest)) i
        ), k AS (
            INSERT INTO receipts (digest, kept, user_id, key, fingerprint, time, record, version, position, answer)
                SELECT r_digest[i], clock, r_user[i], r_key[i], r_fingerprint[i], r_time[i], r_record[i], r_version[i],
                    head + r_behind[i], r_answer[i]
                FROM generate_series(1, cardinality(r_digest)) i WHERE r_fresh[i]
        )
        INSERT INTO commits (first, last, hash) VALUES (head + 1, head + n, append_group.hash);
    ELSE
        IF n > 0 THEN
            INSERT INTO entries (position, record, version, time, actor, kind, change, leaf, client, request, reason, fields, state, secret)
                SELECT head + i, e_record[i], e_version[i], e_time[i], e_actor[i], e_kind[i], e_change[i], e_leaf[i],
                    e_client[i], e_request[i], e_reason[i], e_fields[i], e_state[i], e_secret[i]
                FROM generate_series(1, n) i;
            INSERT INTO records AS r (id, kind, version, position, secret)
                SELECT e_record[i], e_kind[i], e_version[i], head + i, e_keeps[i] FROM generate_series(1, n) i WHERE e_last[i]
                ON CONFLICT (id) DO UPDATE
                    SET version = excluded.version, position = excluded.position, secret = coalesce(excluded.secret, r.secret);
            INSERT INTO commits (first, last, hash) VALUES (head + 1, head + n, append_group.hash);
        END IF;
        IF cardinality(released) > 0 THEN
            DELETE FROM claims c WHERE c.record = ANY (released) AND c.digest <> ALL (c_digest);
            DELETE FROM names x WHERE x.record = ANY (released)
                AND x.digest || int8send(x.record) <> ALL (ARRAY (
                    SELECT n.digest || int8send(n.record) FROM unnest(n_digest, n_record) n (digest, record)));
        END IF;
        IF cardinality(c_digest) > 0 THEN
            INSERT INTO claims AS c (digest, record, space, key)
                SELECT c_digest[i], c_record[i], c_space[i], c_key[i] FROM generate_series(1, cardinality(c_digest)) i
                ON CONFLICT (digest) DO UPDATE SET record = excluded.record WHERE c.record <> excluded.record;
        END IF;
    END IF;
    IF NOT fresh AND cardinality(r_digest) > 0 OR false = ANY (r_fresh) THEN
        INSERT INTO receipts (digest, kept, user_id, key, fingerprint, time, record, version, position, answer)
            SELECT r_digest[i], clock, r_user[i], r_key[i], r_fingerprint[i], r_time[i], r_record[i], r_version[i],
                CASE WHEN r_behind[i] > 0 THEN head + r_behind[i] ELSE r_position[i] END, r_answer[i]
            FROM generate_series(1, cardinality(r_digest)) i WHERE NOT fresh OR NOT r_fresh[i]
            ON CONFLICT (digest) DO UPDATE SET answer = excluded.answer;
    END IF;
    IF cardinality(n_digest) > 0 THEN
        INSERT INTO names (digest, record, space, key)
            SELECT n_digest[i], n_record[i], n_space[i], n_key[i] FROM generate_series(1, cardinality(n_digest)) i
            ON CONFLICT DO NOTHING;
    END IF;

    IF n > 0 THEN
        IF top > 0 THEN
            PERFORM use_id(top);
        END IF;
        nothing := pg_notify(current_schema() || '_head', (head + n)::text)::text;
    END IF;
END $$;

-- Texts of entries are not packed by the server: what it takes to try is a tenth of
-- what an append takes. Rows above 8 kB are, as before.
ALTER TABLE entries SET (toast_tuple_target = 8160);
