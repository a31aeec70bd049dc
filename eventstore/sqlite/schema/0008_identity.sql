-- The UUID of the store. A store of before has the one that its first entry gives.
CREATE TABLE identity (uuid BLOB NOT NULL CHECK (length(uuid) = 16)) STRICT;
INSERT INTO identity SELECT coalesce((SELECT substr(leaf, 1, 16) FROM entries WHERE position = 1), randomblob(16));
