-- Counts of links in slots of 15 minutes, a closed UTC day at a time, published by attempt
-- as hours are: every settling of a day writes this table and link_days under one new
-- attempt number and publishes them by a row of kind 'link_day' in `settled`.  A reader
-- takes, for each day, the newest published attempt.  An attempt is a partition, so that
-- one that was superseded or never published is dropped without a mutation; should a
-- server bring it back, nobody reads it.
-- Days are not swapped in with REPLACE PARTITION: servers before 26.6.1.962 bring parts
-- that were replaced so back at their next start, beside the new ones (ClickHouse issue
-- 107605).
CREATE TABLE IF NOT EXISTS link_slots
(
    link_id     UInt64,
    slot        DateTime('UTC') CODEC(Delta, ZSTD), -- 15 minutes of UTC
    attempt     UInt64,
    clicks      UInt64, -- events answered by a redirect, whoever asked
    bots        UInt64, -- of the clicks: robots of any kind
    prefetches  UInt64, -- of the clicks: fetched ahead by a browser
    effective   UInt64, -- clicks by people: clicks - bots - prefetches
    ineffective UInt64  -- all other events: robots, prefetches, HEAD, 404 ...
)
ENGINE = MergeTree
PARTITION BY (toYYYYMMDD(slot), attempt)
ORDER BY (link_id, slot)
SETTINGS index_granularity = 2048;
