-- One row an event, enriched by the collector.  Every column is computed by
-- the collector, so that an insert sent again is the same bytes: no defaults
-- that ask the clock.  Ordered by link, because a link's questions are the
-- ones asked of this table; see docs/design.md, "Why this order".
-- No TTL clause: whole days are dropped by the aggregator once sealed.
CREATE TABLE IF NOT EXISTS clicks
(
    -- where the row came from: the proof that it was counted once
    epoch           UInt32,
    topic           LowCardinality(String),
    partition       UInt32,
    offset          UInt64 CODEC(Delta, ZSTD),
    append_time     DateTime64(3, 'UTC') CODEC(Delta, ZSTD),

    event_id        UUID,
    ts              DateTime64(3, 'UTC') CODEC(Delta, ZSTD),
    original_ts     DateTime64(3, 'UTC') CODEC(Delta, ZSTD),
    edge            LowCardinality(String),
    domain          LowCardinality(String),
    code            String,
    link_id         UInt64,
    owner           LowCardinality(String),
    campaign        LowCardinality(String),
    tags            Array(LowCardinality(String)),
    -- An event that was sent twice is one click: of its rows all but one are 'repeated',
    -- which the aggregator finds by event_id once one of them says maybe_sent.  These
    -- are counted as events only.
    outcome         Enum8('unspecified' = 0, 'redirected' = 1,
                          'not_found' = 2, 'expired' = 3, 'blocked' = 4,
                          'head' = 5, 'repeated' = 6),
    status          UInt16,
    maybe_sent      Bool,
    -- Value of Sec-Purpose or Purpose, at most 64 bytes: verdicts are decided by it, so
    -- that `collector rescore` can apply newer rules to past days.
    purpose         LowCardinality(String),

    ip              IPv6,
    unique_identity FixedString(20),
    continent       LowCardinality(String),
    country         LowCardinality(String),
    region          LowCardinality(String),
    city            LowCardinality(String),
    postal_code     String,
    latitude        Float32,
    longitude       Float32,
    accuracy_radius UInt16, -- km around latitude and longitude; 0: not known
    time_zone       LowCardinality(String),
    asn             UInt32,
    as_org          LowCardinality(String),

    user_agent      String CODEC(ZSTD(3)),
    ua_family       LowCardinality(String),
    ua_version      LowCardinality(String),
    os_family       LowCardinality(String),
    os_version      LowCardinality(String),
    device_family   LowCardinality(String),
    device_brand    LowCardinality(String),
    device_model    LowCardinality(String),
    device_class    LowCardinality(String),

    verdict         Enum8('human' = 0, 'bot' = 1, 'prefetch' = 2,
                          'preview' = 3, 'monitor' = 4, 'scanner' = 5),
    verdict_reason  LowCardinality(String),
    verdict_version UInt32,

    referrer        String,
    referrer_host   LowCardinality(String),
    channel         LowCardinality(String),
    language        LowCardinality(String),
    query           String,
    -- of the query string, percent-decoded; each at most 255 bytes
    utm_source      LowCardinality(String),
    utm_medium      LowCardinality(String),
    utm_campaign    LowCardinality(String),
    utm_term        String,
    utm_content     String,
    cookies         Map(LowCardinality(String), String),
    -- The trace that a visit was part of, in hexadecimal: trace-id of the header
    -- traceparent, where redirector.record_traceparent wants it, else ''.
    trace_id        String CODEC(ZSTD),

    -- Rows newer than the last block reported: parts and granules that are older
    -- throughout are passed over by a collector that takes a partition over.
    INDEX by_append_time append_time TYPE minmax GRANULARITY 1,
    -- The owners of each granule, so that what is read of rows for an owner is what lies
    -- by that owner's links: of the day that is open, of two dimensions, with filters.  A
    -- granule is of few links, and most links are of one owner.
    INDEX owners owner TYPE set(256) GRANULARITY 1,
    -- Rows that say that their event may have been sent before are looked for whenever an
    -- hour is settled.  There are few, and granules without one are passed over.
    INDEX by_maybe_sent maybe_sent TYPE minmax GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(ts)
ORDER BY (link_id, ts, partition, offset)
SETTINGS index_granularity = 2048,
         non_replicated_deduplication_window = 10000;
