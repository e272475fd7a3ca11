-- What has been settled, and from what.  Only ever appended to; rows that
-- newer ones supersede are deleted some time later.
--   hour   stats_hourly of that UTC hour is published under `attempt`
--   day    clicks_hourly and visit_statistics of that UTC day were swapped in
--   pass   how far ingest_progress had been read, for a restart to go on from
-- `blocks` and `rows` are how many rows of ingest_progress touched the hour or
-- day, and the clicks they named: while they are the same, nothing arrived.
CREATE TABLE IF NOT EXISTS settled
(
    kind           Enum8('hour' = 1, 'day' = 2, 'pass' = 3),
    unit           DateTime('UTC'),         -- start of the hour or day
    attempt        UInt64,
    blocks         UInt64,
    rows           UInt64,
    read_until     DateTime64(3, 'UTC'),    -- greatest inserted_at seen
    complete_until DateTime64(3, 'UTC'),    -- the watermark; 1970: not known
    settled_at     DateTime64(3, 'UTC'),
    settler        LowCardinality(String)
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(unit)
ORDER BY (kind, unit, attempt);
