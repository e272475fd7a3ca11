-- One row a block that a collector inserted into clicks, inserted after it and
-- before the offsets are committed: all that settling and the watermark read.
-- `hours` maps the start of each UTC hour touched (seconds since 1970) to the
-- number of the block's rows in it.
CREATE TABLE IF NOT EXISTS ingest_progress
(
    epoch         UInt32,
    topic         LowCardinality(String),
    partition     UInt32,
    first         UInt64,
    last          UInt64,
    rows          UInt64,
    dead_lettered UInt64,
    hours         Map(UInt32, UInt64),
    append_time   DateTime64(3, 'UTC'), -- of the block's last message
    inserted_at   DateTime64(3, 'UTC'), -- the collector's clock
    collector     LowCardinality(String)
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(inserted_at)
ORDER BY (inserted_at, topic, partition, first)
SETTINGS non_replicated_deduplication_window = 10000;
