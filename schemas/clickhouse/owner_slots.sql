-- Clicks of owners, a closed UTC day at a time, so that questions about one of many
-- owners need not read everybody's rows.  The owner is that of the click.
-- A day is copied from `clicks` under a new attempt, into owner_values too, and
-- published by a row of kind 'owner_day' in `settled`.  It is read while no hour and no
-- link_day of it was published later; then its clicks are read from `clicks` until it is
-- copied again.
-- A month is a partition, in the order of owners, so that one owner's month is one range
-- of a few parts.  Before a day is copied a row of kind 'copying' is written, so that what
-- a settler left behind is found and deleted.
-- Clicks of no link are nobody's, and are not here.
-- A month is merged into one part as one of sealed_slots is.
CREATE TABLE IF NOT EXISTS owner_slots
(
    owner           LowCardinality(String),
    slot            DateTime('UTC') CODEC(Delta, ZSTD), -- 15 minutes of UTC
    attempt         UInt64,
    events          UInt64 CODEC(T64, ZSTD), -- all events, whatever the outcome
    clicks          UInt64 CODEC(T64, ZSTD), -- answered by a redirect, whoever asked
    bots            UInt64 CODEC(T64, ZSTD), -- of the clicks
    prefetches      UInt64 CODEC(T64, ZSTD), -- of the clicks
    -- Visitors and addresses are the upper 32 bits of cityHash64 (of an address: of
    -- its 16 bytes), ascending: two of n visitors are taken for one with a chance of
    -- n * n / 2^33, which is far below the error of the estimate that they end in.
    people          Array(UInt32) CODEC(Delta, ZSTD), -- visitors of clicks by people
    others          Array(UInt32) CODEC(Delta, ZSTD), -- of all other clicks
    people_ips      Array(UInt32) CODEC(Delta, ZSTD),
    others_ips      Array(UInt32) CODEC(Delta, ZSTD)
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(slot)
ORDER BY (owner, slot)
SETTINGS index_granularity = 2048,
         min_age_to_force_merge_seconds = 129600,
         min_age_to_force_merge_on_partition_only = 1;
