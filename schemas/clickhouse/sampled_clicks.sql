-- The clicks of one visitor in 16, a closed UTC day at a time: the visitors of any group of
-- clicks are estimated from them.  A visitor is in the sample by a hash of the identity, so
-- it is the same on all days, for all owners, and in rows of `clicks`.
-- Account and owner are those of the click; clicks without a link are not here.
-- `rarity` says how few visitors are left from this row on: one in 8 * 2^rarity.  It comes
-- first in the order, so that a query about many clicks reads those of rarer visitors only.
-- A row of rarity 0 has the number of the day's other events: with it the events of a day are
-- as many as those of other tables.
-- A day is copied from `clicks` under a new attempt: a row of kind 'sampling' in `settled`
-- announces the attempt, and a row of kind 'sampled_day' publishes it.  It is read while no
-- part of the day was published later.  'base_sample' names the attempt that is the base of a
-- dropped day.
-- The dimensions' expressions are on these columns as on those of `clicks`.
CREATE TABLE IF NOT EXISTS sampled_clicks
(
    rarity          UInt8,
    account         LowCardinality(String),
    owner           LowCardinality(String),
    slot            DateTime('UTC') CODEC(Delta, ZSTD), -- 15 minutes of UTC
    attempt         UInt64,
    events          UInt64 CODEC(T64, ZSTD), -- 1, or all others of the day
    -- The upper 32 bits of the hash; 0: a forgotten visitor, who is not counted.
    visitor_digest  UInt32 CODEC(ZSTD),
    edge            LowCardinality(String),
    domain          LowCardinality(String),
    link_id         UInt64 CODEC(ZSTD),
    campaign        LowCardinality(String),
    tags            Array(LowCardinality(String)),
    url_digest      FixedString(16) CODEC(ZSTD),
    outcome         Enum8('unspecified' = 0, 'redirected' = 1,
                          'not_found' = 2, 'expired' = 3, 'blocked' = 4,
                          'head' = 5, 'repeated' = 6),
    continent       LowCardinality(String),
    country         LowCardinality(String),
    region          LowCardinality(String),
    city            LowCardinality(String),
    asn             UInt32,
    ua_family       LowCardinality(String),
    ua_version      LowCardinality(String),
    os_family       LowCardinality(String),
    os_version      LowCardinality(String),
    device_brand    LowCardinality(String),
    device_model    LowCardinality(String),
    device_class    LowCardinality(String),
    verdict         Enum8('human' = 0, 'bot' = 1, 'prefetch' = 2,
                          'preview' = 3, 'monitor' = 4, 'scanner' = 5),
    verdict_reason  LowCardinality(String),
    referrer_host   LowCardinality(String),
    referrer_site   LowCardinality(String),
    channel         LowCardinality(String),
    language        LowCardinality(String),
    utm_source      LowCardinality(String),
    utm_medium      LowCardinality(String),
    utm_campaign    LowCardinality(String),
    utm_term        String CODEC(ZSTD),
    utm_content     String CODEC(ZSTD)
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(slot)
ORDER BY (rarity, account, owner, slot)
SETTINGS index_granularity = 2048,
         min_age_to_force_merge_seconds = 129600,
         min_age_to_force_merge_on_partition_only = 1;
