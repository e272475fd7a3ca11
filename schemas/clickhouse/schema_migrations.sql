-- The migrations that `aggregator migrate` has applied.  This file is run first, so that
-- the table exists when it is read.  `checksum` is the SHA-256 of the file's text: a file
-- that was changed after it had been applied is refused by name.
CREATE TABLE IF NOT EXISTS schema_migrations
(
    name       String,
    checksum   FixedString(64),
    applied_at DateTime64(3, 'UTC'),
    program    String -- name and version of the program that applied it
)
ENGINE = MergeTree
ORDER BY name;
