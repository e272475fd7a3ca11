-- The archive of all links: one row per code, owner (link_id) and its newest version.  It
-- answers which link a code is now, and was.
-- The projections and most indexes are for lists of links (GET /v1/links of the aggregator);
-- docs/design.md, "Lists of links", has the measurements.  Merges drop superseded versions, so
-- they have to rebuild the projections.
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
    expires_at      DateTime64(3, 'UTC'), -- 1970: it never expires
    url             String CODEC(ZSTD(3)),
    redirect_status UInt16,
    owner           LowCardinality(String),
    campaign        LowCardinality(String),
    tags            Array(LowCardinality(String)),
    domain          LowCardinality(String),
    description     String CODEC(ZSTD(3)),
    account         LowCardinality(String), -- its API keys may change the link
    creator         LowCardinality(String),
    editor          LowCardinality(String),
    source          LowCardinality(String), -- of its creation: single, batch
    targets         Map(LowCardinality(String), String), -- device: URL; others get `url`
    -- The registrable domains of all these URLs, and the addresses that are their hosts.
    target_hosts    Array(LowCardinality(String)),
    -- The digests of `url` and of the targets' URLs, as clicks have them, for the URL's text.
    url_digests     Array(FixedString(16)),
    not_before      DateTime64(3, 'UTC'), -- 1970: valid at once
    max_visits      UInt64,               -- 0: any number
    -- The part of a visit's URL that is added to the link's URL.
    pass_query      LowCardinality(String) DEFAULT 'none',
    pass_path       Bool,
    epoch           UInt32,
    topic           LowCardinality(String),
    partition       UInt32,
    offset          UInt64,

    -- for queries by link_id alone, which the order does not serve
    INDEX by_link_id link_id TYPE bloom_filter(0.01) GRANULARITY 1,
    -- for a collector that takes a partition over
    INDEX by_offset offset TYPE minmax GRANULARITY 1,
    -- Words: sequences of 4 letters for the search by `q`; the expression is that of the
    -- query.
    INDEX by_words lowerUTF8(concat(url, '\n', description, '\n', code, '\n', owner, '\n',
        campaign, '\n', arrayStringConcat(tags, '\n')))
        TYPE ngrambf_v1(4, 24576, 2, 7) GRANULARITY 1,
    INDEX by_tag tags TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_owner owner TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_campaign campaign TYPE bloom_filter(0.01) GRANULARITY 1,
    INDEX by_account account TYPE bloom_filter(0.01) GRANULARITY 1,
    -- Whole URLs: by_words has the pieces of a URL, but also those of most others.
    INDEX by_url url TYPE bloom_filter(0.01) GRANULARITY 1,
    -- A hundred digests at once should pass few granules wrongly.
    INDEX by_url_digest url_digests TYPE bloom_filter(0.0001) GRANULARITY 1,
    INDEX by_target_host target_hosts TYPE bloom_filter(0.01) GRANULARITY 1,

    -- The newest links that match a common filter are found without reading the others, and
    -- those of a page are adjacent.  The projection has all columns of an answer; otherwise
    -- it would not be used.
    PROJECTION by_creation
    (
        SELECT code, link_id, version, space, generation, state, ttl_class,
               created_at, changed_at, expires_at, url, redirect_status, owner,
               campaign, tags, domain, description, account, creator, editor,
               targets, not_before, max_visits, pass_query, pass_path
        ORDER BY created_at, link_id
    ),
    -- Codes of the most clicked links: by_link_id passes one of 100 granules too many for
    -- each link, and so nearly all for a page of them.
    PROJECTION by_link
    (
        SELECT link_id, code
        ORDER BY link_id
    ),
    -- An owner's links are adjacent; it has the columns of those filters without an index,
    -- otherwise it would not be used for them.
    PROJECTION by_owner_and_creation
    (
        SELECT account, owner, created_at, link_id, code, state, domain, expires_at
        ORDER BY account, owner, created_at, link_id
    ),
    -- The next links to end are adjacent, and those that never end.
    PROJECTION by_end
    (
        SELECT expires_at, link_id, state
        ORDER BY expires_at, link_id
    )
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (code, link_id)
-- A page of lists reads a hundred links here and there: a compressed block for each column of
-- each, so blocks are small, too.
SETTINGS index_granularity = 1024,
         min_compress_block_size = 8192,
         max_compress_block_size = 65536,
         non_replicated_deduplication_window = 10000,
         deduplicate_merge_projection_mode = 'rebuild';
