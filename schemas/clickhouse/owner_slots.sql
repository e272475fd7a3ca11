-- Clicks of owners, a closed UTC day at a time, so that a query about one of many owners
-- need not read the rows of all.  Account and owner are those of the click; an owner belongs
-- to an account, and the same name in another one is another owner.
-- A day is copied from `clicks` under a new attempt, into owner_values too, and published by a
-- row of kind 'owner_day' in `settled`.  It is read while no hour and no link_day of it was
-- published later; after that its clicks are read from `clicks` until it is copied again.
-- A month is a partition, in the order of accounts and owners, so that the month of one is one
-- range of a few parts.  Before a day is copied a row of kind 'copying' is written, so that the rows of
-- an interrupted settler are found and deleted.
-- Clicks without a link have no owner, and are not here.
-- A month is merged into one part as in sealed_slots.
CREATE TABLE IF NOT EXISTS owner_slots
(
    account         LowCardinality(String),
    owner           LowCardinality(String) CODEC(ZSTD),
    slot            DateTime('UTC') CODEC(Delta, ZSTD), -- 15 minutes of UTC
    attempt         UInt64 CODEC(Delta, ZSTD),
    events          UInt64 CODEC(T64, ZSTD), -- all events, whatever the outcome
    clicks          UInt64 CODEC(T64, ZSTD), -- answered by a redirect, for people and robots
    bots            UInt64 CODEC(T64, ZSTD), -- part of clicks
    prefetches      UInt64 CODEC(T64, ZSTD), -- part of clicks
    -- Visitors and addresses are the upper 32 bits of cityHash64 (for an address: of its 16
    -- bytes), ascending: two of n visitors count as one with a chance of n * n / 2^33,
    -- which is far below the error of the estimate that is made from them.
    people          Array(UInt32) CODEC(Delta, ZSTD), -- visitors of clicks by people
    others          Array(UInt32) CODEC(Delta, ZSTD), -- of all other clicks
    people_ips      Array(UInt32) CODEC(Delta, ZSTD),
    others_ips      Array(UInt32) CODEC(Delta, ZSTD)
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(slot)
ORDER BY (account, owner, slot)
SETTINGS index_granularity = 2048,
         min_age_to_force_merge_seconds = 129600,
         min_age_to_force_merge_on_partition_only = 1;
