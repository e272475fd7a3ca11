-- Counts of links in slots of 15 minutes, a closed UTC day at a time, published by attempt
-- like hours: every settling of a day writes this table and link_days under one new attempt
-- number and publishes them by a row of kind 'link_day' in `settled`.  A reader takes, for
-- each day, the newest published attempt.  An attempt is a partition, so that one that was
-- superseded or never published is dropped without a mutation; if a server restores it, no
-- reader uses it.
-- REPLACE PARTITION is not used: servers before 26.6.1.962 restore parts that were replaced
-- so at their next start, beside the new ones (ClickHouse issue 107605).
CREATE TABLE IF NOT EXISTS link_slots
(
    link_id     UInt64 CODEC(Delta, ZSTD),
    slot        DateTime('UTC') CODEC(Delta, ZSTD), -- 15 minutes of UTC
    attempt     UInt64 CODEC(Delta, ZSTD),
    clicks      UInt64 CODEC(T64, ZSTD), -- events answered by a redirect, for people and robots
    bots        UInt64 CODEC(T64, ZSTD), -- part of clicks: robots of any kind
    prefetches  UInt64 CODEC(T64, ZSTD), -- part of clicks: fetched ahead by a browser
    effective   UInt64 CODEC(T64, ZSTD), -- clicks by people: clicks - bots - prefetches
    ineffective UInt64 CODEC(T64, ZSTD)  -- all other events: robots, prefetches, HEAD, 404 ...
)
ENGINE = MergeTree
PARTITION BY (toYYYYMMDD(slot), attempt)
ORDER BY (link_id, slot)
SETTINGS index_granularity = 2048;
