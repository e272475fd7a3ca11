-- One row per link that was created: what its creation said, whatever became of the link.
-- `links` keeps the newest version only, whose account, owner and domain may be others.
-- The collector inserts these rows before those of `links`, and again whenever it is not sure
-- that they are stored: a row that comes again is the same row, so it is read with FINAL.
-- The order is by time, because all questions are about a time; docs/design.md, "Creations".
CREATE TABLE IF NOT EXISTS created_links
(
    -- The quarter of an hour of UTC in which the link was created.
    slot        DateTime('UTC') CODEC(Delta, ZSTD),
    link_id     UInt64 CODEC(Delta, ZSTD),
    space       LowCardinality(String),
    code_length UInt8,
    ttl_class   LowCardinality(String),
    account     LowCardinality(String),
    owner       LowCardinality(String),
    domain      LowCardinality(String),
    source      LowCardinality(String) -- single, batch
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(slot)
ORDER BY (slot, link_id)
SETTINGS non_replicated_deduplication_window = 10000;
