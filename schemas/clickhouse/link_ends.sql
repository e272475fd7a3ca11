-- The ends of links that visits have renewed.  `links` has the end of a link's last edit; each
-- renewal that raised the end in Redis adds a row here, which replaces those of former ones.  An
-- edit gives the link a new version, whose event carries the end: so a row counts only for the
-- version that it renewed, and then only if it is later than the end in `links`.  Rows come in
-- any order, and twice; the greatest end of a link and version is right.
CREATE TABLE IF NOT EXISTS link_ends
(
    link_id UInt64 CODEC(Delta, ZSTD),
    version UInt32 CODEC(ZSTD),
    ends_at DateTime64(3, 'UTC') CODEC(ZSTD), -- by Redis' clock

    -- for lists in the order of ends
    PROJECTION by_end
    (
        SELECT ends_at, link_id
        ORDER BY ends_at, link_id
    )
)
ENGINE = ReplacingMergeTree(ends_at)
ORDER BY (link_id, version)
-- a page of lists reads a hundred links here and there, as in links.sql
SETTINGS index_granularity = 1024,
         min_compress_block_size = 8192,
         max_compress_block_size = 65536,
         deduplicate_merge_projection_mode = 'rebuild';
