-- Runs of a log in their order: one more than the highest number that a run found
-- when it began, in its row `run` and in those of its blocks.  0 in rows of
-- programs before, which went by `at`: a clock that is set back.  An import writes
-- it, so the collector is upgraded after this was applied.
ALTER TABLE import_journal
    ADD COLUMN IF NOT EXISTS number UInt64 AFTER run;
