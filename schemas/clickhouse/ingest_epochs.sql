-- Decisions of an operator about partitions whose rows and offsets do not fit together
-- (`collector epoch`), and about offsets that are to be skipped (`collector pass`).
--   same    the partition is unchanged, as long as nothing beyond `next` was reported
--   renew   the partition begins `epoch` at its log's start
--   resume  the partition begins `epoch` at `next`.  Events from `gap` up to that are in no
--           row, and are reported as lost
--   pass    events from `gap` up to, not including, `next` are skipped, and reported as
--           lost, for this `reason`; it begins no epoch
CREATE TABLE IF NOT EXISTS ingest_epochs
(
    topic      LowCardinality(String),
    partition  UInt32,
    epoch      UInt32,
    decision   Enum8('same' = 1, 'renew' = 2, 'resume' = 3, 'pass' = 4),
    next       UInt64, -- for `same`: one past the last offset reported
    gap        UInt64,
    reason     String,
    decided_at DateTime64(3, 'UTC'),
    decided_by LowCardinality(String)
)
ENGINE = MergeTree
ORDER BY (topic, epoch, partition)
SETTINGS non_replicated_deduplication_window = 100;
