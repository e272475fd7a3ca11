-- What each collector says of itself, every quarter of a minute: what ClickHouse was
-- measured to promise (docs/collector.md, The guarantee), and how many events of each
-- partition that it holds it has not taken yet.  Nothing is decided by it: it is what
-- /v1/pipeline shows.
CREATE TABLE IF NOT EXISTS collectors
(
    collector    String,
    told_at      DateTime64(3, 'UTC'), -- by ClickHouse's clock
    exactly_once Bool,
    guarantee    String,               -- in words
    topics       Array(LowCardinality(String)), -- of each partition that is held,
    partitions   Array(UInt32),                 -- its number
    lags         Array(UInt64)                  -- and events behind the log's end
)
ENGINE = MergeTree
ORDER BY (collector, told_at)
TTL toDateTime(told_at) + INTERVAL 1 DAY;
