-- Per link and UTC day, settled and published together with link_slots: the part of a day's
-- visitors that remains known once its rows are dropped.
CREATE TABLE IF NOT EXISTS link_days
(
    link_id     UInt64,
    day         Date,
    attempt     UInt64,
    pv          UInt64, -- events of the link: effective + ineffective
    uv          UInt64, -- distinct visitors of all clicks
    ip          UInt64, -- distinct addresses of all clicks
    human_uv    UInt64, -- the same, of clicks by people only
    human_ip    UInt64,
    effective   UInt64, -- clicks by people
    ineffective UInt64
)
ENGINE = MergeTree
PARTITION BY (toYYYYMMDD(day), attempt)
ORDER BY (link_id, day)
SETTINGS index_granularity = 2048;
