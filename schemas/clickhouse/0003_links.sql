-- The archive of every link there ever was, one row per code, owner (link_id)
-- and its newest version.  It answers whose a code is now, and was.
CREATE TABLE IF NOT EXISTS links
(
    code            String,
    link_id         UInt64,
    version         UInt32,
    space           LowCardinality(String),
    generation      UInt32,
    change          LowCardinality(String),
    state           LowCardinality(String),
    ttl_class       LowCardinality(String),
    created_at      DateTime64(3, 'UTC'),
    changed_at      DateTime64(3, 'UTC'),
    expires_at      DateTime64(3, 'UTC'), -- 1970 when it never does
    url             String CODEC(ZSTD(3)),
    redirect_status UInt16,
    owner           LowCardinality(String),
    campaign        LowCardinality(String),
    tags            Array(LowCardinality(String)),
    domain          LowCardinality(String),
    epoch           UInt32,
    topic           LowCardinality(String),
    partition       UInt32,
    offset          UInt64,

    -- for questions by link_id alone, which the order does not serve
    INDEX by_link_id link_id TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (code, link_id)
SETTINGS index_granularity = 1024,
         non_replicated_deduplication_window = 10000;
