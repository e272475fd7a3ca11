-- What `collector import --undo` does, written down before and after it does it: an
-- undo that was killed goes on, no import of the log begins meanwhile, and settling
-- knows why an hour has fewer rows than before.
--   undo    rows of this log and epoch are about to be deleted
--   taken   they are gone, and their hours are about to be settled without them
--   undone  all is done: the log can be imported again, under the next epoch
--   kept    an undo (of that run) ended before it deleted anything
-- Of `undo` that found its rows, and of `taken`, `head` has the hours (seconds since
-- 1970), then as many numbers of rows.
ALTER TABLE import_journal
    ADD COLUMN IF NOT EXISTS epoch UInt32 AFTER number,
    MODIFY COLUMN what Enum8('head' = 1, 'run' = 2, 'block' = 3, 'undo' = 4, 'taken' = 5,
                             'undone' = 6, 'kept' = 7);

-- The log whose import a run takes back; '' of one that changes rows.  Its day is not
-- dropped before the run has ended, as with any other.  The collector writes this
-- column, so it is upgraded after this was applied.
ALTER TABLE rescored
    ADD COLUMN IF NOT EXISTS import String AFTER owner;
