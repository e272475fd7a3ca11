-- The days that were rescored.  One row is inserted before a day is changed and another
-- once its hours have been reported to the aggregator: a day with the first and not the
-- second was interrupted, and is finished by rescoring it again; a run over the links of an
-- account or owner does not finish one over more links.
CREATE TABLE IF NOT EXISTS rescored
(
    day      Date,
    run      UInt64,        -- random
    state    Enum8('begun' = 1, 'done' = 2),
    rules    UInt32,        -- as in verdict_version
    rows     UInt64,        -- to be changed
    hours    Array(UInt32), -- with changed counts: starts, seconds since 1970
    at       DateTime64(3, 'UTC'),
    host     LowCardinality(String),
    -- Clicks of their links were classified again; '': of any.
    account  LowCardinality(String),
    owner    String,
    import   String         -- the log that a run takes back; '': the run changes rows
)
ENGINE = MergeTree
PARTITION BY toYear(day)
ORDER BY (day, run, state);
