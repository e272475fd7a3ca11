-- Counts over all links, per dimension and value, in 15-minute slots (as in
-- clicks_hourly), settled an hour at a time.  Every settling of an hour writes
-- its rows under a new attempt number and publishes them by a row in `settled`;
-- superseded attempts are deleted some time later.  A reader takes, for each
-- hour, the newest published attempt.
-- The states of unique visitors can be merged over slots and hours; they are
-- filled for `total` and for dimensions of few values only and empty otherwise.
CREATE TABLE IF NOT EXISTS stats_hourly
(
    dimension      LowCardinality(String), -- 'total', 'country', ...
    hour           DateTime('UTC') CODEC(Delta, ZSTD),
    attempt        UInt64,
    slot           DateTime('UTC') CODEC(Delta, ZSTD),
    value          String, -- '' where it is not known, and for 'total'
    rest           Bool,   -- the sum of the values beyond the busiest ones
    events         UInt64, -- all events, whatever the outcome
    clicks         UInt64, -- answered by a redirect, whoever asked
    bots           UInt64, -- of the clicks
    prefetches     UInt64, -- of the clicks
    visitors       AggregateFunction(uniqCombined64(14), FixedString(20)),
    ips            AggregateFunction(uniqCombined64(14), IPv6),
    human_visitors AggregateFunction(uniqCombined64(14), FixedString(20)),
    human_ips      AggregateFunction(uniqCombined64(14), IPv6)
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(hour)
ORDER BY (dimension, hour, attempt, slot, value);
