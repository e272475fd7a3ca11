-- Links created in each hour of UTC, counted from created_links.  An attempt is one try to
-- settle an hour; settled_creations names the one that is read.
CREATE TABLE IF NOT EXISTS creations
(
    hour        DateTime('UTC'),
    attempt     UInt64,
    space       LowCardinality(String),
    code_length UInt8,
    ttl_class   LowCardinality(String),
    account     LowCardinality(String),
    owner       LowCardinality(String),
    domain      LowCardinality(String),
    source      LowCardinality(String),
    links       UInt64
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(hour)
ORDER BY (hour, attempt, account, owner, space, ttl_class, domain, source, code_length);
