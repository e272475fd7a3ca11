-- Per link and UTC day, settled and swapped in together with clicks_hourly:
-- what remains known of a day's visitors once its raw rows are gone.
CREATE TABLE IF NOT EXISTS visit_statistics
(
    link_id     UInt64,
    day         Date,
    pv          UInt64, -- events of the link: effective + ineffective
    uv          UInt64, -- distinct visitors of all clicks
    ip          UInt64, -- distinct addresses of all clicks
    human_uv    UInt64, -- the same, of clicks by people only
    human_ip    UInt64,
    effective   UInt64, -- clicks by people
    ineffective UInt64
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(day)
ORDER BY (link_id, day)
SETTINGS index_granularity = 2048;
