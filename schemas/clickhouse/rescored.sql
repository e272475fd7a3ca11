-- What was rescored.  A row is inserted before a day is changed and another
-- once its hours have been told to the aggregator: a day with the first and not
-- the second was interrupted, and is finished by rescoring it again; a run over one
-- owner's links does not finish one over everybody's.
CREATE TABLE IF NOT EXISTS rescored
(
    day      Date,
    run      UInt64,        -- by chance
    state    Enum8('begun' = 1, 'done' = 2),
    rules    UInt32,        -- as in verdict_version
    rows     UInt64,        -- that were to change
    hours    Array(UInt32), -- whose counts change: starts, seconds since 1970
    at       DateTime64(3, 'UTC'),
    host     LowCardinality(String),
    owner    String,        -- whose links' clicks were judged again; '': everybody's
    import   String         -- the log that a run takes back; '' of one that changes rows
)
ENGINE = MergeTree
PARTITION BY toYear(day)
ORDER BY (day, run, state);
