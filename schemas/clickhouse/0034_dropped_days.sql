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
--   dropped_day  the rows of the UTC day are in its base, `rows` of them; they are
--                deleted from `clicks` when no query reads them any more
--   base_hour    the attempt of stats_hourly that the base of the hour is
--   base_sealed  the attempt of sealed_slots that the base of the day is
-- All rows of a drop are one insert.  The newest of a unit counts.
ALTER TABLE settled
    MODIFY COLUMN kind Enum8('hour' = 1, 'day' = 2, 'pass' = 3, 'link_day' = 4,
                             'held_hour' = 5, 'held_day' = 6, 'sealed_day' = 7,
                             'sealing' = 8, 'dropped_day' = 9, 'base_hour' = 10,
                             'base_sealed' = 11);
