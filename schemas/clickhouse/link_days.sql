-- Per link and UTC day, settled and published together with link_slots: the part of a day's
-- visitors that remains known once its rows are dropped.
-- A link has one holder, its account and owner at the click, on nearly every day: one row, of part
-- 'sole'.  A link that changed hands on the day has a row 'holder' for each, a row 'account' for
-- all owners of each account, and one row 'whole': visitors of several holders cannot be added up.
CREATE TABLE IF NOT EXISTS link_days
(
    link_id     UInt64 CODEC(Delta, ZSTD),
    account     LowCardinality(String),
    owner       LowCardinality(String),
    part        Enum8('sole' = 0, 'holder' = 1, 'account' = 2, 'whole' = 3),
    day         Date,
    attempt     UInt64 CODEC(Delta, ZSTD),
    pv          UInt64 CODEC(T64, ZSTD), -- events of the link: effective + ineffective
    uv          UInt64 CODEC(T64, ZSTD), -- distinct visitors of all clicks
    ip          UInt64 CODEC(T64, ZSTD), -- distinct addresses of all clicks
    human_uv    UInt64 CODEC(T64, ZSTD), -- the same, of clicks by people only
    human_ip    UInt64 CODEC(T64, ZSTD),
    effective   UInt64 CODEC(T64, ZSTD), -- clicks by people
    ineffective UInt64 CODEC(T64, ZSTD),
    bots        UInt64 CODEC(T64, ZSTD), -- part of ineffective: redirects of robots
    prefetches  UInt64 CODEC(T64, ZSTD)  -- part of ineffective: redirects that were fetched ahead
)
ENGINE = MergeTree
PARTITION BY (toYYYYMMDD(day), attempt)
ORDER BY (link_id, day)
SETTINGS index_granularity = 2048;
