-- Entries are found by time. This step takes as long as it takes to read the log, and
-- holds appends up meanwhile, but no reads.
CREATE INDEX entries_time ON entries (time);

-- Times mostly rise with positions, but those of imports do not. Where they do, the few
-- blocks of the log that may hold an exception are found by this.
CREATE INDEX entries_order ON entries USING brin (position, time) WITH (pages_per_range = 64, autosummarize = on);

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
