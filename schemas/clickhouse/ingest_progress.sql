-- One row a block that a collector inserted into clicks, inserted after it and
-- before the offsets are committed: all that settling and the watermark read.
-- `hours` maps the start of each UTC hour touched (seconds since 1970) to the
-- number of the block's rows in it.
-- A row with no rows (last = first - 1, hours empty) is a report: at
-- append_time the collector stood at the end of this partition's log.  Without
-- such reports an idle partition holds the watermark back.
-- `lost`: offsets first to last that Kafka no longer held when they were to be read;
-- such a row has no rows and no hours.
-- inserted_at is told by ClickHouse's own clock: collectors are many, and the clock of
-- one that is a day ahead would hide what the others tell.
-- Partitioned by append_time, a fact of the block: by inserted_at, a block sent
-- again after the turn of the month would get past its deduplication token.
CREATE TABLE IF NOT EXISTS ingest_progress
(
    epoch         UInt32,
    topic         LowCardinality(String),
    partition     UInt32,
    partitions    UInt32, -- how many the topic has, by the broker's metadata
    first         UInt64,
    last          UInt64,
    rows          UInt64,
    dead_lettered UInt64,
    lost          UInt64,
    hours         Map(UInt32, UInt64),
    append_time   DateTime64(3, 'UTC'), -- of the block's last message
    inserted_at   DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC'),
    collector     LowCardinality(String)
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(append_time)
ORDER BY (inserted_at, topic, partition, first)
SETTINGS non_replicated_deduplication_window = 10000;
