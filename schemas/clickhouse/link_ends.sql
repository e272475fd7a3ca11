-- placeholder of the same columns until the real one comes
CREATE TABLE IF NOT EXISTS link_ends
(
    link_id UInt64,
    version UInt32,
    ends_at DateTime64(3, 'UTC')
)
ENGINE = ReplacingMergeTree(ends_at)
ORDER BY (link_id, version)
SETTINGS index_granularity = 1024;
