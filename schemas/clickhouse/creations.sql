-- Links created in each hour of UTC, counted from created_links.  An attempt is one try to
-- settle an hour; settled_creations names the one that is read.  Each attempt has all links
-- twice: by owner, and without, which is a fiftieth of the rows where accounts have many owners.
CREATE TABLE IF NOT EXISTS creations
(
    by_owner    Bool, -- false: the owner is '' in each row
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
ORDER BY (by_owner, hour, attempt, account, owner, space, ttl_class, domain, source, code_length);
