-- What imports of access logs are about to do, said before they do it, so that
-- one that was killed goes on with the very block it may have sent.
--   head   how a log begins: a hash after each of its first lines, chained, so
--          that a log is known again when it was renamed, packed or has grown
--   run    an import has begun; those before it stop
--   block  the lines from first to last are about to be inserted
-- `at` is this server's clock: the order of the rows is what matters.
CREATE TABLE IF NOT EXISTS import_journal
(
    identity String,
    what     Enum8('head' = 1, 'run' = 2, 'block' = 3),
    run      UInt64,
    head     Array(UInt64),
    first    UInt64, -- byte offsets of lines
    last     UInt64,
    file     String, -- as it was called
    at       DateTime64(6, 'UTC') DEFAULT now64(6, 'UTC')
)
ENGINE = MergeTree
ORDER BY (identity, at);
