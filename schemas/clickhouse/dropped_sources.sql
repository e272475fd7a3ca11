-- Days whose rows in `clicks` were dropped, because they were older than `raw_days`.  The
-- settled counts of such a day are its base: they stay, and later clicks are settled beside
-- them.
-- The position of a row decides whether the base contains it: the base has the rows up to
-- `last` of their epoch, topic and partition.  They are counted there, whether they are still
-- in `clicks`, are gone, or were restored from a backup; later rows are counted from `clicks`.
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
