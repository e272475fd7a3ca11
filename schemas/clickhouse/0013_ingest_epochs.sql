-- What an operator decided of topics whose rows and offsets do not fit together
-- (`collector epoch`).  `new`: the topic was made anew, its offsets belong to
-- `epoch` from now on.  `same`: it is the topic it was; good for a partition as
-- long as nothing beyond `next` was reported.
CREATE TABLE IF NOT EXISTS ingest_epochs
(
    topic      LowCardinality(String),
    partition  UInt32, -- of `same`
    epoch      UInt32,
    decision   Enum8('new' = 1, 'same' = 2),
    next       UInt64, -- of `same`: one past the last offset reported
    decided_at DateTime64(3, 'UTC'),
    decided_by LowCardinality(String)
)
ENGINE = MergeTree
ORDER BY (topic, epoch, partition)
SETTINGS non_replicated_deduplication_window = 100;
