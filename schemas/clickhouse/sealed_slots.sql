-- Clicks and visitors of links by slot, for UTC days that are sealed: so old that few
-- clicks still come.  A month is a partition, in the order of links, so that one link's
-- month is one range of a few parts rather than of thirty days.
-- A day is copied from `clicks` under a new attempt and published by a row of kind 'sealed_day'
-- in `settled`.  It is read while no hour and no link_day of it was published later; after that
-- its clicks are read from `clicks` until it is sealed again.  Before it is copied a row of kind
-- 'sealing' is written, so that the rows of an interrupted settler are found and deleted.
-- Visitors and addresses are the upper 48 bits of cityHash64 (for an address: of its 16 bytes),
-- ascending, with people and all others separate: sets over any slots are united when they are
-- read.  Two of n visitors of a link count as one with a chance of n * n / 2^49.
-- A month is read by many queries and written once a day.  A month without new rows for a day
-- and a half is merged into one part: each part costs a query half a millisecond and more, and
-- a merge that is not forced leaves several.
CREATE TABLE IF NOT EXISTS sealed_slots
(
    link_id         UInt64 CODEC(Delta, ZSTD),
    -- The holder: the account and owner of the link at the click.
    account         LowCardinality(String),
    owner           LowCardinality(String) CODEC(ZSTD),
    slot            DateTime('UTC') CODEC(Delta, ZSTD), -- 15 minutes of UTC
    attempt         UInt64 CODEC(Delta, ZSTD),
    events          UInt64 CODEC(T64, ZSTD), -- all events, whatever the outcome
    clicks          UInt64 CODEC(T64, ZSTD), -- answered by a redirect, for people and robots
    bots            UInt64 CODEC(T64, ZSTD), -- part of clicks
    prefetches      UInt64 CODEC(T64, ZSTD), -- part of clicks
    people          Array(UInt64) CODEC(T64, ZSTD), -- visitors of clicks by people
    others          Array(UInt64) CODEC(T64, ZSTD), -- of all other clicks
    people_ips      Array(UInt64) CODEC(T64, ZSTD),
    others_ips      Array(UInt64) CODEC(T64, ZSTD)
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(slot)
ORDER BY (link_id, slot)
SETTINGS index_granularity = 2048,
         min_age_to_force_merge_seconds = 129600,
         min_age_to_force_merge_on_partition_only = 1;
