-- One row per event, enriched by the collector.  The collector computes every column, so
-- that an insert sent again has the same bytes: no default reads the clock.  The order is
-- by link, because most queries of this table are about one link; see docs/design.md, "Why
-- this order".  There is no TTL clause: the aggregator drops whole days once they are
-- sealed.
CREATE TABLE IF NOT EXISTS clicks
(
    -- the source of the row: the proof that it was counted once
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
    account         LowCardinality(String), -- of the link, at the visit; so is the owner
    owner           LowCardinality(String),
    campaign        LowCardinality(String),
    tags            Array(LowCardinality(String)),
    -- The URL to which the visitor was sent: the first 16 bytes of its SHA-256; zeros: to none.
    -- A link that is edited keeps it for the clicks before.
    url_digest      FixedString(16) CODEC(ZSTD),
    -- An event that was sent twice is one click: all but one of its rows are 'repeated'.
    -- The aggregator finds them by event_id once one of them has maybe_sent.  They are
    -- counted as events only.
    outcome         Enum8('unspecified' = 0, 'redirected' = 1,
                          'not_found' = 2, 'expired' = 3, 'blocked' = 4,
                          'head' = 5, 'repeated' = 6),
    status          UInt16,
    maybe_sent      Bool,
    -- Value of Sec-Purpose or Purpose, at most 64 bytes: verdicts depend on it, and
    -- `collector rescore` applies newer rules to past days.
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
    referrer_site   LowCardinality(String), -- registrable domain of the host
    channel         LowCardinality(String),
    language        LowCardinality(String),
    query           String,
    -- from the query string, percent-decoded; each at most 255 bytes
    utm_source      LowCardinality(String),
    utm_medium      LowCardinality(String),
    utm_campaign    LowCardinality(String),
    utm_term        String,
    utm_content     String,
    cookies         Map(LowCardinality(String), String),
    -- The trace of the visit, in hexadecimal: trace-id of the header traceparent if
    -- redirector.record_traceparent is set, else ''.
    trace_id        String CODEC(ZSTD),

    -- For a collector that takes a partition over: it needs the rows newer than the last
    -- reported block, and skips parts and granules that are older throughout.
    INDEX by_append_time append_time TYPE minmax GRANULARITY 1,
    -- The accounts and owners of each granule, so that a query of rows for one (of the open
    -- day, of two dimensions, with filters) only reads granules near its links.  A granule has
    -- few links, and most links have one owner.
    INDEX accounts account TYPE set(256) GRANULARITY 1,
    INDEX owners owner TYPE set(256) GRANULARITY 1,
    -- The same for queries about a URL, which any number of links have.
    INDEX by_url_digest url_digest TYPE bloom_filter(0.001) GRANULARITY 1,
    -- For the clicks of one visitor, who is in few granules.
    INDEX by_visitor unique_identity TYPE bloom_filter(0.01) GRANULARITY 1,
    -- Each settling of an hour searches for rows with maybe_sent.  They are rare, and
    -- granules without one are skipped.
    INDEX by_maybe_sent maybe_sent TYPE minmax GRANULARITY 1
)
ENGINE = MergeTree
PARTITION BY toYYYYMMDD(ts)
ORDER BY (link_id, ts, partition, offset)
SETTINGS index_granularity = 2048,
         non_replicated_deduplication_window = 10000;
