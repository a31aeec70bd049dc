-- Which keys signed the log, as the signer writes it down beside each checkpoint.
ALTER TABLE checkpoints ADD COLUMN keys TEXT NOT NULL DEFAULT '';

DROP TRIGGER checkpoints_no_update;

CREATE TRIGGER checkpoints_no_update BEFORE UPDATE OF size, origin, time, keys ON checkpoints
BEGIN SELECT RAISE(ABORT, 'checkpoints gain lines only'); END;
