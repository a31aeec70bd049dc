-- The UUID of the store. A store of before has the one that its first entry gives.
CREATE TABLE identity (uuid uuid NOT NULL);
INSERT INTO identity SELECT coalesce(
    (SELECT encode(substring(leaf FROM 1 FOR 16), 'hex')::uuid FROM entries WHERE position = 1), gen_random_uuid());
