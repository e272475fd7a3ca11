-- The busiest 100 values of each dimension, link and holder of a day, and one row for the rest
-- of them: what is left of a link's breakdowns once the day's rows are dropped.  A day is
-- copied when it is old enough to be dropped, and not before, since until then the rows answer.
-- Of a link that has at most 100 values of a dimension a day, all counts are exact.
-- The holder is the account and owner of the link at the click.
-- A day is copied from `clicks` under a new attempt: a row of kind 'link_valuing' in `settled`
-- announces the attempt, and a row of kind 'link_value_day' publishes it.  'base_link_value'
-- names the attempt that is the base of a dropped day.
-- The value is not in the order: forgetting a link empties it.
CREATE TABLE IF NOT EXISTS link_values
(
    link_id         UInt64 CODEC(Delta, ZSTD),
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
ORDER BY (link_id, dimension, day)
SETTINGS index_granularity = 2048,
         min_age_to_force_merge_seconds = 129600,
         min_age_to_force_merge_on_partition_only = 1;
