-- Counts over all links, per dimension and value, in 15-minute slots of UTC, settled an
-- hour at a time: hours and days in every time zone are sums of such slots (zones of +5:30
-- and +5:45 have no whole hours of UTC).  Every settling of an hour writes its rows under a
-- new attempt number and publishes them by a row in `settled`; superseded attempts are
-- deleted some time later.  A reader takes, for each hour, the newest published attempt.
-- The states of unique visitors can be merged over slots and hours; they are filled for
-- dimensions of few values only and empty otherwise.  The visitors of all clicks are those of
-- the values of `verdict`, which also have the states of addresses: a copy of these in `total`,
-- or addresses by country, would be a third of this table, and states are most of it.
-- People and all others have states of their own: whoever counts both merges them.  A state of
-- both in place of the others' would be nearly a copy of that of people.  Hashes of 32 bits
-- take half as much as those of 64, and estimates are the same up to 10^8 visitors.
-- The states of a day whose rows are dropped cannot be counted again.  If they contain a
-- forgotten visitor, they are emptied, and their counts are no longer known.
-- A row has four states of up to 12 KiB, which ClickHouse does not count when it makes blocks:
-- with 8,192 rows in one, merging a day of ten million clicks took 1.3 GB; with 256 it takes
-- 0.8.
CREATE TABLE IF NOT EXISTS stats_hourly
(
    dimension      LowCardinality(String), -- 'total', 'country', ...
    hour           DateTime('UTC') CODEC(Delta, ZSTD),
    attempt        UInt64 CODEC(Delta, ZSTD),
    slot           DateTime('UTC') CODEC(Delta, ZSTD),
    value          String CODEC(ZSTD), -- '' if it is not known, and for 'total'
    rest           Bool,   -- the sum of the values beyond the busiest ones
    events         UInt64 CODEC(T64, ZSTD), -- all events, whatever the outcome
    clicks         UInt64 CODEC(T64, ZSTD), -- answered by a redirect, for people and robots
    bots           UInt64 CODEC(T64, ZSTD), -- part of clicks
    prefetches     UInt64 CODEC(T64, ZSTD), -- part of clicks
    -- Visitors of clicks by people, and of all other clicks; addresses for `verdict` alone.
    people         AggregateFunction(uniqCombined(14), UInt64) CODEC(ZSTD),
    others         AggregateFunction(uniqCombined(14), UInt64) CODEC(ZSTD),
    people_ips     AggregateFunction(uniqCombined(14), UInt64) CODEC(ZSTD),
    others_ips     AggregateFunction(uniqCombined(14), UInt64) CODEC(ZSTD),
    emptied        Bool
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(hour)
ORDER BY (dimension, hour, attempt, slot, value)
SETTINGS merge_max_block_size = 256;
