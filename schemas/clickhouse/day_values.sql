-- The values of those dimensions by which hours are not settled (continent, region,
-- network, brands, versions, UTM fields, ...), a closed UTC day at a time: over all links
-- here, for each owner in `owner_values`, where they are stored beside the others under
-- attempts of their own.
-- A day is copied from `clicks` under a new attempt: a row of kind 'valuing' in `settled`
-- announces the attempt, and a row of kind 'value_day' publishes it.  It is read while no part
-- of the day was published later.  'base_value' names the attempt that is the base of a dropped
-- day.
CREATE TABLE IF NOT EXISTS day_values
(
    dimension       LowCardinality(String),
    day             Date CODEC(Delta, ZSTD),
    attempt         UInt64 CODEC(Delta, ZSTD),
    value           String CODEC(ZSTD),
    rest            Bool, -- the sum of the values beyond the busiest ones
    events          UInt64 CODEC(T64, ZSTD), -- also those without a link
    clicks          UInt64 CODEC(T64, ZSTD),
    bots            UInt64 CODEC(T64, ZSTD),
    prefetches      UInt64 CODEC(T64, ZSTD)
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (dimension, day, value)
SETTINGS index_granularity = 1024,
         min_age_to_force_merge_seconds = 129600,
         min_age_to_force_merge_on_partition_only = 1;
