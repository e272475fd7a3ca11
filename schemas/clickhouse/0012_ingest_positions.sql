-- What a collector that takes a partition over asks ClickHouse.
-- `lost`: offsets first to last that Kafka no longer held when they were to be
-- read; such a row has no rows and no hours.
ALTER TABLE ingest_progress
    ADD COLUMN IF NOT EXISTS lost UInt64 AFTER dead_lettered;
-- Rows newer than the last block reported: parts and granules that are older
-- throughout are passed over.
ALTER TABLE clicks
    ADD INDEX IF NOT EXISTS by_append_time append_time TYPE minmax GRANULARITY 1;
ALTER TABLE clicks
    MATERIALIZE INDEX by_append_time;
ALTER TABLE links
    ADD INDEX IF NOT EXISTS by_offset offset TYPE minmax GRANULARITY 1;
ALTER TABLE links
    MATERIALIZE INDEX by_offset;
