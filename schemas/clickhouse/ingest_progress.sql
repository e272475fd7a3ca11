-- One row per block that a collector inserted into clicks, inserted after it and before the
-- offsets are committed: settling and the watermark read nothing else.
-- `hours` maps the start of each UTC hour touched (seconds since 1970) to the number of the
-- block's rows in it.
-- A row with no rows (last = first - 1, hours empty) is a report: at append_time the collector
-- had reached the end of this partition's log.  Without such reports an idle partition holds
-- the watermark back.
-- `lost`: Kafka no longer held the offsets first to last when they were to be read; such a row
-- has no rows and no hours.
-- `creations` is for batches of links what `hours` is for clicks: the start of each hour in which
-- links of the batch were created, and their number.  Such a row has `link_partitions` in place
-- of `partitions`, for which the watermark of clicks does not wait.
-- inserted_at is the time of ClickHouse's own clock: there are many collectors, and if the
-- clock of one were a day ahead, its rows would hide those of the others.
-- The partition is by append_time, a fact of the block: with inserted_at, a block sent again
-- after the turn of the month would escape its deduplication token.
CREATE TABLE IF NOT EXISTS ingest_progress
(
    epoch         UInt32,
    topic         LowCardinality(String),
    partition     UInt32,
    partitions    UInt32, -- the topic's number of partitions, from the broker's metadata
    first         UInt64,
    last          UInt64,
    rows          UInt64,
    dead_lettered UInt64,
    lost          UInt64,
    hours         Map(UInt32, UInt64),
    append_time   DateTime64(3, 'UTC'), -- of the block's last message
    inserted_at   DateTime64(3, 'UTC') DEFAULT now64(3, 'UTC'),
    collector     LowCardinality(String),
    creations     Map(UInt32, UInt64),
    link_partitions UInt32 -- of a topic of links: its number of partitions; 0: not known
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(append_time)
ORDER BY (inserted_at, topic, partition, first)
SETTINGS non_replicated_deduplication_window = 10000;
