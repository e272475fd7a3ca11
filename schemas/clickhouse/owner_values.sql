-- The busiest values of each dimension and owner of a day, and one row for the rest: values
-- of dimensions by which hours are settled are published together with owner_slots, the
-- others with day_values, under attempts of their own.
-- The dimension comes before the owner, so that an account's values of one dimension are one
-- range, as those of an owner are.
CREATE TABLE IF NOT EXISTS owner_values
(
    account         LowCardinality(String),
    owner           LowCardinality(String) CODEC(ZSTD),
    dimension       LowCardinality(String),
    day             Date CODEC(Delta, ZSTD),
    attempt         UInt64 CODEC(Delta, ZSTD),
    value           String CODEC(ZSTD),
    rest            Bool, -- the sum of the values beyond the busiest ones
    events          UInt64 CODEC(T64, ZSTD),
    clicks          UInt64 CODEC(T64, ZSTD),
    bots            UInt64 CODEC(T64, ZSTD),
    prefetches      UInt64 CODEC(T64, ZSTD)
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (account, dimension, owner, day, value)
SETTINGS index_granularity = 1024,
         min_age_to_force_merge_seconds = 129600,
         min_age_to_force_merge_on_partition_only = 1;
