-- The state that each collector reports every quarter of a minute: the guarantee measured
-- of ClickHouse (docs/collector.md, The guarantee), and for each partition it holds the
-- number of events that it has not taken yet.  No decision depends on it: /v1/pipeline
-- shows it.
CREATE TABLE IF NOT EXISTS collectors
(
    collector    String,
    told_at      DateTime64(3, 'UTC'), -- by ClickHouse's clock
    exactly_once Bool,
    guarantee    String,               -- in words
    topics       Array(LowCardinality(String)), -- for each partition that is held,
    partitions   Array(UInt32),                 -- its number
    lags         Array(UInt64)                  -- and the number of events up to the log's end
)
ENGINE = MergeTree
ORDER BY (collector, told_at)
TTL toDateTime(told_at) + INTERVAL 1 DAY;
