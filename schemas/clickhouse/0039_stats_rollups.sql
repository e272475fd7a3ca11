-- Counts over all links by whole UTC days, and their totals by the hour, united from
-- `stats_hourly` once a day is settled: a question about a month unites 30 states of a
-- value rather than 2,880 of its slots.
-- A day is written under a new attempt, of which a row of kind 'rolling' in `settled`
-- tells first, and published by a row of kind 'rolled_day'.  It is read while nothing of
-- the day was published later; then its slots are, until it is written again.
CREATE TABLE IF NOT EXISTS stats_rollups
(
    dimension      LowCardinality(String), -- as in stats_hourly
    span           UInt32,                 -- seconds: 86400, or 3600 of 'total'
    span_start     DateTime('UTC') CODEC(Delta, ZSTD),
    attempt        UInt64,
    value          String,
    rest           Bool,
    events         UInt64,
    clicks         UInt64,
    bots           UInt64,
    prefetches     UInt64,
    visitors       AggregateFunction(uniqCombined64(14), FixedString(20)),
    ips            AggregateFunction(uniqCombined64(14), IPv6),
    human_visitors AggregateFunction(uniqCombined64(14), FixedString(20)),
    human_ips      AggregateFunction(uniqCombined64(14), IPv6),
    emptied        Bool
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(span_start)
ORDER BY (dimension, span, span_start, value)
SETTINGS min_age_to_force_merge_seconds = 129600,
         min_age_to_force_merge_on_partition_only = 1;
ALTER TABLE settled
    MODIFY COLUMN kind Enum8('hour' = 1, 'day' = 2, 'pass' = 3, 'link_day' = 4,
                             'held_hour' = 5, 'held_day' = 6, 'sealed_day' = 7,
                             'sealing' = 8, 'dropped_day' = 9, 'base_hour' = 10,
                             'base_sealed' = 11, 'kept_from' = 12, 'owner_day' = 13,
                             'base_owner' = 14, 'copying' = 15, 'rolled_day' = 16,
                             'rolling' = 17);
