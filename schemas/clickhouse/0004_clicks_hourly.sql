-- Counts per link in 15-minute slots of UTC: hours and days in every time zone
-- are sums of such slots (+5:30 and +5:45 zones have no whole UTC hours).
-- Counts only: unique visitors per slot would cost half the raw table's space.
-- Written a UTC day at a time, once the day has closed: into a staging table of
-- the same shape, then swapped in with REPLACE PARTITION.  Outlives the raw
-- rows; open days are read from clicks.
CREATE TABLE IF NOT EXISTS clicks_hourly
(
    link_id     UInt64,
    slot        DateTime('UTC') CODEC(Delta, ZSTD),
    clicks      UInt32, -- events answered by a redirect, whoever asked
    bots        UInt32, -- of the clicks: robots of any kind
    prefetches  UInt32, -- of the clicks: fetched ahead by a browser
    effective   UInt32, -- clicks by people: clicks - bots - prefetches
    ineffective UInt32  -- all other events: robots, prefetches, HEAD, 404 ...
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(slot)
ORDER BY (link_id, slot)
SETTINGS index_granularity = 2048;
