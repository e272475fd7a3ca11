-- The attempts of `creations` that are published: the greatest of an hour is read.  The row of
-- the hour 1970-01-01 00:00 says when all hours had last been looked at.
-- `read_at` is the time, by ClickHouse's clock, before the hour's rows were read.
CREATE TABLE IF NOT EXISTS settled_creations
(
    hour       DateTime('UTC'),
    attempt    UInt64,
    read_at    DateTime64(3, 'UTC'),
    links      UInt64,
    settled_at DateTime64(3, 'UTC'),
    settler    LowCardinality(String)
)
ENGINE = ReplacingMergeTree(attempt)
ORDER BY hour;
