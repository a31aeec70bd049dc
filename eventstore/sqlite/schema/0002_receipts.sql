-- Old receipts are found by when they were kept: after a clock that was wrong the
-- order in which they came says nothing of it.
CREATE INDEX receipts_kept ON receipts (kept);
