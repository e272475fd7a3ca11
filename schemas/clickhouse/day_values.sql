-- The values of those dimensions that hours are not settled by (continent, region, network,
-- brands, versions, UTM fields, ...), a closed UTC day at a time: of all links here, of each
-- owner in `owner_values`, in which they stand beside the others under attempts of their own.
-- A day is copied from `clicks` under a new attempt, of which a row of kind 'valuing' in
-- `settled` tells first, and published by a row of kind 'value_day'.  It is read while nothing
-- of the day was published later.  'base_value' is the attempt that the base of a dropped day
-- is.
CREATE TABLE IF NOT EXISTS day_values
(
    dimension       LowCardinality(String),
    day             Date,
    attempt         UInt64,
    value           String,
    rest            Bool, -- the sum of the values beyond the busiest ones
    events          UInt64 CODEC(T64, ZSTD), -- also those of no link
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
