-- The steps of imports of access logs, each written before it is done, so that an import
-- that was killed continues with exactly the block it may have sent.
--   head   the beginning of a log: a hash after each of its first lines, chained, so that
--          a log is recognized after it was renamed, compressed or has grown
--   run    an import has begun; earlier ones stop
--   block  the lines from first to last are about to be inserted
-- The steps of `collector import --undo`, written before and after each is done: an undo that
-- was killed continues, no import of the log begins meanwhile, and settling knows why an hour
-- has fewer rows than before.
--   undo    rows of this log and epoch are about to be deleted
--   taken   they are deleted, and their hours are about to be settled without them
--   undone  all is done: the log can be imported again, under the next epoch
--   kept    an undo (of that run) ended before it deleted anything
-- In rows `undo` (if it found its rows) and `taken`, `head` has the hours (seconds since
-- 1970), followed by as many numbers of rows.
-- `number` is the order of a log's runs: one more than the highest that a run found when it
-- began, in its row `run` and in those of its blocks.
CREATE TABLE IF NOT EXISTS import_journal
(
    identity String,
    what     Enum8('head' = 1, 'run' = 2, 'block' = 3, 'undo' = 4, 'taken' = 5,
                   'undone' = 6, 'kept' = 7),
    run      UInt64,
    number   UInt64,
    epoch    UInt32,
    head     Array(UInt64),
    first    UInt64, -- byte offsets of lines
    last     UInt64,
    file     String, -- the name at that time
    at       DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC') -- this server's clock
)
ENGINE = MergeTree
ORDER BY (identity, at);
