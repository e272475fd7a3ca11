-- One row per run of the reclaimer and space, written by it when the run ends, successful
-- or not; dry runs write none.  The numbers are blocks, not links. scanned = freed + live +
-- lost + gap + skipped.
CREATE TABLE IF NOT EXISTS reclaim_runs
(
    space       LowCardinality(String),
    started_at  DateTime64(3, 'UTC'),
    finished_at DateTime64(3, 'UTC'),
    scanned     UInt64,  -- due, and their markers read
    freed       UInt64,  -- ended: closed, and into the pool
    live        UInt64,  -- to be checked again at their end
    lost        UInt64,  -- without a marker, kept out of the pool
    gap         UInt64,  -- the same, but skipped when Redis lost its last writes
    skipped     UInt64,  -- handed back by their holder meanwhile
    sampled     UInt64,  -- part of freed: links looked up code by code
    seconds     Float64,
    interrupted Bool,    -- by SIGTERM: the next run continued
    error       String,  -- why it stopped early, or ''
    host        LowCardinality(String)
)
ENGINE = MergeTree
PARTITION BY toYear(started_at)
ORDER BY (space, started_at)
SETTINGS non_replicated_deduplication_window = 1000;
