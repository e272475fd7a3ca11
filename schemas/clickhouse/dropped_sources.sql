-- Days whose rows of `clicks` were dropped, being older than `raw_days`.  What was
-- settled of such a day is its base: it stays, and clicks that come later are settled
-- beside it.
-- Which rows the base has is told by their place: those up to `last` of their epoch,
-- topic and partition.  They are counted there, whether they are still in `clicks`, are
-- gone, or were brought back by a backup; what lies behind is counted from `clicks`.
CREATE TABLE IF NOT EXISTS dropped_sources
(
    day       Date,
    attempt   UInt64, -- counts when `settled` has a dropped_day of this number
    epoch     UInt32,
    topic     LowCardinality(String),
    partition UInt32,
    last      UInt64  -- the greatest offset that collectors reported of the day
)
ENGINE = MergeTree
PARTITION BY toYear(day)
ORDER BY (day, attempt, topic, partition, epoch);
