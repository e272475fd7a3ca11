-- `stats_rollups` of 0039 once more, in small granules and by value: a granule of 8,192
-- rows has the states of dimensions beside the one that is asked for, and to read these
-- was most of what a total of a month took.  Days of before are rolled up again from
-- `stats_hourly`, which answers until then.
-- `stats_rollups` and its kinds 'rolled_day' and 'rolling' are those of aggregators of
-- before, which may run beside; nothing else reads them any more.
CREATE TABLE IF NOT EXISTS stats_spans
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
ORDER BY (dimension, span, value, span_start)
SETTINGS index_granularity = 128,
         min_age_to_force_merge_seconds = 129600,
         min_age_to_force_merge_on_partition_only = 1;
ALTER TABLE settled
    MODIFY COLUMN kind Enum8('hour' = 1, 'day' = 2, 'pass' = 3, 'link_day' = 4,
                             'held_hour' = 5, 'held_day' = 6, 'sealed_day' = 7,
                             'sealing' = 8, 'dropped_day' = 9, 'base_hour' = 10,
                             'base_sealed' = 11, 'kept_from' = 12, 'owner_day' = 13,
                             'base_owner' = 14, 'copying' = 15, 'rolled_day' = 16,
                             'rolling' = 17, 'value_day' = 18, 'valuing' = 19,
                             'base_value' = 20, 'spanned_day' = 21, 'spanning' = 22);
