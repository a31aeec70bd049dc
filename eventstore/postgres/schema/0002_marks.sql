-- append_known is append for a process that knows the log up to a commit: its last
-- position and its hash, 0 for none. Where the log does not hold that commit it is
-- another history than the one the appends were decided on (a failover lost the
-- last entries, a backup was put back): nothing is written and head is -2. hash is
-- that of the last commit afterwards, null for an empty log. Processes of before
-- use append itself.
CREATE FUNCTION append_known(
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
    SET plan_cache_mode = force_generic_plan
AS $$
BEGIN
    PERFORM hold_log();
    IF known > 0 AND NOT coalesce((SELECT c.last = known AND c.hash = known_hash FROM commits c
            WHERE c.first <= known ORDER BY c.first DESC LIMIT 1), false) THEN
        head := -2;
        RETURN;
    END IF;
    head := append(decided, top, released,
        e_kind, e_record, e_version, e_time, e_actor, e_change, e_leaf, e_client, e_request, e_reason, e_fields, e_state, e_secret, e_last, e_keeps,
        c_digest, c_record, c_space, c_key, n_digest, n_record, n_space, n_key, g_digest, g_count,
        r_digest, r_fresh, r_user, r_key, r_fingerprint, r_time, r_record, r_version, r_behind, r_position, r_answer, leaves);
    SELECT c.hash INTO append_known.hash FROM commits c ORDER BY c.first DESC LIMIT 1;
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

-- Old receipts are found by when they were kept.
CREATE INDEX receipts_age ON receipts (kept);
DROP INDEX receipts_kept;

-- purge_receipts removes up to 1,000 receipts that were kept for longer than an
-- age, and gives how many it dealt with. What was kept in a time that has not come,
-- under a clock that was wrong, counts as kept now. Receipts are kept for a day at
-- least.
CREATE OR REPLACE FUNCTION purge_receipts(age interval) RETURNS bigint LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT
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

-- What a lease was taken for: one that ends later than that from now was taken
-- before the clock went back, and has ended.
ALTER TABLE leases ADD COLUMN term interval;

CREATE OR REPLACE FUNCTION acquire_lease(lease text, who text, span interval, OUT holder text, OUT epoch bigint, OUT remaining interval)
    LANGUAGE plpgsql SECURITY DEFINER SET search_path FROM CURRENT AS $$
BEGIN
    INSERT INTO leases AS l (name, holder, epoch, until, term) VALUES (lease, who, 1, clock_timestamp() + span, span)
        ON CONFLICT (name) DO UPDATE
            SET holder = excluded.holder, until = clock_timestamp() + span, term = excluded.term,
                epoch = l.epoch + CASE WHEN l.holder = excluded.holder THEN 0 ELSE 1 END
            WHERE l.holder = excluded.holder OR l.until <= clock_timestamp() OR l.until > clock_timestamp() + coalesce(l.term, span);
    SELECT l.holder, l.epoch, greatest(l.until - clock_timestamp(), interval '0')
        INTO acquire_lease.holder, acquire_lease.epoch, acquire_lease.remaining FROM leases l WHERE l.name = lease;
END $$;
