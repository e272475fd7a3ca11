-- Counts over all links by whole UTC days, and their totals by the hour, united from
-- `stats_hourly` once a day is settled: a query about a month unites 30 states of a value
-- rather than 2,880 of its slots.
-- A day is written under a new attempt: a row of kind 'spanning' in `settled` announces it,
-- and a row of kind 'spanned_day' publishes it.  It is read while no part of the day was
-- published later; after that its slots are read, until it is written again.
-- Granules are small and the order is by value: a granule of 8,192 rows also has the states of
-- other dimensions than the requested one, and reading these took most of the time of a
-- month's total.
CREATE TABLE IF NOT EXISTS stats_spans
(
    dimension      LowCardinality(String), -- as in stats_hourly
    span           UInt32,                 -- seconds: 86400, or 3600 for 'total'
    span_start     DateTime('UTC') CODEC(Delta, ZSTD),
    attempt        UInt64 CODEC(Delta, ZSTD),
    value          String CODEC(ZSTD),
    rest           Bool,
    events         UInt64 CODEC(T64, ZSTD),
    clicks         UInt64 CODEC(T64, ZSTD),
    bots           UInt64 CODEC(T64, ZSTD),
    prefetches     UInt64 CODEC(T64, ZSTD),
    -- Visitors of clicks by people, and of all other clicks; addresses for `total` and
    -- `verdict` alone.
    people         AggregateFunction(uniqCombined(14), UInt64) CODEC(ZSTD),
    others         AggregateFunction(uniqCombined(14), UInt64) CODEC(ZSTD),
    people_ips     AggregateFunction(uniqCombined(14), UInt64) CODEC(ZSTD),
    others_ips     AggregateFunction(uniqCombined(14), UInt64) CODEC(ZSTD),
    emptied        Bool
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(span_start)
ORDER BY (dimension, span, value, span_start)
SETTINGS index_granularity = 128,
         min_age_to_force_merge_seconds = 129600,
         min_age_to_force_merge_on_partition_only = 1;
