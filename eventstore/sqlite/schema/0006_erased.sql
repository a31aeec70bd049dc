-- A record that was erased takes no change any more.
ALTER TABLE records ADD COLUMN erased INTEGER NOT NULL DEFAULT 0;
