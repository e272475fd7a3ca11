-- What imports of access logs are about to do, said before they do it, so that
-- one that was killed goes on with the very block it may have sent.
--   head   how a log begins: a hash after each of its first lines, chained, so
--          that a log is known again when it was renamed, packed or has grown
--   run    an import has begun; those before it stop
--   block  the lines from first to last are about to be inserted
-- And what `collector import --undo` does, written down before and after it does it: an
-- undo that was killed goes on, no import of the log begins meanwhile, and settling
-- knows why an hour has fewer rows than before.
--   undo    rows of this log and epoch are about to be deleted
--   taken   they are gone, and their hours are about to be settled without them
--   undone  all is done: the log can be imported again, under the next epoch
--   kept    an undo (of that run) ended before it deleted anything
-- Of `undo` that found its rows, and of `taken`, `head` has the hours (seconds since
-- 1970), then as many numbers of rows.
-- `number` tells the order of a log's runs: one more than the highest that a run found
-- when it began, in its row `run` and in those of its blocks.
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
    file     String, -- as it was called
    at       DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC') -- this server's clock
)
ENGINE = MergeTree
ORDER BY (identity, at);
